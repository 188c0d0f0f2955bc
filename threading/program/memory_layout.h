#ifndef HYCOLL_THREADING_PROGRAM_MEMORY_LAYOUT_H_
#define HYCOLL_THREADING_PROGRAM_MEMORY_LAYOUT_H_

#include <algorithm>
#include <cstddef>
#include <span>

namespace hycoll {

/// Lays buffers out, of which some lie where an earlier one does (Buffer::shares_with), whose
/// number first_at(i) is; other ones' own. begins[i] becomes where buffer i begins in the memory of
/// which used_by(i) counts the bytes, which grows by bytes_of(i), or by the largest of those that
/// lie at one place.
template <class FirstAt, class BytesOf, class UsedBy>
void lay_out(std::span<std::size_t> begins, const FirstAt& first_at, const BytesOf& bytes_of,
             const UsedBy& used_by) {
  // First the size of each place, at its first buffer, then where it begins.
  std::ranges::fill(begins, 0);
  for (std::size_t buffer = 0; buffer < begins.size(); ++buffer) {
    std::size_t& place_bytes = begins[first_at(buffer)];
    place_bytes = std::max(place_bytes, bytes_of(buffer));
  }
  for (std::size_t buffer = 0; buffer < begins.size(); ++buffer) {
    const std::size_t first = first_at(buffer);
    if (first != buffer) {
      begins[buffer] = begins[first];
      continue;
    }
    std::size_t& used = used_by(buffer);
    const std::size_t place_bytes = begins[buffer];
    begins[buffer] = used;
    used += place_bytes;
  }
}

}  // namespace hycoll

#endif  // HYCOLL_THREADING_PROGRAM_MEMORY_LAYOUT_H_
