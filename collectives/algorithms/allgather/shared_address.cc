// Shared address space with message counters: members copy what has arrived in the leader's buffer.
//
// Idea: the leader of a node collects the blocks of its members in one output, exchanges them for
// those of the other nodes, a growing range of blocks at a time, and raises a counter of what is
// there. The other members follow the counter and copy into their own outputs, all at once, while
// more arrives. With a leader who writes to all outputs (multi_leader.cc) a node of M members
// passes over M - 1 vectors on one core, or needs many lanes, whose shares of a node's part lie
// apart and go through the N - 1 messages of a ring each.
//
// Source: hycoll; the counter is that of the shared address broadcast of A. Mamidala et al., 2009,
// section 5.A, the exchanges are those of multi_leader.cc.
// Steps between nodes, and sent: those of the exchange.
// Memory passed over on every node: its part once by the leader, (M - 1) n read and written by the
// members' own cores.
// Scratch: none.
// Serves: any shape with one lane and direct visibility.
//
// Example, 2 nodes of 2 members: member 0 copies blocks 0 and 1 to its output, announces them, and
// sends them to member 2; member 1 copies them. Then member 0 announces blocks 2 and 3, which have
// arrived, member 1 copies them, too, and says so; member 0 leaves.

#include <utility>
#include <vector>

#include "collectives/algorithms/allgather/allgather.h"
#include "collectives/algorithms/building_blocks/node_phases.h"
#include "core/base/errors.h"

namespace hycoll {
namespace {

/// One of the nodes: what its leader has in the output of one member, and what the others copy.
class SharedOutput {
 public:
  SharedOutput(ScheduleBuilder& builder, NodePhases& phases)
      : builder_(builder),
        phases_(phases),
        holder_(holding_member(builder.shape(), phases.node(), 0)),
        place_(builder.output(holder_)) {}

  void append_exchange(const Exchange& exchange) {
    phases_.await_members(0);
    GatheredBlocks blocks = collected_shares(builder_, phases_, 0);
    if (builder_.shape().node_count() == 1) {
      announce(builder_.all_chunks());
      return;
    }
    blocks.on_arrival = [&](ChunkRange arrived, OnArrival when) {
      if (when == OnArrival::before_passing_on) announce(blocks.chunks(arrived));
    };
    exchange.allgather(builder_, blocks);
  }

  /// Whoever has read what the leader has announced knows that all have entered. The member whose
  /// output that is stays until all have copied, and until the leader, if that is another worker,
  /// needs it no longer.
  void append_copies() {
    for (int member = phases_.first_member(); member <= phases_.last_member(); ++member) {
      if (member != holder_) append_copies_of(member);
    }
    if (phases_.strand(holder_) == phases_.leader(0)) return;
    phases_.announce(0);
    phases_.await_lane(phases_.strand(holder_), 0, static_cast<int>(announced_.size()) + 1);
  }

 private:
  Span at(ChunkRange chunks) const { return span_of(place_, chunks); }

  void announce(ChunkRange chunks) {
    if (phases_.member_count() == 1) return;
    phases_.announce(0, at(chunks));
    announced_.push_back(chunks);
  }

  void append_copies_of(int member) {
    const StrandId strand = phases_.strand(member);
    int milestone = 0;
    for (const ChunkRange& chunks : announced_) {
      phases_.await_lane(strand, 0, ++milestone);
      builder_.copy(strand, span_of(builder_.output(member), chunks), at(chunks));
    }
    const FlagId copied = builder_.add_flag(strand);
    builder_.signal(strand, copied);
    builder_.wait(phases_.strand(holder_), copied);
  }

  ScheduleBuilder& builder_;
  NodePhases& phases_;
  int holder_;
  BufferId place_;
  std::vector<ChunkRange> announced_;
};

}  // namespace

Schedule generate_shared_address_allgather(std::string name, const Shape& shape,
                                           const GeneratorParameters& parameters) {
  HYCOLL_ASSERT(shape.lane_count() == 1, "one leader per node");
  ScheduleBuilder builder(Collective::allgather, std::move(name), shape, shape.member_count(),
                          parameters.root, parameters.nodes);
  for (const int node : builder.nodes()) {
    NodePhases phases(builder, node);
    SharedOutput output(builder, phases);
    output.append_exchange(parameters.exchange);
    output.append_copies();
  }
  return std::move(builder).finish();
}

}  // namespace hycoll
