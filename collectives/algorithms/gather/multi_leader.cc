// Multi-leader gather: the root's node receives the others' blocks through several ports at once.
//
// Idea: a node's part of the vector are the blocks of its members, and each lane has a share of
// every part (parts/shares.h). The leader of a lane collects its share from the members' inputs and
// hands it over: straight to the root's node, or up a binomial tree, with what it has got from
// those below. Members may have their inputs back when these are collected. The leaders of the
// root's node put everything where it belongs in the root's output; on a single node that is all:
// with a lane per worker, each its own member's block.
//
// Source: hycoll; leaders as in DPML (M. Bayatpour et al., SC'17), the binomial tree as in R.
// Thakur, R. Rabenseifner, W. Gropp, 2005. Numbers of nodes begin at the root's, so that what lies
// below a node in the tree follows it, but the vector is in the order of ranks: what reaches over
// the last node to the first one is sent in two messages.
// Steps between nodes: 1 straight; ceil(log2 N) up the tree.
// Received by the root's node: all parts but its own, in N - 1 messages for each lane, or in
// ceil(log2 N) and at most one more. Sent by others: their own part once; up the tree also those
// below, all in all at most N / 2 ceil(log2 N) parts.
// Memory passed over on a single node: n read, n written, by all leaders together.
// Scratch: a node's part, where it is not one member's input; up the tree also those below.
// Serves: any shape with direct visibility, any root; up the tree one lane, for with more the
// shares of one lane lie apart. In place the root's input is its block of its output, which only
// the leaders of that block touch.
//
// Example, 4 nodes of 1 member, root 1, up the tree: 2 sends block 2 to 1, and 0 block 0 to 3,
// which sends block 3 and then block 0 to 1.

#include <utility>
#include <vector>

#include "collectives/algorithms/building_blocks/node_phases.h"
#include "collectives/algorithms/building_blocks/rooted_parts.h"
#include "collectives/algorithms/building_blocks/shares.h"
#include "collectives/algorithms/gather/gather.h"
#include "core/base/errors.h"

namespace hycoll {
namespace {

/// Whether members of a node may go before the exchange ends, where their inputs are copied.
bool may_go_early(const ScheduleBuilder& builder, const NodePhases& phases) {
  return builder.shape().node_count() > 1 && phases.member_count() > 1;
}

/// What the leader of one lane does on one node.
class LaneSteps {
 public:
  LaneSteps(ScheduleBuilder& builder, NodePhases& phases, int lane, const PartsTree& tree)
      : builder_(builder),
        phases_(phases),
        lane_(lane),
        tree_(tree),
        share_(share_of(builder, phases.node(), lane)),
        inputs_(inputs_in(builder, phases.node(), share_)),
        parts_(rooted_shares(builder, phases.node(), lane)),
        sends_input_(!parts_.is_at_root() && is_leaf(tree, parts_) && inputs_.size() == 1) {}

  void append() {
    if (parts_.is_at_root()) phases_.await_member(lane_, builder_.root());
    parts_.strand = phases_.leader(lane_);
    parts_.places = places();
    parts_.collect = [this] { collect(); };
    append_parts_gather(builder_, tree_, parts_);
    if (parts_.is_at_root() || !goes_early()) phases_.announce(lane_);
  }

 private:
  bool goes_early() const { return !sends_input_ && may_go_early(builder_, phases_); }

  std::vector<Span> places() const {
    if (parts_.is_at_root()) {
      return {span_of(builder_.output(builder_.root()), builder_.all_chunks())};
    }
    if (sends_input_) return inputs_;
    const int leader = builder_.shape().leader(phases_.node(), lane_);
    return add_scratch_for(builder_, leader, ranges_below(tree_, parts_));
  }

  /// The root has been waited for.
  void await_owner(const Span& input) {
    const int owner = builder_.owner_of(input.buffer);
    if (owner != builder_.root()) phases_.await_member(lane_, owner);
  }

  void collect() {
    for (const Span& input : inputs_) {
      await_owner(input);
      if (sends_input_) continue;
      const ChunkRange block{input.first_chunk, input.chunk_count};
      builder_.copy(parts_.strand, place_of(parts_.places, block), input);
    }
    if (goes_early()) phases_.announce(lane_, place_of(parts_.places, share_));
  }

  ScheduleBuilder& builder_;
  NodePhases& phases_;
  int lane_;
  const PartsTree& tree_;
  ChunkRange share_;
  std::vector<Span> inputs_;
  RootedParts parts_;
  bool sends_input_;  // as it is
};

}  // namespace

Schedule generate_multi_leader_gather(std::string name, const Shape& shape,
                                      const GeneratorParameters& parameters) {
  HYCOLL_ASSERT(shape.visibility() == Visibility::direct, "leaders touch their members' buffers");
  ScheduleBuilder builder(Collective::gather, std::move(name), shape,
                          shape.member_count() * chunks_per_block(shape), parameters.root,
                          parameters.nodes);
  for (const int node : builder.nodes()) {
    NodePhases phases(builder, node);
    for (int lane = 0; lane < shape.lane_count(); ++lane) {
      LaneSteps(builder, phases, lane, *parameters.exchange.parts_tree).append();
    }
    for (int member = phases.first_member(); member <= phases.last_member(); ++member) {
      append_end_of_sharing(builder, phases, member, may_go_early(builder, phases) ? 2 : 1);
    }
  }
  return std::move(builder).finish();
}

}  // namespace hycoll
