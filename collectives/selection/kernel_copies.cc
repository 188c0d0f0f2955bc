#include "collectives/selection/kernel_copies.h"

#include <algorithm>

#include "core/base/byte_sizes.h"

namespace hycoll {
namespace {

/// Sums are staged: what is combined is read once, and what is staged besides is in the cache.
std::size_t shortest_of_two(Collective collective) noexcept {
  switch (collective) {
    case Collective::broadcast:
    case Collective::gather:
    case Collective::scatter:
      return 1024 * kKib;
    case Collective::allgather:
      return 2048 * kKib;
    case Collective::alltoall:
      return 8192 * kKib;
    case Collective::allreduce:
    case Collective::reduce:
    case Collective::reduce_scatter:
    case Collective::scan:
    case Collective::exscan:
      break;
  }
  return SIZE_MAX;
}

}  // namespace

KernelCopies SingleCopies::of(Collective collective, std::size_t size_bytes) const noexcept {
  if (size_bytes >= shortest_bytes) return KernelCopies::everywhere;
  return size_bytes >= near.shortest_bytes(collective) ? KernelCopies::where_near
                                                       : KernelCopies::never;
}

bool SingleCopies::may_copy(Collective collective) const noexcept {
  return std::min(shortest_bytes, near.shortest_bytes(collective)) < SIZE_MAX;
}

std::size_t NearSingleCopies::shortest_bytes(Collective collective) const noexcept {
  if (members <= 1) return SIZE_MAX;
  if (members == 2) return shortest_of_two(collective);
  const std::size_t each = static_cast<std::size_t>(members) * kKib;
  switch (collective) {
    case Collective::alltoall:  // members take turns with one another
      return 256 * kKib;
    case Collective::allgather:
      return std::max(256 * kKib, 32 * each);
    case Collective::gather:  // in the root's process
    case Collective::scatter:
    case Collective::reduce:
      return std::max(512 * kKib, 64 * each);
    case Collective::broadcast:
      return 128 * each;
    case Collective::allreduce:
    case Collective::reduce_scatter:
      return 512 * each;
    case Collective::scan:
    case Collective::exscan:
      break;
  }
  return SIZE_MAX;
}

}  // namespace hycoll
