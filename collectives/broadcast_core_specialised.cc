// Core specialisation over an aggregation tree: every core has one task.
//
// Idea: on the root's node one worker, the injector, does nothing but send segments into a tree of
// aggregators, which multicast them: each passes on what it receives to all of its other
// neighbours. On every other node one worker, the receiver, receives them into its own member's
// output and raises a message counter; the others follow the counter and copy from there, and the
// first of them makes a second copy in the same pass over memory: that of the injector. On the
// root's node all copy from the root's input.
//
// Source: A. Mamidala et al., Optimizing MPI Collectives Using Efficient Intra-node Communication
// Techniques over the Blue Gene/P Supercomputer, 2009, section 5.B. The collective network, whose
// links only cores could serve, is an aggregation tree here (exchange_aggregation_tree.cc). It
// delivers to the root's node too, which messages need not; and the injectors of the other nodes,
// who injected zeros there, are idle, as they are there but for that.
// Steps: from the root's host to the farthest one, at most 2 d for a tree of depth d, plus s - 1
// for s segments. Messages: H - 1 + A for each segment with H hosts and A aggregators in the tree.
// Sent: n by the root's node, none by the other hosts, f n by an aggregator of f children. Scratch:
// n at an aggregator, none at a host. Serves: shapes with two lanes, of which the injectors drive
// the first and the receivers the second, whose last nodes are aggregators of one worker. Where
// there are no others, the injector copies for itself; a single worker has all tasks.
//
// Example, 2 hosts of 4 members and an aggregator, root 0: worker 0 sends its input to node 2,
// which sends it to worker 1 of the second host. There member 5 receives, 6 copies to 6 and 4, and
// 7 copies.

#include <utility>
#include <vector>

#include "collectives/aggregation.h"
#include "collectives/broadcast.h"
#include "collectives/node_phases.h"
#include "core/errors.h"

namespace hycoll {
namespace {

constexpr int kInjection = 0;
constexpr int kReception = 1;
constexpr int kNobody = -1;

/// The workers of one host.
class SpecialisedHost {
 public:
  SpecialisedHost(ScheduleBuilder& builder, int node)
      : builder_(builder),
        phases_(builder, node),
        is_root_(node == builder.shape().node_of_member(builder.root())),
        place_(broadcast_place(builder, node, kReception)) {
    for (int member = phases_.first_member(); member <= phases_.last_member(); ++member) {
      strands_.push_back(builder.add_strand(builder.shape().worker_of_member(member)));
      done_.push_back(builder.add_flag(strands_.back()));
    }
  }

  /// The injector's or the receiver's task. Without a network only the root's arrival is announced.
  void append_network(int aggregator) {
    const int lane = lane_of_place();
    phases_.await_member(lane, place_.member);
    if (is_root_) phases_.announce(lane);
    for (int segment = 0; aggregator != kNobody && segment < builder_.chunk_count(); ++segment) {
      const Span span = span_of(place_.buffer, {segment, 1});
      if (is_root_) {
        builder_.send(phases_.leader(lane), lane, aggregator, span);
      } else {
        builder_.recv(phases_.leader(lane), lane, aggregator, span);
        phases_.announce(lane);
      }
    }
    if (is_root_) phases_.announce(lane);
  }

  /// The others' tasks.
  void append_copies() {
    const int injecting = member_of(kInjection);
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

  /// Members say that they are done, and leave when all are.
  void append_end() {
    for (std::size_t m = 0; m < strands_.size(); ++m) builder_.signal(strands_[m], done_[m]);
    for (std::size_t m = 0; m < strands_.size(); ++m) {
      for (std::size_t other = 0; other < strands_.size(); ++other) {
        if (other != m) builder_.wait(strands_[m], done_[other]);
      }
    }
  }

 private:
  int lane_of_place() const { return is_root_ ? kInjection : kReception; }
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

  /// Who makes the copy of the injector's member: the first with no task in the network.
  int helper_of(int injecting) const {
    if (injecting == kNobody || injecting == place_.member) return kNobody;
    for (int member = phases_.first_member(); member <= phases_.last_member(); ++member) {
      if (member == place_.member || leads(member, kInjection) || leads(member, kReception)) {
        continue;
      }
      return member;
    }
    return kNobody;
  }

  /// Whoever owns the place leaves only when the network is done with it.
  void await_network(StrandId strand) {
    const int lane = lane_of_place();
    if (leads(place_.member, lane)) return;
    phases_.await_lane(strand, lane, is_root_ ? 2 : builder_.chunk_count());
  }

  void append_copy(int member, int other) {
    const StrandId strand = strand_of(member);
    const int steps = is_root_ ? 1 : builder_.chunk_count();
    for (int step = 0; step < steps; ++step) {
      const ChunkRange chunks = is_root_ ? builder_.all_chunks() : ChunkRange{step, 1};
      phases_.await_lane(strand, lane_of_place(), step + 1);
      std::vector<Span> outputs{span_of(builder_.output(member), chunks)};
      if (other != kNobody) outputs.push_back(span_of(builder_.output(other), chunks));
      builder_.copy(strand, outputs, span_of(place_.buffer, chunks));
    }
  }

  ScheduleBuilder& builder_;
  NodePhases phases_;
  bool is_root_;
  BroadcastPlace place_;
  std::vector<StrandId> strands_;  // per member
  std::vector<FlagId> done_;       // per member
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

}  // namespace

bool serves_core_specialised_broadcast(const Shape& shape) {
  for (int node = 0; node < shape.node_count(); ++node) {
    if (shape.node(node).members == 0 && shape.node(node).workers > 1) return false;
  }
  return shape.lane_count() == 2 && has_aggregators_last(shape);
}

Schedule generate_core_specialised_broadcast(std::string name, const Shape& shape,
                                             const GeneratorParameters& parameters) {
  HYCOLL_ASSERT(serves_core_specialised_broadcast(shape), "two lanes and aggregators");
  ScheduleBuilder builder(Collective::broadcast, std::move(name), shape, parameters.segments,
                          parameters.root);
  const AggregationTree tree = aggregation_tree(shape);
  const bool is_alone = tree.host_parents.size() == 1;
  std::vector<SpecialisedHost> hosts;
  for (std::size_t host = 0; host < tree.host_parents.size(); ++host) {
    hosts.emplace_back(builder, static_cast<int>(host));
  }
  for (std::size_t host = 0; host < hosts.size(); ++host) {
    hosts[host].append_network(is_alone ? kNobody : tree.host_parents[host]);
    hosts[host].append_copies();
    hosts[host].append_end();
  }
  if (!is_alone) append_tree(builder, tree);
  return std::move(builder).finish();
}

}  // namespace hycoll
