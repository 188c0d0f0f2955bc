#ifndef HYCOLL_COLLECTIVES_SELECTION_KERNEL_COPIES_H_
#define HYCOLL_COLLECTIVES_SELECTION_KERNEL_COPIES_H_

#include <cstddef>
#include <cstdint>

#include "core/base/collective.h"

namespace hycoll {

/// Where the kernel copies between the processes of a node.
enum class KernelCopies { never, where_near, everywhere };

/// Whether it does, where the processes are as far from one another as NodeMemory::is_far says.
constexpr bool are_copied(KernelCopies copies, bool is_far) noexcept {
  return copies == KernelCopies::everywhere || (copies == KernelCopies::where_near && !is_far);
}

/// The shortest vectors that the kernel copies where a node's processes are near one another: each
/// byte once, where staging copies it twice. Where they are far, what one has just written is
/// dearer to read from its cache than from staging in memory; and of many processes those that copy
/// from or to the same one keep each other waiting in the kernel (docs/measurements.md).
struct NearSingleCopies {
  int members = 0;  ///< Of the node; 0: nothing is copied by the kernel.

  std::size_t shortest_bytes(Collective collective) const noexcept;
};

/// Which calls the kernel copies, if their plans may run where the buffers are: the same on all
/// processes of the node.
struct SingleCopies {
  std::size_t shortest_bytes = SIZE_MAX;  ///< Wherever the processes are: as the user asks for.
  NearSingleCopies near = {};

  /// With a vector of so many bytes in all.
  KernelCopies of(Collective collective, std::size_t size_bytes) const noexcept;
  /// Whether some vector is long enough.
  bool may_copy(Collective collective) const noexcept;
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_SELECTION_KERNEL_COPIES_H_
