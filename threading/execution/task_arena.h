#ifndef HYCOLL_THREADING_EXECUTION_TASK_ARENA_H_
#define HYCOLL_THREADING_EXECUTION_TASK_ARENA_H_

#include <cstddef>
#include <functional>
#include <memory>

#include "numa/topology/topology.h"

namespace hycoll {

/// Threads that help a caller with what it can cut into parts that never wait. There are two, of
/// which a program is linked with one: oneTBB's (task_arena_tbb.cc), which serve the program's own
/// tasks too, and threads of hycoll's (task_arena_threads.cc), for programs that must not get
/// another TBB than theirs (decision 33).
///
/// Thread-safe: several callers may have their work done at once.
class TaskArena {
 public:
  /// The helpers that there can be at most in this process.
  static int maximum_helpers();

  /// `helper_count` threads besides the callers, bound to a NUMA domain (an os_index), or to all
  /// cores of the topology (-1). Arenas share threads. Requires helper_count >= 1.
  TaskArena(const Topology& topology, int helper_count, int numa_domain);
  ~TaskArena();

  /// Calls part(i) once for every i below part_count, and returns when all calls have. Throws what
  /// a part has thrown, or the first of several; then not all parts need have been called. A thread
  /// that waits in a part, for oneTBB's tasks of the part's own, begins no other part meanwhile.
  void run(std::size_t part_count, const std::function<void(std::size_t)>& part) const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace hycoll

#endif  // HYCOLL_THREADING_EXECUTION_TASK_ARENA_H_
