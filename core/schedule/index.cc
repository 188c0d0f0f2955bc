#include "core/schedule/index.h"

#include <algorithm>

namespace hycoll::verifier {

Index::Index(const Schedule& indexed) : schedule(indexed) {
  index_strands();
  index_buffers();
  index_signals();
  index_awaited();
}

void Index::index_strands() {
  first_step.reserve(schedule.strands.size() + 1);
  strand_node.reserve(schedule.strands.size());
  place.reserve(schedule.step_count());
  first_step.push_back(0);
  for (std::size_t strand = 0; strand < schedule.strands.size(); ++strand) {
    strand_node.push_back(schedule.shape.node_of_worker(schedule.strands[strand].worker));
    const int count = static_cast<int>(schedule.strands[strand].steps.size());
    for (int step = 0; step < count; ++step) place.push_back({static_cast<int>(strand), step});
    first_step.push_back(first_step.back() + count);
  }
}

void Index::index_buffers() {
  first_cell.reserve(schedule.buffers.size() + 1);
  first_cell.push_back(0);
  buffer_node.reserve(schedule.buffers.size());
  for (const Buffer& buffer : schedule.buffers) {
    buffer_node.push_back(node_of_buffer(schedule.shape, buffer));
    const int cells = carries_signals(buffer.role) ? buffer.chunk_count : 0;
    first_cell.push_back(first_cell.back() + cells);
  }
}

void Index::index_signals() {
  first_signal.assign(schedule.flags.size() + 1, 0);
  for (const Strand& strand : schedule.strands) {
    for (const Step& signal : strand.steps) {
      if (signal.kind == StepKind::signal)
        ++first_signal[static_cast<std::size_t>(signal.flag) + 1];
    }
  }
  for (std::size_t flag = 1; flag < first_signal.size(); ++flag) {
    first_signal[flag] += first_signal[flag - 1];
  }
  signal_step.assign(static_cast<std::size_t>(first_signal.back()), -1);
  for (int id = 0; id < step_count(); ++id) {
    const Step& signal = step(id);
    if (signal.kind != StepKind::signal) continue;
    const int first = first_signal[static_cast<std::size_t>(signal.flag)];
    signal_step[static_cast<std::size_t>(first + signal.value - 1)] = id;
  }
}

void Index::index_awaited() {
  awaited_writer.assign(static_cast<std::size_t>(cell_count()), -1);
  for (int id = 0; id < step_count(); ++id) {
    for (const Span& span : schedule.destinations(step(id))) {
      if (!is_awaited(span)) continue;
      const auto first = awaited_writer.begin() + cell(span);
      std::fill(first, first + span.chunk_count, id);
    }
  }
}

int node_of_buffer(const Shape& shape, const Buffer& buffer) {
  switch (buffer.role) {
    case BufferRole::input:
    case BufferRole::output:
      return shape.node_of_member(buffer.owner);
    case BufferRole::staging:
      return buffer.owner;
    case BufferRole::scratch:
    case BufferRole::lines:
    case BufferRole::stream:
      return shape.node_of_worker(buffer.owner);
  }
  return -1;
}

}  // namespace hycoll::verifier
