#ifndef HYCOLL_TOOLS_MEASURE_LEADER_CONCURRENCY_H_
#define HYCOLL_TOOLS_MEASURE_LEADER_CONCURRENCY_H_

#include <mpi.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "numa/topology/topology.h"
#include "threading/transport/endpoint.h"

namespace hycoll::measure {

/// How many messages leaders exchange at once.
struct LeaderConcurrency {
  int leaders = 1;
  double one_messages_per_s = 0;  ///< One leader alone.
  double all_messages_per_s = 0;  ///< All leaders together.
  /// How many of as many threads ran at once that had nothing to do with one another: the median of
  /// looks between the measurements.
  double threads_at_once = 1;

  /// How many leaders really run at once: 1 when the library lets one at a time do its work.
  double concurrent_leaders() const { return all_messages_per_s / one_messages_per_s; }

  enum class Verdict {
    at_once,
    serialised,  ///< Leaders mostly wait for one another.
    unknown,     ///< They were seen to wait, but threads did not get their cores either.
  };
  Verdict verdict() const {
    if (concurrent_leaders() >= 1 + kUsefulShare * (leaders - 1)) return Verdict::at_once;
    return threads_at_once < kQuietShare * leaders ? Verdict::unknown : Verdict::serialised;
  }

  /// Of each further leader's message rate, what must be left for it to count as concurrent.
  static constexpr double kUsefulShare = 0.3;
  /// Of as many threads as leaders, what runs at once on a quiet machine.
  static constexpr double kQuietShare = 0.8;
};

/// A leader's endpoint on a communicator whose processes all make theirs. Collective.
using LaneMaker = std::function<std::unique_ptr<Endpoint>(int leader)>;

/// Measures, for each transport, the rate of messages of `size_bytes` bytes of one thread and of as
/// many threads as cores, each bound to its core with an endpoint of its own, between neighbouring
/// processes 0-1, 2-3, ..., or, with an odd number of processes, of each with itself. The best of 7
/// alternating runs of some milliseconds, between which threads that only count tell whether the
/// machine lets them run at once.
///
/// Collective over `comm`, whose ranks are the endpoints' peers; several leaders need
/// MPI_THREAD_MULTIPLE; all processes pass equally many cores, at least one. The rates are those
/// of the slowest process.
std::vector<LeaderConcurrency> measure_leader_concurrency(MPI_Comm comm, const Topology& topology,
                                                          std::span<const Core> cores,
                                                          std::span<const LaneMaker> transports,
                                                          std::size_t size_bytes);

}  // namespace hycoll::measure

#endif  // HYCOLL_TOOLS_MEASURE_LEADER_CONCURRENCY_H_
