#ifndef HYCOLL_THREADING_TRACING_TRACE_FILE_H_
#define HYCOLL_THREADING_TRACING_TRACE_FILE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "threading/tracing/trace_events.h"

namespace hycoll {

/// A communicator or team, as its processes know it together.
struct TracedCommunicator {
  std::uint64_t id = 0;  ///< The same on all of its processes.
  int rank = 0;          ///< Of this process.
  int size = 1;          ///< Processes.
};

/// From this process's clock to that of the first process of a communicator: what is to be added,
/// and how wrong that may be.
struct ClockOffset {
  TracedCommunicator communicator;
  std::int64_t offset_ns = 0;
  std::int64_t error_ns = 0;
};

/// A process whose workers were observed.
struct TracedProcess {
  std::string host;
  int pid = 0;
  ClockOffset clock;
  std::map<std::uint32_t, TracedCommunicator> communicators;  ///< By the process's own numbers.
  std::uint64_t lost_records = 0;
  /// A tick, and when that was.
  std::uint64_t begin_ticks = 0;
  std::int64_t begin_ns = 0;
  double ns_per_tick = 1;
  std::uint64_t end_ticks = 0;  ///< When this was written: for runs under way.
};

/// A file in the trace format that Chrome and Perfetto read, and that `hycoll trace` reads again:
/// of each run a slice of the category "call", inside of it its steps ("step") and waits ("wait"),
/// and the messages beside them. A process is its rank in the clock's communicator, a thread a
/// strand of a worker: kTraceStrands times the worker's number, and the strand's. Steps whose run's
/// beginning is lost are left out. Pure.
std::string trace_text(const TracedProcess& process, std::vector<TraceEvent> events);

/// The version of what is special to such files.
inline constexpr int kTraceFileVersion = 1;

/// Threads of a worker in them, one for each strand.
inline constexpr std::uint64_t kTraceStrands = 256;

}  // namespace hycoll

#endif  // HYCOLL_THREADING_TRACING_TRACE_FILE_H_
