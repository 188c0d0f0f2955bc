#include "collectives/node/node_distance.h"

#include <algorithm>
#include <vector>

#include "threading/memory/handoff.h"

namespace hycoll {

double measure_half_a_node_apart(NodeMemory& memory, std::span<const int> first_workers, int party,
                                 const MeasurementTime& time) {
  // Neighbours in rank order tend to be neighbours on the machine: half a node apart is far.
  const int pairs = static_cast<int>(first_workers.size()) / 2;
  if (party >= 2 * pairs) return 0;
  const auto side = party < pairs ? HandoffSide::first : HandoffSide::second;
  const int owner = first_workers[static_cast<std::size_t>(party % pairs)];
  const std::vector<double> batches =
      measure_handoff(memory.handoff_ball(owner), side, time.rounds, time.patience);
  return batches.empty() ? 0 : *std::min_element(batches.begin(), batches.end());
}

}  // namespace hycoll
