#ifndef HYCOLL_TOOLS_COMMAND_CHECKING_CHECK_REPORT_H_
#define HYCOLL_TOOLS_COMMAND_CHECKING_CHECK_REPORT_H_

#include <cstddef>
#include <string>
#include <vector>

#include "tools/command/line/output.h"
#include "tools/command/line/routine.h"
#include "tools/measure/statistics.h"

namespace hycoll::command {

/// How far a simulated time may be from the measured one, as a part of the latter.
inline constexpr double kAgreement = 0.2;

/// A call, as it was simulated and as it was measured.
struct CheckedCall {
  Routine routine = Routine::allreduce;
  std::string algorithm;
  int lanes = 1;
  int segments = 1;
  std::size_t size_bytes = 0;  ///< Of each member's input.
  double simulated_us = 0;
  measure::Summary measured_us;  ///< Over the calls, of the slowest process.
  int rounds = 0;                ///< How many calls were measured.
  bool verified = false;         ///< All results of the measured calls were right.

  /// Of the simulated time to the median of the measured ones.
  double ratio() const { return simulated_us / measured_us.median; }
  /// Whether the results were right and the times are within kAgreement.
  bool agrees() const;
};

/// What a check has found.
struct CheckResult {
  std::vector<CheckedCall> calls;
  std::vector<std::string> left_out;  ///< Calls, and why.

  /// Whether there are calls, and all agree.
  bool agrees() const;
};

/// For people: a row for each call, and how many agree. Pure, as is the next one.
std::string check_text(const CheckResult& result);

/// For programs: a record for each call. The caller adds to the context.
Report check_report(const CheckResult& result);

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_CHECKING_CHECK_REPORT_H_
