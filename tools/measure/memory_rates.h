#ifndef HYCOLL_TOOLS_MEASURE_MEMORY_RATES_H_
#define HYCOLL_TOOLS_MEASURE_MEMORY_RATES_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "tools/measure/concurrent_runs.h"

namespace hycoll::measure {

/// Workers that copy, or reduce, vectors of their own which no cache holds, by hycoll's kernels.
class MemoryWorkers {
 public:
  /// Of the cores; each has `size_bytes` of two operands and of a result, in memory that its thread
  /// touches first.
  MemoryWorkers(const Topology& topology, std::span<const Core> cores, std::size_t size_bytes);
  ~MemoryWorkers();
  MemoryWorkers(const MemoryWorkers&) = delete;
  MemoryWorkers& operator=(const MemoryWorkers&) = delete;

  enum class Action {
    copies,   ///< One operand to the result: its bytes count once.
    reduces,  ///< Both operands: the bytes of the second one count.
  };
  /// What so many workers do together at one time.
  struct Rate {
    double gb_per_s = 0;
    RunTime time;
  };
  Rate measure(Action action, int workers) const;

 private:
  struct Vectors;

  ConcurrentRuns runs_;
  std::size_t size_bytes_;
  std::vector<std::unique_ptr<Vectors>> vectors_;  // of each worker
};

/// For vectors that are each larger than the caches, of as many workers as there are cores, as far
/// as that takes less than a gigabyte in all.
std::size_t memory_vector_bytes(const Topology& topology, int workers);

}  // namespace hycoll::measure

#endif  // HYCOLL_TOOLS_MEASURE_MEMORY_RATES_H_
