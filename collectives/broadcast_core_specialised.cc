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
// links only cores could serve, is an aggregation tree here (exchange_aggregation_tree.cc). It
// delivers to the root's node too, which messages need not; and the injectors of the other nodes,
// who injected zeros there, are idle, as they are there but for that.
// Steps: from the root's host to the farthest one, at most 2 d for a tree of depth d, without
// aggregators d, plus s - 1 for s segments. Messages: H - 1 + A for each segment with H hosts and A
// aggregators in the tree. Sent: n by the root's node, none by the other hosts, f n by an
// aggregator of f children; without aggregators at most 2 n by any host. Scratch: n at an
// aggregator, none at a host. Serves: shapes with two lanes, whose last nodes may be aggregators of
// one worker. The injectors drive the first lane and the receivers the second; without aggregators
// the other way round on every second level of the tree, for a message stays on its lane. Where
// there are no others, the injector copies for itself; a single worker has all tasks.
//
// Example, 2 hosts of 4 members and an aggregator, root 0: worker 0 sends its input to node 2,
// which sends it to worker 1 of the second host. There member 5 receives, 6 copies to 6 and 4, and
// 7 copies. Without the aggregator worker 0 sends to worker 4 of the second host. Member 4
// receives, 6 copies to 6 and 5, and 7 copies.

#include <bit>
#include <optional>
#include <utility>
#include <vector>

#include "collectives/aggregation.h"
#include "collectives/broadcast.h"
#include "collectives/node_phases.h"
#include "core/errors.h"

namespace hycoll {
namespace {

constexpr int kNobody = -1;
/// Of aggregators' neighbours, and of the root.
constexpr int kInjection = 0;
constexpr int kReception = 1;

/// Where a host stands in the tree.
struct HostPlace {
  int injection = kInjection;  ///< The lanes.
  int reception = kReception;
  int parent = kNobody;   ///< A node; nobody's for the root, and where there is a single host.
  std::vector<int> to{};  ///< The nodes that it sends to.
};

/// The workers of one host.
class SpecialisedHost {
 public:
  SpecialisedHost(ScheduleBuilder& builder, int node, HostPlace tree)
      : builder_(builder),
        phases_(builder, node),
        tree_(std::move(tree)),
        is_root_(node == builder.shape().node_of_member(builder.root())),
        place_(broadcast_place(builder, node, tree_.reception)) {
    for (int member = phases_.first_member(); member <= phases_.last_member(); ++member) {
      strands_.push_back(builder.add_strand(builder.shape().worker_of_member(member)));
      copies_.push_back(false);
    }
  }

  /// The tasks of the receiver, who announces every segment, and of the injector, who announces
  /// that all is sent.
  void append_network() {
    if (!is_root_) append_reception();
    if (tree_.to.empty()) return;
    const StrandId injector = phases_.leader(tree_.injection);
    if (is_root_) phases_.await_member(tree_.injection, place_.member);
    for (int s = 0; s < builder_.chunk_count(); ++s) {
      if (!is_root_) phases_.await_lane(injector, tree_.reception, s + 1);
      for (const int node : tree_.to) builder_.send(injector, tree_.injection, node, segment(s));
    }
    if (!leads(place_.member, tree_.injection)) phases_.announce(tree_.injection);
  }

  /// The others' tasks.
  void append_copies() {
    const int injecting = member_of(tree_.injection);
    const int helper = helper_of(injecting);
    for (int member = phases_.first_member(); member <= phases_.last_member(); ++member) {
      const StrandId strand = strand_of(member);
      if (member == place_.member) {
        await_network(strand);
      } else if (member != injecting || helper == kNobody) {
        if (member == helper) phases_.await_member_as(strand, injecting);
        append_copy(member, member == helper ? injecting : kNobody);
      }
    }
  }

  /// Members who copy say that they are done, and all leave when these are. Of those who do not,
  /// they know that they have entered.
  void append_end() {
    std::vector<FlagId> done(strands_.size(), -1);
    for (std::size_t m = 0; m < strands_.size(); ++m) {
      if (!copies_[m]) continue;
      done[m] = builder_.add_flag(strands_[m]);
      builder_.signal(strands_[m], done[m]);
    }
    for (std::size_t m = 0; m < strands_.size(); ++m) {
      for (std::size_t other = 0; other < strands_.size(); ++other) {
        if (other != m && copies_[other]) builder_.wait(strands_[m], done[other]);
      }
    }
  }

 private:
  Span segment(int s) const { return span_of(place_.buffer, {s, 1}); }
  StrandId strand_of(int member) const {
    return strands_[static_cast<std::size_t>(member - phases_.first_member())];
  }
  bool leads(int member, int lane) const {
    const Shape& shape = builder_.shape();
    return shape.worker_of_member(member) == shape.leader(phases_.node(), lane);
  }
  int member_of(int lane) const {
    for (int member = phases_.first_member(); member <= phases_.last_member(); ++member) {
      if (leads(member, lane)) return member;
    }
    return kNobody;
  }

  void append_reception() {
    const StrandId receiver = phases_.leader(tree_.reception);
    phases_.await_member(tree_.reception, place_.member);
    for (int s = 0; s < builder_.chunk_count(); ++s) {
      builder_.recv(receiver, tree_.reception, tree_.parent, segment(s));
    }
    for (int s = 0; s < builder_.chunk_count(); ++s) phases_.announce(tree_.reception, segment(s));
  }

  /// Who makes the copy of the injector's member: the first with no task in the network.
  int helper_of(int injecting) const {
    if (injecting == kNobody || injecting == place_.member) return kNobody;
    for (int member = phases_.first_member(); member <= phases_.last_member(); ++member) {
      if (member == place_.member || leads(member, tree_.injection) ||
          leads(member, tree_.reception)) {
        continue;
      }
      return member;
    }
    return kNobody;
  }

  /// Whoever owns the place leaves only when the network is done with it.
  void await_network(StrandId strand) {
    const bool sends = !tree_.to.empty();
    const int last_lane = sends ? tree_.injection : tree_.reception;
    if ((is_root_ && !sends) || leads(place_.member, last_lane)) return;
    phases_.await_lane(strand, last_lane, sends ? 1 : builder_.chunk_count());
  }

  void append_copy(int member, int other) {
    const StrandId strand = strand_of(member);
    copies_[static_cast<std::size_t>(member - phases_.first_member())] = true;
    if (is_root_) phases_.await_member_as(strand, place_.member);
    const int steps = is_root_ ? 1 : builder_.chunk_count();
    for (int step = 0; step < steps; ++step) {
      const ChunkRange chunks = is_root_ ? builder_.all_chunks() : ChunkRange{step, 1};
      if (!is_root_) phases_.await_lane(strand, tree_.reception, step + 1);
      std::vector<Span> outputs{span_of(builder_.output(member), chunks)};
      if (other != kNobody) outputs.push_back(span_of(builder_.output(other), chunks));
      builder_.copy(strand, outputs, span_of(place_.buffer, chunks));
    }
  }

  ScheduleBuilder& builder_;
  NodePhases phases_;
  HostPlace tree_;
  bool is_root_;
  BroadcastPlace place_;
  std::vector<StrandId> strands_;  // per member
  std::vector<bool> copies_;       // per member
};

/// An aggregator passes on what comes from the root's side to all of its other neighbours.
void append_multicast(ScheduleBuilder& builder, const AggregationTree::Vertex& vertex, int from,
                      int host_count) {
  const int worker = builder.shape().first_worker(vertex.node);
  const StrandId strand = builder.main_strand(worker);
  const BufferId buffer = builder.add_scratch(worker, builder.all_chunks());
  for (int segment = 0; segment < builder.chunk_count(); ++segment) {
    builder.recv(strand, kInjection, from, span_of(buffer, {segment, 1}));
  }
  std::vector<int> neighbours = vertex.children;
  if (vertex.parent >= 0) neighbours.insert(neighbours.begin(), vertex.parent);
  for (int segment = 0; segment < builder.chunk_count(); ++segment) {
    for (const int to : neighbours) {
      if (to == from) continue;
      const int lane = to < host_count ? kReception : kInjection;
      builder.send(strand, lane, to, span_of(buffer, {segment, 1}));
    }
  }
}

void append_tree(ScheduleBuilder& builder, const AggregationTree& tree) {
  const int host_count = static_cast<int>(tree.host_parents.size());
  int below = builder.shape().node_of_member(builder.root());
  int above = tree.host_parents[static_cast<std::size_t>(below)];
  for (const AggregationTree::Vertex& vertex : tree.vertices) {
    const bool is_above_root = vertex.node == above;
    append_multicast(builder, vertex, is_above_root ? below : vertex.parent, host_count);
    if (is_above_root) below = std::exchange(above, vertex.parent);
  }
}

/// The hosts below the aggregators.
std::vector<HostPlace> places_below(const AggregationTree& tree, int root_node) {
  std::vector<HostPlace> places(tree.host_parents.size());
  if (places.size() == 1) return places;
  for (std::size_t host = 0; host < places.size(); ++host) {
    const bool is_root = static_cast<int>(host) == root_node;
    (is_root ? places[host].to.emplace_back() : places[host].parent) = tree.host_parents[host];
  }
  return places;
}

/// The hosts as a binary tree; the root's is its root.
std::vector<HostPlace> binary_places(int host_count, int root_node) {
  std::vector<HostPlace> places(static_cast<std::size_t>(host_count));
  const auto node_of = [&](int number) { return (root_node + number) % host_count; };
  for (int number = 0; number < host_count; ++number) {
    HostPlace& place = places[static_cast<std::size_t>(node_of(number))];
    const bool is_odd_level = std::bit_width(static_cast<unsigned>(number + 1)) % 2 == 0;
    if (is_odd_level) std::swap(place.injection, place.reception);
    if (number > 0) place.parent = node_of((number - 1) / 2);
    for (const int child : {2 * number + 1, 2 * number + 2}) {
      if (child < host_count) place.to.push_back(node_of(child));
    }
  }
  return places;
}

}  // namespace

bool serves_core_specialised_broadcast(const Shape& shape) {
  for (int node = 0; node < shape.node_count(); ++node) {
    if (shape.node(node).members == 0 && shape.node(node).workers > 1) return false;
  }
  return shape.lane_count() == 2 && (has_aggregators_last(shape) || serves_any_shape(shape));
}

Schedule generate_core_specialised_broadcast(std::string name, const Shape& shape,
                                             const GeneratorParameters& parameters) {
  HYCOLL_ASSERT(serves_core_specialised_broadcast(shape), "two lanes, aggregators last");
  ScheduleBuilder builder(Collective::broadcast, std::move(name), shape, parameters.segments,
                          parameters.root);
  const int root_node = shape.node_of_member(parameters.root);
  std::optional<AggregationTree> tree;
  if (shape.has_aggregators()) tree = aggregation_tree(shape);
  std::vector<HostPlace> places =
      tree ? places_below(*tree, root_node) : binary_places(shape.node_count(), root_node);
  std::vector<SpecialisedHost> hosts;
  for (std::size_t host = 0; host < places.size(); ++host) {
    hosts.emplace_back(builder, static_cast<int>(host), std::move(places[host]));
  }
  for (SpecialisedHost& host : hosts) {
    host.append_network();
    host.append_copies();
    host.append_end();
  }
  if (tree && hosts.size() > 1) append_tree(builder, *tree);
  return std::move(builder).finish();
}

}  // namespace hycoll
