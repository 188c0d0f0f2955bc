#include "threading/program/abridgement.h"

#include <algorithm>
#include <climits>
#include <cstddef>
#include <iterator>
#include <map>
#include <ranges>
#include <span>
#include <utility>
#include <vector>

#include "core/base/errors.h"
#include "threading/program/schedule_binding.h"

namespace hycoll {
namespace {

class Abridgement {
 public:
  Abridgement(const Schedule& schedule, WorkerRange workers)
      : schedule_(schedule),
        workers_(workers),
        abridged_{.collective = schedule.collective,
                  .algorithm = schedule.algorithm,
                  .shape = schedule.shape,
                  .chunk_count = schedule.chunk_count,
                  .root = schedule.root,
                  .part = schedule.part,
                  .buffers = schedule.buffers,
                  .flags = schedule.flags,
                  .strands = {},
                  .spans = {},
                  .dependencies = {}},
        is_written_(schedule.buffers.size(), false) {}

  Schedule make() && {
    abridged_.strands.reserve(schedule_.strands.size());
    for (const Strand& strand : schedule_.strands) {
      strand_ = &abridged_.strands.emplace_back(Strand{strand.worker, {}});
      if (is_wanted(strand.worker)) {
        copy(strand);
      } else {
        abridge(strand);
      }
    }
    return std::move(abridged_);
  }

 private:
  bool is_wanted(int worker) const {
    const int index = worker - schedule_.part.workers.first;
    return index >= workers_.first && index - workers_.first < workers_.count;
  }

  std::span<const Span> spans_of(const Step& step) const {
    return std::span(schedule_.spans)
        .subspan(static_cast<std::size_t>(step.first_span),
                 static_cast<std::size_t>(step.destination_count + step.source_count));
  }

  void copy(const Strand& strand) {
    strand_->steps.reserve(strand.steps.size());
    for (const Step& step : strand.steps) {
      // What is kept of the others does not depend on whose steps are wanted.
      writes_staging_first(step);
      makes_output_first(step);
      add(step, schedule_.dependencies_of(step));
    }
  }

  void abridge(const Strand& strand) {
    const std::vector<Step>& steps = strand.steps;
    const auto end = static_cast<std::size_t>(std::distance(steps.begin(), end_of_waits(steps)));
    for (std::size_t s = 0; s < steps.size(); ++s) {
      const bool is_awaited_last = s >= end;
      const bool tells = is_telling(strand, s);
      if (is_awaited_last || tells) add(steps[s], {});
    }
    strand_->steps.shrink_to_fit();
  }

  /// Whether a strand ends in a wait for somebody's entry says whether its member may run ahead:
  /// its last wait, and what comes behind it, which may have nothing to do in a short vector.
  /// Returns where that begins; the end if another flag step comes behind it.
  static std::vector<Step>::const_iterator end_of_waits(const std::vector<Step>& steps) {
    const auto is_flag_step = [](const Step& step) {
      return step.kind == StepKind::signal || step.kind == StepKind::wait;
    };
    const auto last = std::find_if(steps.rbegin(), steps.rend(), is_flag_step);
    if (last == steps.rend() || last->kind == StepKind::signal) return steps.end();
    return std::prev(last.base());
  }

  bool is_telling(const Strand& strand, std::size_t s) {
    const Step& step = strand.steps[s];
    if (step.kind == StepKind::wait) return false;
    if (step.kind == StepKind::signal) return tells_of_entry(strand, s);
    const bool is_first = writes_staging_first(step);
    return touches_others(strand.worker, step) || is_first || makes_output_first(step);
  }

  /// A flag that is raised once, first of all, is not a flag (arrival_flags()); one that is raised
  /// again is.
  bool tells_of_entry(const Strand& strand, std::size_t s) {
    const Step& first = strand.steps.front();
    if (s == 0) return true;
    return first.kind == StepKind::signal && first.flag == strand.steps[s].flag &&
           strand.steps[s].value == 2;
  }

  /// Whose staging a buffer lies in (staging_workers()).
  bool writes_staging_first(const Step& step) {
    bool is_first = false;
    for (const Span& span : schedule_.destinations(step)) {
      const auto id = static_cast<std::size_t>(span.buffer);
      if (schedule_.buffers[id].role != BufferRole::staging || is_written_[id]) continue;
      is_written_[id] = true;
      is_first = true;
    }
    return is_first;
  }

  bool touches_others(int worker, const Step& step) const {
    return std::ranges::any_of(spans_of(step), [&](const Span& span) {
      const Buffer& buffer = schedule_.buffer_of(span);
      return is_of_member(buffer.role) && schedule_.shape.worker_of_member(buffer.owner) != worker;
    });
  }

  /// One instruction that makes outputs, which nobody reads before the call is over, tells of all.
  /// Of a vector's chunks the last are empty first; which blocks are empty nobody knows.
  bool makes_output_first(const Step& step) {
    const std::span<const Span> destinations = schedule_.destinations(step);
    const bool is_final = schedule_.shape.node_count() == 1 || step.kind == StepKind::copy;
    const bool makes_outputs = is_final && !destinations.empty() &&
                               std::ranges::all_of(destinations, [&](const Span& span) {
                                 return schedule_.buffer_of(span).role == BufferRole::output;
                               });
    if (!makes_outputs) return false;
    const int chunk = destinations.front().first_chunk;
    const bool is_known = chunk >= first_output_ && !has_blocks(schedule_.collective);
    first_output_ = std::min(first_output_, chunk);
    return !is_known;
  }

  void add(const Step& step, std::span<const int> dependencies) {
    Step& added = strand_->steps.emplace_back(step);
    added.first_span = static_cast<int>(abridged_.spans.size());
    const std::span<const Span> spans = spans_of(step);
    abridged_.spans.insert(abridged_.spans.end(), spans.begin(), spans.end());
    added.first_dependency = static_cast<int>(abridged_.dependencies.size());
    added.dependency_count = static_cast<int>(dependencies.size());
    abridged_.dependencies.insert(abridged_.dependencies.end(), dependencies.begin(),
                                  dependencies.end());
  }

  const Schedule& schedule_;
  WorkerRange workers_;
  Schedule abridged_;
  Strand* strand_ = nullptr;      // the one at hand
  std::vector<bool> is_written_;  // by staging buffer, in the order of the strands
  int first_output_ = INT_MAX;    // of outputs that the others make
};

}  // namespace

Schedule abridged_for(Schedule schedule, WorkerRange workers) {
  if (workers.first == 0 && workers.count >= schedule.part.workers.count) return schedule;
  HYCOLL_ASSERT(schedule.part.nodes.count == 1, "the workers are those of one node");
  Schedule abridged = Abridgement(schedule, workers).make();
  abridged.spans.shrink_to_fit();
  abridged.dependencies.shrink_to_fit();
  return abridged;
}

std::size_t most_abridged_bytes(const Schedule& part, const Processes& processes) {
  std::map<int, std::size_t> own_bytes;  // by process
  for (const Strand& strand : part.strands) {
    std::size_t& bytes = own_bytes[processes.of(strand.worker)];
    for (const Step& step : strand.steps) {
      const int span_count = step.destination_count + step.source_count;
      bytes += sizeof(Step) + static_cast<std::size_t>(span_count) * sizeof(Span) +
               static_cast<std::size_t>(step.dependency_count) * sizeof(int);
    }
  }
  return memory_bytes(abridged_for(part, {.first = 0, .count = 0})) +
         std::ranges::max(std::views::values(own_bytes));
}

}  // namespace hycoll
