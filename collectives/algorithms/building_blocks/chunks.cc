#include "collectives/algorithms/building_blocks/chunks.h"

#include <algorithm>
#include <iterator>

#include "core/base/errors.h"

namespace hycoll {

ChunkRange segment_of(ChunkRange chunks, int segment_count, int segment) {
  HYCOLL_ASSERT(chunks.count % segment_count == 0, "segments have the same number of chunks");
  const int size = chunks.count / segment_count;
  return {chunks.first + segment * size, size};
}

std::vector<ChunkRange> cyclic_ranges(int first, int count, int modulus) {
  const int begin = first % modulus;
  const int before_wrap = std::min(count, modulus - begin);
  std::vector<ChunkRange> ranges{{begin, before_wrap}};
  if (before_wrap < count) ranges.push_back({0, count - before_wrap});
  return ranges;
}

std::vector<Span> add_scratch_for(ScheduleBuilder& builder, int worker,
                                  const std::vector<ChunkRange>& ranges) {
  std::vector<Span> places;
  for (const ChunkRange& range : ranges) {
    places.push_back(span_of(builder.add_scratch(worker, range), range));
  }
  std::ranges::sort(places, {}, &Span::first_chunk);
  return places;
}

Span place_of(std::span<const Span> places, ChunkRange chunks) {
  const auto next = std::ranges::upper_bound(places, chunks.first, {}, &Span::first_chunk);
  HYCOLL_ASSERT(next != places.begin(), "one place holds the whole range");
  const Span& place = *std::prev(next);
  HYCOLL_ASSERT(chunks.first + chunks.count <= place.first_chunk + place.chunk_count,
                "one place holds the whole range");
  return span_of(place.buffer, chunks);
}

std::vector<Span> clip(std::span<const Span> places, ChunkRange chunks) {
  std::vector<Span> clipped;
  for (const Span& place : places) {
    const int first = std::max(place.first_chunk, chunks.first);
    const int end = std::min(place.first_chunk + place.chunk_count, chunks.first + chunks.count);
    if (first < end) clipped.push_back(span_of(place.buffer, {first, end - first}));
  }
  return clipped;
}

}  // namespace hycoll
