#include "core/schedule/packs.h"

#include <algorithm>

namespace hycoll {

int number_count(const Schedule& schedule) {
  if (schedule.packed.empty()) return schedule.chunk_count;
  return schedule.packed.back().first_number + schedule.packed.back().chunks.count;
}

bool is_pack(const Schedule& schedule, const Buffer& buffer) {
  return buffer.role == BufferRole::scratch && buffer.first_chunk >= schedule.chunk_count &&
         buffer.chunk_count > 0;
}

int chunk_at(const Schedule& schedule, int number) {
  if (number < schedule.chunk_count) return number;
  const auto behind =
      std::ranges::upper_bound(schedule.packed, number, {}, &PackedChunks::first_number);
  const PackedChunks& packed = *(behind - 1);
  return packed.chunks.first + number - packed.first_number;
}

bool hold_the_same(const Schedule& schedule, const Span& one, const Span& other) {
  if (one.chunk_count != other.chunk_count) return false;
  if (one.first_chunk == other.first_chunk) return true;
  for (int chunk = 0; chunk < one.chunk_count; ++chunk) {
    if (chunk_at(schedule, one.first_chunk + chunk) !=
        chunk_at(schedule, other.first_chunk + chunk)) {
      return false;
    }
  }
  return true;
}

}  // namespace hycoll
