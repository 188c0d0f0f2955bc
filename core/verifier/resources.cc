#include <algorithm>

#include "core/schedule/cells.h"
#include "core/verifier/checks.h"

namespace hycoll::verifier {
namespace {

/// The most asynchronous steps of a strand that may be under way at once.
std::size_t in_flight(const Schedule& schedule, const Strand& strand, std::vector<bool>& is_over) {
  is_over.assign(strand.steps.size(), false);
  std::size_t under_way = 0;
  std::size_t most = 0;
  for (const Step& step : strand.steps) {
    for (const int dependency : schedule.dependencies_of(step)) {
      if (is_over[static_cast<std::size_t>(dependency)]) continue;
      is_over[static_cast<std::size_t>(dependency)] = true;
      --under_way;
    }
    if (is_asynchronous(step.kind)) most = std::max(most, ++under_way);
  }
  return most;
}

}  // namespace

Resources measure_resources(const Index& index) {
  const Schedule& schedule = index.schedule;
  const auto node_count = static_cast<std::size_t>(schedule.shape.node_count());
  std::vector<std::size_t> memory(node_count, 0);
  std::vector<std::size_t> messages(node_count, 0);
  std::vector<std::size_t> sent(node_count, 0);
  const std::vector<int> sizes = place_sizes(schedule);
  for (std::size_t id = 0; id < schedule.buffers.size(); ++id) {
    const Buffer& buffer = schedule.buffers[id];
    if (is_of_member(buffer.role) || lies_over_another(buffer, id)) continue;
    memory[static_cast<std::size_t>(index.buffer_node[id])] += static_cast<std::size_t>(sizes[id]);
  }
  Resources resources;
  std::vector<bool> is_over;
  for (std::size_t strand = 0; strand < schedule.strands.size(); ++strand) {
    const auto node = static_cast<std::size_t>(index.strand_node[strand]);
    for (const Step& step : schedule.strands[strand].steps) {
      if (step.kind != StepKind::send) continue;
      ++messages[node];
      sent[node] += static_cast<std::size_t>(schedule.sources(step).front().chunk_count);
    }
    resources.strand_in_flight = std::max(resources.strand_in_flight,
                                          in_flight(schedule, schedule.strands[strand], is_over));
  }
  for (const std::size_t count : messages) resources.message_count += count;
  resources.node_message_count = *std::ranges::max_element(messages);
  resources.node_sent_chunk_count = *std::ranges::max_element(sent);
  resources.node_memory_chunk_count = *std::ranges::max_element(memory);
  resources.node_memory_vectors = static_cast<double>(resources.node_memory_chunk_count) /
                                  static_cast<double>(vector_chunk_count(schedule));
  return resources;
}

}  // namespace hycoll::verifier
