#ifndef HYCOLL_TOOLS_MEASURE_MESSAGE_STREAMS_H_
#define HYCOLL_TOOLS_MEASURE_MESSAGE_STREAMS_H_

#include <cstddef>
#include <span>
#include <vector>

#include "threading/transport/endpoint.h"
#include "tools/measure/concurrent_runs.h"

namespace hycoll::measure {

/// Processes two by two, of which one sends and one receives.
enum class Reach {
  inside,   ///< Both on the first process's machine.
  between,  ///< On two machines: all senders on the first process's, all receivers on the next one.
};

/// What one process does in that.
struct StreamRole {
  enum class Side { none, sends, receives };
  Side side = Side::none;
  int peer = -1;          ///< The other process's rank.
  int number = 0;         ///< Of its two, from 0.
  int process_pairs = 0;  ///< How many there are; the same on all processes.

  /// How many lanes of the process are among `pairs` pairs of lanes, which are dealt to the
  /// processes in turn.
  int lanes_of(int pairs) const noexcept;
};

/// By rank: a number for each process's machine. Pure.
StreamRole stream_role(Reach reach, std::span<const int> machines, int rank);

/// A stream of messages from one lane to another, as in osu_mbw_mr: a window of messages, for all
/// of which the receiver answers by one.
struct Stream {
  std::size_t size_bytes = 8;
  int window = 1;  ///< Messages before the answer. 1: to and fro.
};

/// The windows that `times` times take, on this process's lanes, of which lane l is endpoints[l].
/// For ConcurrentRuns; the objects outlive it.
Work stream_work(const StreamRole& role, const Stream& stream,
                 std::span<Endpoint* const> endpoints);

}  // namespace hycoll::measure

#endif  // HYCOLL_TOOLS_MEASURE_MESSAGE_STREAMS_H_
