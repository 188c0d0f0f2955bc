#ifndef HYCOLL_TOOLS_COMMAND_TRACING_TRACE_SUMMARY_H_
#define HYCOLL_TOOLS_COMMAND_TRACING_TRACE_SUMMARY_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tools/command/line/output.h"
#include "tools/command/tracing/traces.h"

namespace hycoll::command {

/// A call, with the parts of all of its members.
struct TracedCall {
  std::string communicator;
  std::uint64_t call = 0;
  std::vector<TraceRun>
      members;  ///< By rank; of a call of several runs from its first to its last.
  std::vector<TraceRun> workers;  ///< Those without a member.

  double first_arrival_us() const;
  double last_arrival_us() const;
  double end_us() const;
  /// From the last arrival to the last end: what the collective itself takes.
  double after_last_us() const { return end_us() - last_arrival_us(); }
  /// The position in `members` of who came last.
  std::size_t last() const;
};

/// Calls that are alike.
struct CallClass {
  std::string collective;
  std::uint64_t bytes = 0;
  std::string algorithm;
  int member_count = 0;
  std::string site;  ///< Where the program calls; "" if it is not known.
  std::size_t calls = 0;
  double median_us = 0;        ///< Of members' times in a call.
  double median_after_us = 0;  ///< TracedCall::after_last_us().
  double total_us = 0;         ///< Of all members.
  double imbalance_us = 0;     ///< Of that, spent until the last member had come.
};

/// A member that came last.
struct LateMember {
  int rank = 0;
  std::string host;
  std::string collective;
  std::uint64_t bytes = 0;
  std::string site;
  std::size_t times_last = 0;  ///< Of `calls`.
  std::size_t calls = 0;
  double cost_us =
      0;  ///< How long all others waited for it in all, after the last one of them came.
};

struct TraceSummary {
  std::vector<CallClass> classes;  ///< Those with the most time first.
  std::vector<LateMember> late;    ///< Those that cost most first.
  std::size_t incomplete = 0;      ///< Calls that are left out, as parts of them are lost.
};

/// Complete calls, in the order of their beginnings, and how many others there were: those of a
/// communicator of which as many members are known as of any of its calls. Calls that are still
/// under way are left out.
struct TracedCalls {
  std::vector<TracedCall> complete;
  std::size_t incomplete = 0;
};
TracedCalls calls_in(const Traces& traces);

TraceSummary summarise(const Traces& traces, const TracedCalls& calls);

/// How much of the members' time was waiting for the last one: "24 %"; "-" if it took none.
std::string imbalance_text(const CallClass& of);

/// For people; of late members the first ones.
std::string summary_text(const Traces& traces, const TraceSummary& summary);

/// {"context": {...}, "records": [classes]}, with the late members in the context.
Report summary_report(const Traces& traces, const TraceSummary& summary);

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_TRACING_TRACE_SUMMARY_H_
