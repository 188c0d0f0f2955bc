// DPML: data-partitioned multi-leader allreduce.
//
// Idea: the vector is cut into L partitions, one per lane. The leader of a lane reduces its
// partition over the members of its node, combines it with the leaders of the same lane on the
// other nodes, and hands the result back to the members; all lanes at once. The paper's leaders are
// processes, so members first copy into shared memory and last copy out of it. Here leaders see
// their members' buffers: the first phase is a signal, and on a single node one reduce reads every
// input and writes every output, passing over memory once.
//
// Source: M. Bayatpour et al., Scalable Reduction Collectives with Data Partitioning-based
// Multi-Leader Design, SC'17,
// section 4.1 (the four phases) and equations 2 to 7. The phases themselves: multi_leader.h.
// Phases: 1 arrive (a signal instead of the copy); 2 reduce over the M members of a node: (M - 1) n
// / L by each leader; 3 exchange of n / L by each leader; 4 publish: leaders copy to all members
// when there are as many lanes as members, otherwise members copy from the leader (the direct
// broadcast of the paper).
// Serves: any shape with direct visibility: unequal nodes, nodes with fewer workers than lanes (a
// worker then drives several lanes, a strand each), members fewer than workers. One lane: the
// classical single leader. One member per node and one lane: the flat exchange.
//
// Example, 2 nodes of 2 members, 2 lanes, ring: worker 0 of each node reduces the lower half of
// both members' inputs, exchanges it with worker 0 of the other node and copies the result into the
// other member's output; worker 1 does so with the upper half.

#include <utility>

#include "collectives/algorithms/allreduce/allreduce.h"
#include "collectives/algorithms/allreduce/multi_leader.h"
#include "core/base/errors.h"

namespace hycoll {

Schedule generate_dpml_allreduce(std::string name, const Shape& shape,
                                 const GeneratorParameters& parameters) {
  HYCOLL_ASSERT(shape.visibility() == Visibility::direct, "dpml reads its members' buffers");
  const int per_lane = parameters.exchange.chunks_per_lane(shape.node_count(), parameters.segments);
  ScheduleBuilder builder(Collective::allreduce, std::move(name), shape,
                          per_lane * shape.lane_count(), parameters.root, parameters.nodes);
  append_multi_leader(builder, parameters.exchange, cut_vector(shape.lane_count(), 1, 1, per_lane));
  return std::move(builder).finish();
}

}  // namespace hycoll
