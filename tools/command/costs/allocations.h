#ifndef HYCOLL_TOOLS_COMMAND_COSTS_ALLOCATIONS_H_
#define HYCOLL_TOOLS_COMMAND_COSTS_ALLOCATIONS_H_

#include <cstddef>

namespace hycoll::command {

/// While one lives, operator new and delete of this program count what is allocated, in bytes that
/// the allocator has made usable; at other times they cost no more than malloc and free. A program
/// that is linked with this file has these operators. At most one at a time, in a process with one
/// thread.
class AllocationCount {
 public:
  /// Operator new throws std::bad_alloc for what would exceed `limit_bytes`.
  explicit AllocationCount(std::size_t limit_bytes);
  ~AllocationCount();
  AllocationCount(const AllocationCount&) = delete;
  AllocationCount& operator=(const AllocationCount&) = delete;

  /// What has been allocated since the beginning and is not released; 0 if more has been released.
  std::size_t present_bytes() const noexcept;
  /// The most that this has been.
  std::size_t peak_bytes() const noexcept;
};

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_COSTS_ALLOCATIONS_H_
