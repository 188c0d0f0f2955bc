#ifndef HYCOLL_CORE_SCHEDULE_PAIRS_H_
#define HYCOLL_CORE_SCHEDULE_PAIRS_H_

#include "core/schedule/schedule.h"
#include "core/schedule/shape.h"

namespace hycoll {

// In a collective with pairs every chunk is the block from one member for another. They are
// numbered so that what passes from node to node is one range, the tile of the two nodes: by the
// receiving node, then by the sending one, then by the receiving member, then by the sending one.
//
// A tile's blocks for one member follow each other, and so do they in its output; those from one
// member lie apart, by as many chunks as the sending node has members.

/// The block from one member for another.
struct Pair {
  int from;
  int to;
  friend bool operator==(const Pair&, const Pair&) = default;
};

/// The most members whose pairs can be numbered.
inline constexpr int kMostPairedMembers = 46'340;

/// The number of a pair's chunk. Requires members that exist, at most kMostPairedMembers in all.
int chunk_of(const Shape& shape, const Pair& pair);

/// The inverse.
Pair pair_of(const Shape& shape, int chunk);

/// What the members of a node have for those of another one, or of the same.
ChunkRange tile_of(const Shape& shape, int from_node, int to_node);

/// Of a tile what is for one member: from all members of the sending node, in rank order.
ChunkRange tile_for(const Shape& shape, int from_node, int to);

/// Where a chunk lies in a buffer of a schedule, counted in chunks from its begin. Requires a chunk
/// that the buffer holds; of a pack the chunk's number there.
int cell_in(const Schedule& schedule, const Buffer& buffer, int chunk);
/// Of the first chunk of a span, whose others follow.
int cell_in(const Schedule& schedule, const Span& span);

/// The chunk that lies there.
int chunk_in(const Schedule& schedule, const Buffer& buffer, int cell);

/// Whether a buffer holds the chunks of a span, one after the other.
bool holds(const Schedule& schedule, const Buffer& buffer, const Span& span);

}  // namespace hycoll

#endif  // HYCOLL_CORE_SCHEDULE_PAIRS_H_
