#ifndef HYCOLL_COLLECTIVES_ALGORITHMS_PARTS_SHARES_H_
#define HYCOLL_COLLECTIVES_ALGORITHMS_PARTS_SHARES_H_

#include "core/schedule/builder.h"

namespace hycoll {

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

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ALGORITHMS_PARTS_SHARES_H_
