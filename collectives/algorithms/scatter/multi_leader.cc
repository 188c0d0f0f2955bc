// Multi-leader scatter: the root's node sends the others' blocks through several ports at once.
//
// Idea: the gather (gather/multi_leader.cc) backwards. The leader of each lane on the root's node
// sends its share of every node's part from the root's input: straight to that node, or down a
// binomial tree, with those of the nodes below. Leaders write what has arrived to the members'
// outputs when they have passed on what others get. On the root's node, and on a single one, they
// do so from the root's input: with a lane per worker, each its own member's block.
//
// Source: hycoll; leaders as in DPML (M. Bayatpour et al., SC'17), the binomial tree as in R.
// Thakur, R. Rabenseifner, W. Gropp, 2005.
// Steps between nodes: 1 straight; ceil(log2 N) down the tree.
// Sent by the root's node: all parts but its own, in N - 1 messages for each lane, or in
// ceil(log2 N) and at most one more.
// Memory passed over on a single node: n read, n written, by all leaders together.
// Scratch: a node's part, where it is not one member's output; down the tree also those below.
// Serves: any shape with direct visibility, any root; down the tree one lane, for with more the
// shares of one lane lie apart. In place the root's output is its block of its input, which only
// the leaders of that block touch.
//
// Example, 4 nodes of 1 member, root 1, down the tree: 1 sends blocks 3 and 0 to 3, in a message
// each, and block 2 to 2; 3 sends block 0 to 0.

#include <utility>
#include <vector>

#include "collectives/algorithms/building_blocks/node_phases.h"
#include "collectives/algorithms/building_blocks/rooted_parts.h"
#include "collectives/algorithms/building_blocks/shares.h"
#include "collectives/algorithms/scatter/scatter.h"
#include "core/base/errors.h"

namespace hycoll {
namespace {

/// What the leader of one lane does on one node.
class LaneSteps {
 public:
  LaneSteps(ScheduleBuilder& builder, NodePhases& phases, int lane, const PartsTree& tree)
      : builder_(builder),
        phases_(phases),
        lane_(lane),
        tree_(tree),
        outputs_(outputs_in(builder, phases.node(), share_of(builder, phases.node(), lane))),
        parts_(rooted_shares(builder, phases.node(), lane)),
        receives_output_(!parts_.is_at_root() && is_leaf(tree, parts_) && outputs_.size() == 1) {}

  void append() {
    if (parts_.is_at_root()) phases_.await_member(lane_, builder_.root());
    if (receives_output_) await_owner(outputs_.front());
    parts_.strand = phases_.leader(lane_);
    parts_.places = places();
    append_parts_scatter(builder_, tree_, parts_);
    if (!receives_output_) write_outputs();
    phases_.announce(lane_);
  }

 private:
  std::vector<Span> places() const {
    if (parts_.is_at_root()) {
      return {span_of(builder_.input(builder_.root()), builder_.all_chunks())};
    }
    if (receives_output_) return outputs_;
    const int leader = builder_.shape().leader(phases_.node(), lane_);
    return add_scratch_for(builder_, leader, ranges_below(tree_, parts_));
  }

  /// The root has been waited for.
  void await_owner(const Span& output) {
    const int owner = builder_.owner_of(output.buffer);
    if (owner != builder_.root()) phases_.await_member(lane_, owner);
  }

  void write_outputs() {
    for (const Span& output : outputs_) {
      await_owner(output);
      const ChunkRange block{output.first_chunk, output.chunk_count};
      builder_.copy(parts_.strand, output, place_of(parts_.places, block));
    }
  }

  ScheduleBuilder& builder_;
  NodePhases& phases_;
  int lane_;
  const PartsTree& tree_;
  std::vector<Span> outputs_;
  RootedParts parts_;
  bool receives_output_;  // where it belongs
};

}  // namespace

Schedule generate_multi_leader_scatter(std::string name, const Shape& shape,
                                       const GeneratorParameters& parameters) {
  HYCOLL_ASSERT(shape.visibility() == Visibility::direct, "leaders touch their members' buffers");
  ScheduleBuilder builder(Collective::scatter, std::move(name), shape,
                          shape.member_count() * chunks_per_block(shape), parameters.root,
                          parameters.nodes);
  for (const int node : builder.nodes()) {
    NodePhases phases(builder, node);
    for (int lane = 0; lane < shape.lane_count(); ++lane) {
      LaneSteps(builder, phases, lane, *parameters.exchange.parts_tree).append();
    }
    for (int member = phases.first_member(); member <= phases.last_member(); ++member) {
      append_end_of_sharing(builder, phases, member, 1);
    }
  }
  return std::move(builder).finish();
}

}  // namespace hycoll
