#ifndef HYCOLL_COLLECTIVES_ALGORITHMS_ALLTOALL_LANE_TILES_H_
#define HYCOLL_COLLECTIVES_ALGORITHMS_ALLTOALL_LANE_TILES_H_

#include <functional>
#include <map>

#include "collectives/algorithms/alltoall/exchange.h"
#include "collectives/algorithms/building_blocks/algorithm.h"
#include "collectives/algorithms/building_blocks/node_phases.h"
#include "core/schedule/builder.h"
#include "core/schedule/number_range.h"
#include "core/schedule/pairs.h"

namespace hycoll {

/// The order in which a leader takes the blocks of many members for many others.
enum class BlockOrder {
  by_receiver,  ///< All that one member is to have, by sender, then what the next one is to have.
  z_curve,      ///< Quarter by quarter of senders and receivers; see z_curve.h.
};

/// The steps of one lane's leader in an all-to-all: what it gathers of its members' blocks,
/// exchanges with other nodes, and scatters. Each tile lies sorted by who is to have it. A single
/// block of a member's that is its node's only one, or leads itself, is sent from where it is, and
/// received where it belongs.
class LaneTiles {
 public:
  LaneTiles(ScheduleBuilder& builder, const NodePhases& phases, int lane, BlockOrder order);

  /// What passes between the node and others, and meanwhile what `copy_inside` appends: on one node
  /// nothing but that. Every member of the node has entered.
  void exchange(const GeneratorParameters& parameters, const std::function<void()>& copy_inside);

  /// The block of a member of the node for another one, or itself.
  void copy_inside(const Pair& pair);
  /// Those of all members of the node for one of them.
  void copy_inside(int receiver);

 private:
  StrandId strand() const { return phases_.leader(lane_); }

  Span block_in_input(int chunk) const;
  /// Calls visit(receiver, blocks) for what each member is to have of a tile, or a piece of one.
  template <class Visit>
  void visit_receivers(ChunkRange tile, const Visit& visit) const;
  void collect_of_one_receiver(Span place, ChunkRange blocks);
  void collect(Span place, ChunkRange tile);
  void deliver(StrandId strand, ChunkRange tile, Span place);
  Pair first_pair(ChunkRange tile) const { return pair_of(builder_.shape(), tile.first); }
  bool is_alone(ChunkRange tile, int member) const;
  BufferId add_scratch(ChunkRange tile, int slot, std::map<int, BufferId>& slots);
  Span gathered(ChunkRange tile, int slot);
  Span place_for(ChunkRange tile, int slot);
  void scatter(ChunkRange tile, StrandId strand);

  ScheduleBuilder& builder_;
  const NodePhases& phases_;
  int lane_;
  BlockOrder order_;
  int worker_;
  std::map<int, BufferId> places_;     // by the first chunk of what arrives there
  std::map<int, BufferId> sending_;    // by slot, the first buffer of its place
  std::map<int, BufferId> receiving_;  // the same
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ALGORITHMS_ALLTOALL_LANE_TILES_H_
