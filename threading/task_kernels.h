#ifndef HYCOLL_THREADING_TASK_KERNELS_H_
#define HYCOLL_THREADING_TASK_KERNELS_H_

#include <cstddef>
#include <memory>
#include <span>

#include "core/reducer.h"

namespace hycoll {

/// Large reductions and copies as oneTBB tasks, so that cores that are no leaders help. Leaders
/// themselves are dedicated threads, for TBB does not promise that L blocking tasks run at once;
/// these tasks never block.
///
/// Thread-safe: several leaders may hand in work at once.
class TaskKernels {
 public:
  /// Steps below this size are not split: handing out a task costs a few microseconds.
  static constexpr std::size_t kMinimumBytes = 512 * 1024;

  /// The helpers that TBB can provide at most in this process; 0 if it is confined to one core.
  static int maximum_helpers();

  /// An arena of `helper_count` TBB threads besides the callers, bound to a NUMA domain (an index
  /// of hwloc's), or to none (-1). Requires helper_count >= 1.
  TaskKernels(int helper_count, int numa_domain);
  ~TaskKernels();

  /// As the kernel itself, with the elements split between the caller and the helpers.
  void reduce(const Reducer& reducer, std::span<void* const> destinations,
              std::span<const void* const> sources, std::size_t count, std::size_t element_bytes,
              Stores stores) const;

  /// As copy_kernel.
  void copy(std::span<void* const> destinations, const void* source, std::size_t size_bytes,
            Stores stores) const;

 private:
  struct Arena;
  std::unique_ptr<Arena> arena_;
};

}  // namespace hycoll

#endif  // HYCOLL_THREADING_TASK_KERNELS_H_
