// Node leaders with an aggregation tree: one leader per node, reductions in the network.
//
// Idea: the leader of each node reduces its members' inputs and sends the sum to an aggregator; the
// aggregators' tree combines the nodes' sums and returns the result, which the leader publishes. A
// leader sends and receives each element once and reduces nothing that comes from other nodes. The
// vector is cut into segments, so that the levels of the tree work at once.
//
// Source: M. Bayatpour et al. (DPML), SC'17, section 4.3, node-level leader design: SHArP offers
// few concurrent operations, so only one leader per node uses it. The tree: parts/aggregation.cc;
// the phases on a node: DPML's with one lane (dpml.cc), pipelined like dpml_pipelined.cc.
// Steps: 2 d messages, d the depth of the tree.
// Sent: n by every node.
// Scratch: none at a node, 2 n at an aggregator.
// Serves: shapes with one lane whose last nodes are aggregators. Operands stand in rank order.
//
// Example, 2 nodes of 2 members and 1 aggregator: worker 0 of each node reduces both inputs and
// sends the sum to node 2, which adds the second to the first and returns the result to both; the
// other member of each node copies it.

#include <utility>

#include "collectives/algorithms/allreduce/allreduce.h"
#include "collectives/algorithms/allreduce/multi_leader.h"

namespace hycoll {

Schedule generate_node_leader_allreduce(std::string name, const Shape& shape,
                                        const GeneratorParameters& parameters) {
  const int parts = parameters.segments;
  ScheduleBuilder builder(Collective::allreduce, std::move(name), shape, parts, parameters.root,
                          parameters.nodes);
  append_multi_leader(builder, parameters.exchange,
                      cut_vector(1, parts, tracks_per_lane(shape, parts), 1));
  return std::move(builder).finish();
}

}  // namespace hycoll
