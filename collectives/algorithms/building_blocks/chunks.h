#ifndef HYCOLL_COLLECTIVES_ALGORITHMS_BUILDING_BLOCKS_CHUNKS_H_
#define HYCOLL_COLLECTIVES_ALGORITHMS_BUILDING_BLOCKS_CHUNKS_H_

#include <functional>
#include <span>
#include <vector>

#include "core/schedule/builder.h"

namespace hycoll {

/// What stands for a buffer that is not there.
inline constexpr BufferId kNoBuffer = -1;

/// One of `segment_count` segments of a range. Requires that they divide its chunks.
ChunkRange segment_of(ChunkRange chunks, int segment_count, int segment);

/// The chunks of the parts [first, first + count), neighbouring ones merged where their chunks
/// follow each other: each range is what one message can carry.
using ChunksOfParts = std::function<std::vector<ChunkRange>(int first, int count)>;

/// The numbers first, first + 1, ... modulo `modulus`, in this order, as one range or two.
std::vector<ChunkRange> cyclic_ranges(int first, int count, int modulus);

/// Scratch of a worker for some ranges of chunks: one buffer each. The places are in the order of
/// their chunks.
std::vector<Span> add_scratch_for(ScheduleBuilder& builder, int worker,
                                  const std::vector<ChunkRange>& ranges);

/// The part [chunks.first, chunks.first + chunks.count) of that place which holds it whole.
/// Requires places in the order of their chunks.
Span place_of(std::span<const Span> places, ChunkRange chunks);

/// The parts of the places that lie in a range of chunks, in their order.
std::vector<Span> clip(std::span<const Span> places, ChunkRange chunks);

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ALGORITHMS_BUILDING_BLOCKS_CHUNKS_H_
