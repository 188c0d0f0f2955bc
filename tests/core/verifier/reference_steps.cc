#include "tests/core/verifier/reference_steps.h"

namespace hycoll::testing {

const Step& step_of(const Schedule& schedule, StepId id) {
  return schedule.strands.at(static_cast<std::size_t>(id.strand))
      .steps.at(static_cast<std::size_t>(id.step));
}

std::vector<StepId> all_steps(const Schedule& schedule) {
  std::vector<StepId> steps;
  for (int strand = 0; strand < static_cast<int>(schedule.strands.size()); ++strand) {
    const auto& list = schedule.strands[static_cast<std::size_t>(strand)].steps;
    for (int i = 0; i < static_cast<int>(list.size()); ++i) steps.push_back({strand, i});
  }
  return steps;
}

int worker_of(const Schedule& schedule, StepId id) {
  return schedule.strands[static_cast<std::size_t>(id.strand)].worker;
}

int node_of(const Schedule& schedule, StepId id) {
  return schedule.shape.node_of_worker(worker_of(schedule, id));
}

bool is_lines(const Schedule& schedule, const Span& span) {
  return schedule.buffers[static_cast<std::size_t>(span.buffer)].role == BufferRole::lines;
}

bool is_stream(const Schedule& schedule, const Span& span) {
  return schedule.buffers[static_cast<std::size_t>(span.buffer)].role == BufferRole::stream;
}

const Span& any_span(const Schedule& schedule, const Step& step) {
  return schedule.spans[static_cast<std::size_t>(step.first_span)];
}

StepId signal_of(const Schedule& schedule, const Step& wait) {
  for (const StepId id : all_steps(schedule)) {
    const Step& step = step_of(schedule, id);
    if (step.kind == StepKind::signal && step.flag == wait.flag && step.value == wait.value) {
      return id;
    }
  }
  return {-1, -1};
}

std::set<StepId> awaited_writers_of(const Schedule& schedule, const Step& reader) {
  std::set<StepId> writers;
  for (const Span& read : schedule.sources(reader)) {
    if (!is_lines(schedule, read) && !is_stream(schedule, read)) continue;
    for (int chunk = read.first_chunk; chunk < read.first_chunk + read.chunk_count; ++chunk) {
      StepId writer = {-1, -1};
      for (const StepId id : all_steps(schedule)) {
        for (const Span& written : schedule.destinations(step_of(schedule, id))) {
          if (written.buffer == read.buffer && chunk >= written.first_chunk &&
              chunk < written.first_chunk + written.chunk_count) {
            writer = id;
          }
        }
      }
      writers.insert(writer);
    }
  }
  return writers;
}

}  // namespace hycoll::testing
