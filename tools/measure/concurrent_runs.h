#ifndef HYCOLL_TOOLS_MEASURE_CONCURRENT_RUNS_H_
#define HYCOLL_TOOLS_MEASURE_CONCURRENT_RUNS_H_

#include <mpi.h>

#include <functional>
#include <span>
#include <vector>

#include "numa/topology/topology.h"

namespace hycoll::measure {

/// What a thread does in a run, so many times.
using Work = std::function<void(int thread, int times)>;

/// What a run took, on the slowest process.
struct RunTime {
  double seconds = 0;
  /// The part of that time in which the threads ran, of the thread where it was least: less than 1
  /// where one had no core for a while, or a process began late.
  double running = 1;

  /// Whether other programs, or too many threads, have not taken much of it.
  bool is_quiet() const noexcept { return running >= kQuiet; }
  static constexpr double kQuiet = 0.8;
};

/// Runs the same work on several threads at once, each bound to a core of its own; they begin
/// together, with those of the other processes of a communicator.
class ConcurrentRuns {
 public:
  /// `comm`: the processes that run together, or MPI_COMM_NULL for this one alone. The cores are
  /// one for each thread; a thread that may not be bound runs wherever the process may.
  ConcurrentRuns(MPI_Comm comm, const Topology& topology, std::span<const Core> cores);

  /// The first `threads` threads do it `times` times each. Collective; processes may pass different
  /// threads, also none. The same on all.
  RunTime run(const Work& work, int threads, int times) const;

  /// How often, doubled from `least` on, the work takes so long by itself. Collective; the same on
  /// all.
  int times_for(const Work& work, int threads, double seconds, int least) const;

  int most_threads() const noexcept { return static_cast<int>(cores_.size()); }

 private:
  MPI_Comm comm_;
  const Topology* topology_;
  std::vector<Core> cores_;
};

}  // namespace hycoll::measure

#endif  // HYCOLL_TOOLS_MEASURE_CONCURRENT_RUNS_H_
