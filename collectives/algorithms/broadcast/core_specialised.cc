// Core specialisation over a tree: every core has one task.
//
// Idea: on the root's node one worker, the injector, does nothing but send segments into a tree of
// aggregators, which multicast them: each passes on what it receives to all of its other
// neighbours. On every other node one worker, the receiver, receives them into its own member's
// output and raises a message counter; the others follow the counter and copy from there, and the
// first of them makes a second copy in the same pass over memory: that of the injector. On the
// root's node all copy from the root's input. Without aggregators the nodes are a binary tree
// themselves, whose injectors follow the counter, too, and send to the children.
//
// Source: A. Mamidala et al., Optimizing MPI Collectives Using Efficient Intra-node Communication
// Techniques over the Blue Gene/P Supercomputer, 2009, section 5.B. The collective network, whose
// links only cores could serve, is an aggregation tree here (parts/aggregation.cc). It delivers to
// the root's node too, which messages need not; and the injectors of the other nodes, who injected
// zeros there, are idle, as they are there but for that.
// Steps: from the root's host to the farthest one, at most 2 d for a tree of depth d, without
// aggregators d, plus s - 1 for s segments.
// Messages: H - 1 + A for each segment with H hosts and A aggregators in the tree.
// Sent: n by the root's node, none by the other hosts, f n by an aggregator of f children; without
// aggregators at most 2 n by any host.
// Scratch: n at an aggregator, none at a host.
// Serves: shapes with two lanes, whose last nodes may be aggregators of one worker. The injectors
// drive the first lane and the receivers the second; without aggregators the other way round on
// every second level of the tree, for a message stays on its lane. Where there are no others, the
// injector copies for itself; a single worker has all tasks.
//
// Example, 2 hosts of 4 members and an aggregator, root 0: worker 0 sends its input to node 2,
// which sends it to worker 1 of the second host. There member 5 receives, 6 copies to 6 and 4, and
// 7 copies. Without the aggregator worker 0 sends to worker 4 of the second host. Member 4
// receives, 6 copies to 6 and 5, and 7 copies.

#include <bit>
#include <optional>
#include <utility>
#include <vector>

#include "collectives/algorithms/broadcast/broadcast.h"
#include "collectives/algorithms/broadcast/specialised_host.h"
#include "collectives/algorithms/building_blocks/aggregation.h"
#include "core/base/errors.h"

namespace hycoll {
namespace {

/// The lanes of aggregators' neighbours, and of the root.
constexpr int kInjection = 0;
constexpr int kReception = 1;

/// An aggregator passes on what comes from the root's side to all of its other neighbours.
void append_multicast(ScheduleBuilder& builder, const AggregationTree& tree, int node, int from) {
  const int worker = builder.shape().first_worker(node);
  const StrandId strand = builder.main_strand(worker);
  const BufferId buffer = builder.add_scratch(worker, builder.all_chunks());
  for (int segment = 0; segment < builder.chunk_count(); ++segment) {
    builder.recv(strand, kInjection, from, span_of(buffer, {segment, 1}));
  }
  std::vector<int> neighbours = tree.children(node);
  const int parent = tree.parent(node);
  if (parent >= 0) neighbours.insert(neighbours.begin(), parent);
  for (int segment = 0; segment < builder.chunk_count(); ++segment) {
    for (const int to : neighbours) {
      if (to == from) continue;
      const int lane = tree.is_host(to) ? kReception : kInjection;
      builder.send(strand, lane, to, span_of(buffer, {segment, 1}));
    }
  }
}

/// What an aggregator does; nothing if it is not used.
void append_aggregator(ScheduleBuilder& builder, const AggregationTree& tree, int node) {
  if (!tree.is_used(node)) return;
  int below = builder.shape().node_of_member(builder.root());
  int above = tree.parent(below);
  while (above >= 0 && above != node) below = std::exchange(above, tree.parent(above));
  append_multicast(builder, tree, node, above == node ? below : tree.parent(node));
}

/// A host below the aggregators.
SpecialisedPlace place_below(const AggregationTree& tree, int host, int root_node) {
  SpecialisedPlace place{.injection = kInjection, .reception = kReception};
  if (tree.host_count() == 1) return place;
  const int parent = tree.parent(host);
  if (host == root_node) {
    place.to = {parent};
  } else {
    place.parent = parent;
  }
  return place;
}

/// A host of a binary tree, whose root is the root's.
SpecialisedPlace binary_place(int host_count, int host, int root_node) {
  SpecialisedPlace place{.injection = kInjection, .reception = kReception};
  const auto node_of = [&](int number) { return (root_node + number) % host_count; };
  const int number = (host + host_count - root_node) % host_count;
  const bool is_odd_level = std::bit_width(static_cast<unsigned>(number + 1)) % 2 == 0;
  if (is_odd_level) std::swap(place.injection, place.reception);
  if (number > 0) place.parent = node_of((number - 1) / 2);
  for (const int child : {2 * number + 1, 2 * number + 2}) {
    if (child < host_count) place.to.push_back(node_of(child));
  }
  return place;
}

}  // namespace

bool serves_core_specialised_broadcast(const Shape& shape) {
  for (const int node : shape.first_nodes()) {
    if (shape.node(node).members == 0 && shape.node(node).workers > 1) return false;
  }
  return shape.lane_count() == 2 && (has_aggregators_last(shape) || serves_any_shape(shape));
}

Schedule generate_core_specialised_broadcast(std::string name, const Shape& shape,
                                             const GeneratorParameters& parameters) {
  HYCOLL_ASSERT(serves_core_specialised_broadcast(shape), "two lanes, aggregators last");
  ScheduleBuilder builder(Collective::broadcast, std::move(name), shape, parameters.segments,
                          parameters.root, parameters.nodes);
  const int root_node = shape.node_of_member(parameters.root);
  std::optional<AggregationTree> tree;
  if (shape.has_aggregators()) tree.emplace(shape);
  const int hosts = tree ? tree->host_count() : shape.node_count();
  for (const int node : builder.nodes()) {
    if (node >= hosts) {
      if (hosts > 1) append_aggregator(builder, *tree, node);
      continue;
    }
    SpecialisedHost host(builder, node,
                         tree ? place_below(*tree, node, root_node)
                              : binary_place(shape.node_count(), node, root_node));
    host.append_network();
    host.append_copies();
    host.append_end();
  }
  return std::move(builder).finish();
}

}  // namespace hycoll
