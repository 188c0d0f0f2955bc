// Copies: reductions of one source, in bytes. Up to a block per destination, the C library's memcpy
// is as fast as one pass over several destinations.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "core/kernels/internal.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/copy.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, which includes this file once for every instruction set.
#include <hwy/highway.h>

#include "core/kernels/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hycoll::internal::HWY_NAMESPACE {

/// A copy has one source, so its operator is compiled but never applied.
struct NoOperator {
  template <class D, class V>
  static HWY_INLINE V apply(D /*tag*/, V accumulated, V /*next*/) {
    return accumulated;
  }
};

void copy_cached(Destinations destinations, const void* source, std::size_t size_bytes) {
  const std::size_t head = elements_to_align(destinations[0], source, size_bytes, 1);
  reduce_short<NoOperator, std::uint8_t>(destinations, {&source, 1}, {0, head});
  reduce_range<NoOperator, std::uint8_t, 1>(destinations, {&source, 1}, {head, size_bytes},
                                            Stores::cached);
}

/// Requires that the destinations' cache lines begin at the same indices.
void copy_streaming(Destinations destinations, const void* source, std::size_t size_bytes) {
  const std::size_t before_line = elements_before_line(destinations, 1);
  const std::size_t head = before_line < size_bytes ? before_line : size_bytes;
  reduce_short<NoOperator, std::uint8_t>(destinations, {&source, 1}, {0, head});
  reduce_range<NoOperator, std::uint8_t, 1>(destinations, {&source, 1}, {head, size_bytes},
                                            Stores::streaming);
}

}  // namespace hycoll::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hycoll {
namespace internal {
namespace {

void copy_direct(std::span<void* const> destinations, const void* source, std::size_t size_bytes,
                 Stores stores) {
  if (stores == Stores::cached) {
    HYCOLL_DISPATCH(copy_cached)(destinations, source, size_bytes);
  } else {
    HYCOLL_DISPATCH(copy_streaming)(destinations, source, size_bytes);
  }
}

void copy_in_blocks(std::span<void* const> destinations, const void* source, std::size_t size_bytes,
                    Stores stores) {
  for (std::size_t begin = 0; begin < size_bytes; begin += kBlockBytes) {
    const void* const block = static_cast<const std::byte*>(source) + begin;
    const std::size_t block_bytes = std::min(kBlockBytes, size_bytes - begin);
    for (void* const destination : destinations) {
      if (destination == source) continue;
      copy_block(static_cast<std::byte*>(destination) + begin, block, block_bytes, stores);
    }
  }
}

void copy_unfenced(std::span<void* const> destinations, const void* source, std::size_t size_bytes,
                   Stores stores) {
  const bool is_small = stores == Stores::cached && size_bytes <= kBlockBytes;
  if (is_small || 1 + destinations.size() > kMaxDirectStreams) {
    return copy_in_blocks(destinations, source, size_bytes, stores);
  }
  std::array<void*, kMaxDirectStreams> others;
  const auto end = std::copy_if(destinations.begin(), destinations.end(), others.begin(),
                                [&](void* destination) { return destination != source; });
  const std::span<void* const> targets(others.begin(), end);
  if (targets.empty()) return;
  if (stores == Stores::streaming && elements_before_line(targets, 1) == kNoCommonLine) {
    return copy_in_blocks(targets, source, size_bytes, stores);
  }
  copy_direct(targets, source, size_bytes, stores);
}

}  // namespace

void copy_block(void* destination, const void* source, std::size_t size_bytes, Stores stores) {
  if (stores == Stores::cached) {
    std::memcpy(destination, source, size_bytes);
  } else {
    HYCOLL_DISPATCH(copy_streaming)({&destination, 1}, source, size_bytes);
  }
}

}  // namespace internal

void copy_kernel(std::span<void* const> destinations, const void* source, std::size_t size_bytes,
                 Stores stores) {
  internal::copy_unfenced(destinations, source, size_bytes, stores);
  if (stores == Stores::streaming) hwy::FlushStream();
}

}  // namespace hycoll
#endif
