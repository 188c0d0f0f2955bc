#include "preload/routines/own_block.h"

#include <cstring>
#include <memory>

namespace hycoll::preload {

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
  const auto* data = static_cast<const std::byte*>(from);
  std::unique_ptr<std::byte[]> packed;
  if (from_.staging != nullptr) {
    packed = std::make_unique_for_overwrite<std::byte[]>(from_bytes());
    from_.staging->pack(from, 0, from_bytes(), packed.get());
    data = packed.get();
  }
  if (to_.staging != nullptr) {
    to_.staging->unpack(data, 0, from_bytes(), to);
  } else {
    std::memmove(to, data, from_bytes());
  }
}

}  // namespace hycoll::preload
