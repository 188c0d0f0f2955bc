#ifndef HYCOLL_TOOLS_MEASURE_LEADER_CONCURRENCY_H_
#define HYCOLL_TOOLS_MEASURE_LEADER_CONCURRENCY_H_

#include <mpi.h>

#include <span>

#include "numa/topology/topology.h"

namespace hycoll::measure {

/// How many messages leaders exchange at once.
struct LeaderConcurrency {
  int leaders = 1;
  double one_messages_per_s = 0;  ///< One leader alone.
  double all_messages_per_s = 0;  ///< All leaders together.

  /// How many leaders really run at once: 1 when the library lets one at a time do its work.
  double concurrent_leaders() const { return all_messages_per_s / one_messages_per_s; }

  /// Whether leaders mostly wait for one another.
  bool serialised() const {
    return leaders > 1 && concurrent_leaders() < 1 + kUsefulShare * (leaders - 1);
  }

  /// Of each further leader's message rate, what must be left for it to count as concurrent.
  static constexpr double kUsefulShare = 0.3;
};

/// Measures the rate of 8-byte messages of one thread and of as many threads as cores, each bound
/// to its core with an endpoint of its own (MpiEndpoint, as leaders use it), between neighbouring
/// processes 0-1, 2-3, ..., or, with an odd number of processes, of each with itself. The best of 7
/// alternating runs of a few milliseconds.
///
/// Collective over `comm`, which needs MPI_THREAD_MULTIPLE; all processes pass equally many cores,
/// at least one. The result is that of the calling process.
LeaderConcurrency measure_leader_concurrency(MPI_Comm comm, const Topology& topology,
                                             std::span<const Core> cores);

}  // namespace hycoll::measure

#endif  // HYCOLL_TOOLS_MEASURE_LEADER_CONCURRENCY_H_
