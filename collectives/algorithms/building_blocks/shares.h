#ifndef HYCOLL_COLLECTIVES_ALGORITHMS_BUILDING_BLOCKS_SHARES_H_
#define HYCOLL_COLLECTIVES_ALGORITHMS_BUILDING_BLOCKS_SHARES_H_

#include <functional>
#include <utility>
#include <vector>

#include "collectives/algorithms/building_blocks/node_phases.h"
#include "core/schedule/builder.h"

namespace hycoll {

/// What belongs to each node of one lane's part of the vector: parts in the order of the nodes,
/// none of them empty.
class NodeParts {
 public:
  enum class Lie {
    together,  ///< Each follows the one before.
    apart,     ///< There is something else between any two.
  };

  NodeParts(Lie lie, std::function<ChunkRange(int node)> of) : lie_(lie), of_(std::move(of)) {}

  ChunkRange operator()(int node) const { return of_(node); }

  /// The parts of the nodes [first, first + count) in as few ranges as possible: each is what one
  /// message can carry.
  std::vector<ChunkRange> ranges(int first, int count) const;

 private:
  Lie lie_;
  std::function<ChunkRange(int node)> of_;
};

// In collectives with blocks a node's part of the vector are the blocks of its members, which
// follow each other. Every part is cut into as many shares as there are lanes. With as many lanes
// as members a lane's share is its own member's block.

/// The least number of chunks per block with which every lane's share of every part has as many
/// chunks.
int chunks_per_block(const Shape& shape);

/// The part of a node. Requires a collective with blocks.
ChunkRange part_of(const ScheduleBuilder& builder, int node);

/// A lane's share of it. Requires a multiple of chunks_per_block() for each block.
ChunkRange share_of(const ScheduleBuilder& builder, int node, int lane);

/// A lane's shares of all parts, which lie apart where there are other lanes.
NodeParts shares_of(const ScheduleBuilder& builder, int lane);

/// The inputs, or outputs, of a node's members as far as they lie in a range.
std::vector<Span> inputs_in(const ScheduleBuilder& builder, int node, ChunkRange chunks);
std::vector<Span> outputs_in(const ScheduleBuilder& builder, int node, ChunkRange chunks);

/// The end of a member's part in a collective with a root, whose leaders wait for the members of
/// their share and, on its node, for the root. The root waits until all lanes have reached a
/// milestone, others until those that share their block have announced the first one. All compare
/// themselves with everybody else, too: what a leader has announced that makes another call by
/// mistake says nothing.
void append_end_of_sharing(const ScheduleBuilder& builder, NodePhases& phases, int member,
                           int root_milestone);

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ALGORITHMS_BUILDING_BLOCKS_SHARES_H_
