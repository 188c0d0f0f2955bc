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
// one copy. Sent: as the exchange says. Reductions: (M - 1) n by all members of a node together.
// Serves: shapes with one lane. Operands stand in rank order, as a member only ever reduces its
// right neighbours' range behind its own.
//
// Example, 1 node of 3 members with the values a, b, c: member 0 reads b and holds ab; then it
// reads c and holds abc; members 1 and 2 copy.

#include <utility>
#include <vector>

#include "collectives/algorithms/allreduce/allreduce.h"
#include "collectives/algorithms/allreduce/exchange.h"
#include "collectives/algorithms/parts/trees.h"
#include "core/base/errors.h"

namespace hycoll {
namespace {

/// The members of one node.
class SmpNode {
 public:
  SmpNode(ScheduleBuilder& builder, int node)
      : builder_(builder),
        first_(builder.shape().first_member(node)),
        count_(builder.shape().node(node).members),
        leader_(builder.main_strand(builder.shape().leader(node, 0))),
        published_(builder.add_flag(leader_)) {
    for (int i = 0; i < count_; ++i) {
      arrived_.push_back(builder_.add_flag(strand(i)));
      builder_.signal(strand(i), arrived_.back());
    }
    for (int i = 0; i < count_; ++i) {
      reduced_.push_back(builder_.add_flag(strand(i)));
      copied_.push_back(builder_.add_flag(strand(i)));
    }
  }

  StrandId leader() const { return leader_; }
  BufferId result() const { return builder_.output(first_); }

  /// Returns where the node's sum lies.
  BufferId append_reduction() {
    std::vector<BufferId> holds;  // by member: what it has reduced so far
    for (int i = 0; i < count_; ++i) holds.push_back(builder_.input(first_ + i));
    for (int i = count_ - 1; i >= 0; --i) {
      const TreePlace place = place_in_binomial_tree(i, count_);
      for (auto other = place.children.rbegin(); other != place.children.rend(); ++other) {
        append_wait_for_sum(strand(i), *other, holds[at(*other)]);
        builder_.reduce(strand(i), {all(builder_.output(first_ + i))},
                        {all(holds[at(i)]), all(holds[at(*other)])});
        holds[at(i)] = builder_.output(first_ + i);
      }
      if (!place.children.empty()) builder_.signal(strand(i), reduced_[at(i)]);
    }
    if (leader_ != strand(0)) append_wait_for_sum(leader_, 0, holds[0]);
    return holds[0];
  }

  /// The leader announces the result, the others copy it. Nobody leaves before all have entered,
  /// for the result contains them; the first member stays until all have copied.
  void append_broadcast() {
    builder_.signal(leader_, published_);
    for (int i = 0; i < count_; ++i) {
      if (strand(i) != leader_) builder_.wait(strand(i), published_);
      if (i == 0) continue;
      builder_.copy(strand(i), all(builder_.output(first_ + i)), all(result()));
      builder_.signal(strand(i), copied_[at(i)]);
    }
    for (int i = 1; i < count_; ++i) builder_.wait(strand(0), copied_[at(i)]);
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  StrandId strand(int i) const {
    return builder_.main_strand(builder_.shape().worker_of_member(first_ + i));
  }

  Span all(BufferId buffer) const { return span_of(buffer, builder_.all_chunks()); }

  /// A member that has reduced nothing yet has only to be there.
  void append_wait_for_sum(StrandId waiting, int other, BufferId held) {
    const bool is_input = held == builder_.input(first_ + other);
    builder_.wait(waiting, is_input ? arrived_[at(other)] : reduced_[at(other)]);
  }

  ScheduleBuilder& builder_;
  int first_;
  int count_;
  StrandId leader_;
  FlagId published_;
  std::vector<FlagId> arrived_;  // by member, like those below
  std::vector<FlagId> reduced_;
  std::vector<FlagId> copied_;
};

}  // namespace

Schedule generate_smp_allreduce(std::string name, const Shape& shape,
                                const GeneratorParameters& parameters) {
  HYCOLL_ASSERT(shape.lane_count() == 1, "one leader per node");
  ScheduleBuilder builder(Collective::allreduce, std::move(name), shape,
                          parameters.exchange.chunks_per_lane(shape.node_count(), 1));
  std::vector<SmpNode> nodes;
  for (int node = 0; node < shape.node_count(); ++node) nodes.emplace_back(builder, node);
  LaneVector vector{
      .lane = 0, .chunks = builder.all_chunks(), .strands = {}, .sources = {}, .results = {}};
  for (SmpNode& node : nodes) {
    vector.strands.push_back(node.leader());
    vector.sources.push_back(node.append_reduction());
    vector.results.push_back(node.result());
  }
  append_exchange(builder, parameters.exchange, vector);
  for (SmpNode& node : nodes) node.append_broadcast();
  return std::move(builder).finish();
}

}  // namespace hycoll
