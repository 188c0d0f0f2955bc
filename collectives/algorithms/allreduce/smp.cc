// SMP-binomial and SMP-butterfly: allreduce in levels, a binomial tree inside each node.
//
// Idea: first the members of a node reduce to its first one by a binomial tree, then one leader per
// node exchanges with those of the others, and last every member copies the result. Between the
// nodes there is one message at a time, so nodes whose members share a network interface do not
// get into each other's way.
//
// Source: P. Patarasuk, X. Yuan, Bandwidth Optimal All-reduce Algorithms for Clusters of
// Workstations, 2009, section 5, which compares the ring with both. smp-binomial: binomial trees
// between the nodes (binomial.cc). smp-butterfly: reduce-scatter by recursive halving and
// allgather by recursive doubling instead (halving_doubling.cc). The paper's members are
// processes with messages between them; here a member reads what another one has reduced. The
// paper leaves the last phase open; all members copy at once, for memory can be read by many.
//
// Steps: ceil(log2 M) reductions of n in the node, where a single leader has M - 1; the exchange;
// one copy.
// Sent: as the exchange says.
// Reductions: (M - 1) n by all members of a node together.
// Serves: shapes with one lane. Operands stand in rank order, as a member only ever reduces its
// right neighbours' range behind its own.
//
// Example, 1 node of 3 members with the values a, b, c: member 0 reads b and holds ab; then it
// reads c and holds abc; members 1 and 2 copy.

#include <utility>
#include <vector>

#include "collectives/algorithms/allreduce/allreduce.h"
#include "collectives/algorithms/allreduce/exchange.h"
#include "collectives/algorithms/building_blocks/members.h"
#include "collectives/algorithms/building_blocks/trees.h"
#include "core/base/at.h"
#include "core/base/errors.h"

namespace hycoll {
namespace {

/// The members of one node.
class SmpNode {
 public:
  SmpNode(ScheduleBuilder& builder, int node)
      : builder_(builder),
        members_(Members::of_node(builder, node)),
        leader_(builder.main_strand(builder.shape().leader(node, 0))),
        published_(builder.add_flag(leader_)),
        reduced_(members_.add_flags()),
        copied_(members_.add_flags()) {}

  StrandId leader() const { return leader_; }
  BufferId result() const { return builder_.output(members_.first()); }

  /// Returns where the node's sum lies.
  BufferId append_reduction() {
    for (int i = 0; i < members_.count(); ++i) held_.push_back(builder_.input(member(i)));
    for (int i = members_.count() - 1; i >= 0; --i) reduce_children(i);
    if (leader_ != strand(0)) await_sum(leader_, 0);
    return held_[0];
  }

  /// The leader announces the result, the others copy it. Nobody leaves before all have entered,
  /// for the result contains them; the first member stays until all have copied.
  void append_broadcast() {
    builder_.signal(leader_, published_);
    for (int i = 0; i < members_.count(); ++i) {
      if (strand(i) != leader_) builder_.wait(strand(i), published_);
      if (i == 0) continue;
      builder_.copy(strand(i), all(builder_.output(member(i))), all(result()));
      builder_.signal(strand(i), copied_[at(i)]);
    }
    for (int i = 1; i < members_.count(); ++i) builder_.wait(strand(0), copied_[at(i)]);
  }

 private:
  int member(int i) const { return members_.first() + i; }
  StrandId strand(int i) const { return members_.strand(member(i)); }
  Span all(BufferId buffer) const { return span_of(buffer, builder_.all_chunks()); }

  /// One member's place in the binomial tree; its children's are appended already.
  void reduce_children(int i) {
    const TreePlace place = place_in_binomial_tree(i, members_.count());
    const BufferId output = builder_.output(member(i));
    for (auto child = place.children.rbegin(); child != place.children.rend(); ++child) {
      await_sum(strand(i), *child);
      builder_.reduce(strand(i), {all(output)}, {all(held_[at(i)]), all(held_[at(*child)])});
      held_[at(i)] = output;
    }
    if (!place.children.empty()) builder_.signal(strand(i), reduced_[at(i)]);
  }

  /// A member that reduces nothing has only to be there.
  void await_sum(StrandId waiting, int i) {
    if (held_[at(i)] == builder_.input(member(i))) {
      members_.await(waiting, member(i));
    } else {
      builder_.wait(waiting, reduced_[at(i)]);
    }
  }

  ScheduleBuilder& builder_;
  Members members_;
  StrandId leader_;
  FlagId published_;
  std::vector<FlagId> reduced_;  // by index on the node, like those below
  std::vector<FlagId> copied_;
  std::vector<BufferId> held_;  // what each has reduced so far
};

}  // namespace

Schedule generate_smp_allreduce(std::string name, const Shape& shape,
                                const GeneratorParameters& parameters) {
  HYCOLL_ASSERT(shape.lane_count() == 1, "one leader per node");
  ScheduleBuilder builder(Collective::allreduce, std::move(name), shape,
                          parameters.exchange.chunks_per_lane(shape.node_count(), 1),
                          parameters.root, parameters.nodes);
  for (const int n : builder.nodes()) {
    SmpNode node(builder, n);
    append_exchange(builder, parameters.exchange,
                    {.lane = 0,
                     .chunks = builder.all_chunks(),
                     .node = n,
                     .strand = node.leader(),
                     .source = node.append_reduction(),
                     .result = node.result()});
    node.append_broadcast();
  }
  return std::move(builder).finish();
}

}  // namespace hycoll
