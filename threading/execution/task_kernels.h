#ifndef HYCOLL_THREADING_EXECUTION_TASK_KERNELS_H_
#define HYCOLL_THREADING_EXECUTION_TASK_KERNELS_H_

#include <cstddef>
#include <span>

#include "core/kernels/reducer.h"
#include "threading/execution/task_arena.h"

namespace hycoll {

/// Large reductions and copies in parts, so that cores that are no leaders help. Leaders themselves
/// are dedicated threads, for no arena promises that L blocking tasks run at once; these tasks
/// never block.
///
/// Thread-safe: several leaders may hand in work at once.
class TaskKernels {
 public:
  /// Steps below this size are not split: handing out a task costs a few microseconds.
  static constexpr std::size_t kMinimumBytes = 512 * 1024;

  /// As for the TaskArena of its own.
  TaskKernels(const Topology& topology, int helper_count, int numa_domain)
      : arena_(topology, helper_count, numa_domain) {}

  /// As the kernel itself, with the elements split between the caller and the helpers; by the
  /// caller alone unless the reducer runs anywhere.
  void reduce(const Reducer& reducer, std::span<void* const> destinations,
              std::span<const void* const> sources, std::size_t count, std::size_t element_bytes,
              Stores stores) const;

  /// As copy_kernel.
  void copy(std::span<void* const> destinations, const void* source, std::size_t size_bytes,
            Stores stores) const;

 private:
  TaskArena arena_;
};

}  // namespace hycoll

#endif  // HYCOLL_THREADING_EXECUTION_TASK_KERNELS_H_
