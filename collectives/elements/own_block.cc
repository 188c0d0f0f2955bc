#include "collectives/elements/own_block.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace hycoll {

OwnBlock::OwnBlock(const BlockDescription& from, const BlockDescription& to,
                   std::string_view collective)
    : from_(elements_of(ElementType(from.type), collective)),
      to_(elements_of(ElementType(to.type), collective)),
      from_count_(from.count),
      to_count_(to.count) {}

bool OwnBlock::are_there(const void* from, const void* to) const noexcept {
  if (from_bytes() == 0) return true;
  // A datatype may hold addresses itself (MPI_BOTTOM).
  return (from != nullptr || from_.staging != nullptr) && (to != nullptr || to_.staging != nullptr);
}

bool OwnBlock::is_whole(const void* from, const void* to) const noexcept {
  return from_bytes() == to_bytes() && are_there(from, to);
}

void OwnBlock::copy(const void* from, void* to) const {
  const std::size_t size_bytes = from_bytes();
  // Nothing may lie at null, which the C library's copies must not be passed.
  if (size_bytes == 0) return;
  if (is_direct()) {
    std::memmove(to, from, size_bytes);
  } else if (to_.staging == nullptr) {
    from_.pack(from, size_bytes, static_cast<std::byte*>(to));
  } else if (from_.staging == nullptr) {
    to_.unpack(static_cast<const std::byte*>(from), size_bytes, to);
  } else {
    std::array<std::byte, 16 * 1024> packed;
    for (std::size_t begin = 0; begin < size_bytes; begin += packed.size()) {
      const std::size_t end = std::min(begin + packed.size(), size_bytes);
      from_.staging->pack(from, begin, end, packed.data());
      to_.staging->unpack(packed.data(), begin, end, to);
    }
  }
}

}  // namespace hycoll
