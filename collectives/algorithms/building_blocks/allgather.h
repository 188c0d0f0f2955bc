#ifndef HYCOLL_COLLECTIVES_ALGORITHMS_BUILDING_BLOCKS_ALLGATHER_H_
#define HYCOLL_COLLECTIVES_ALGORITHMS_BUILDING_BLOCKS_ALLGATHER_H_

#include <functional>

#include "core/schedule/builder.h"

namespace hycoll {

/// When a leader does what is done with chunks that have arrived.
enum class OnArrival {
  before_passing_on,  ///< It takes no time, as an announcement.
  after_passing_on,   ///< It would keep the next node waiting, as a copy.
};

/// Blocks of one lane's vector, one at each of some nodes, that all of these nodes are to have:
/// what one of the nodes knows of them.
struct GatheredBlocks {
  int lane;
  int count;                             ///< Of blocks.
  int number;                            ///< Of the block that the node has.
  std::function<int(int number)> nodes;  ///< By block: the node that has it.
  /// The chunks of neighbouring blocks, which follow each other as the blocks do.
  std::function<ChunkRange(ChunkRange blocks)> chunks;
  StrandId strand;  ///< The leader's.
  BufferId place;   ///< Where its own block is and all others arrive.
  /// Those of some neighbouring blocks, neighbours too, that the node of a block is sent; null:
  /// all.
  std::function<ChunkRange(int number, ChunkRange blocks)> wanted = nullptr;
  /// Where the node receives others' instead of its place; null: in its place.
  std::function<BufferId(ChunkRange blocks)> receives_in = nullptr;
  /// Appends what the node does with its own block, and with those that have arrived, before or
  /// after they are passed on; may be null. Called for each with both.
  std::function<void(ChunkRange blocks, OnArrival when)> on_arrival = nullptr;
};

// Ranges of blocks in these functions are numbers of blocks, not chunks.

// The whole is what all nodes append.

/// Every node sends on to the next one, in each of N - 1 steps, the block that it got in the step
/// before, beginning with its own.
void append_ring_allgather(ScheduleBuilder& builder, const GatheredBlocks& gathered);

/// In steps of distance 1, 2, 4, ... nodes whose blocks' numbers differ by the distance exchange
/// all that they have: a range of as many blocks. Requires a power of two of nodes.
void append_doubling_allgather(ScheduleBuilder& builder, const GatheredBlocks& gathered);

/// The reduce-scatter of circulant.h backwards: in each of ceil(lg N) steps every node doubles what
/// it has, or one less, up to N blocks.
void append_circulant_allgather(ScheduleBuilder& builder, const GatheredBlocks& gathered);

/// The same over distances 1, 2, 4, ...: every node doubles what it has, and gets the rest in the
/// last step. Among a power of two of nodes, or one less, the two are the same.
void append_bruck_allgather(ScheduleBuilder& builder, const GatheredBlocks& gathered);

/// Every node exchanges its block with one of its neighbours, and then, in turn with the other and
/// with this one, the pair of blocks that it has got last. Requires an even number of nodes.
void append_neighbour_allgather(ScheduleBuilder& builder, const GatheredBlocks& gathered);

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ALGORITHMS_BUILDING_BLOCKS_ALLGATHER_H_
