#ifndef HYCOLL_TOOLS_COMMAND_REPRODUCING_REPRODUCTION_H_
#define HYCOLL_TOOLS_COMMAND_REPRODUCING_REPRODUCTION_H_

#include <functional>
#include <vector>

#include "tools/command/proving/broadcast_traffic.h"
#include "tools/command/reproducing/claims.h"
#include "tools/command/reproducing/paper_results.h"

namespace hycoll::command {

/// A result and what was simulated of it.
struct Reproduction {
  PaperResult result;
  CurveTimes times_us = {};
  std::vector<double> values = {};            ///< By claim.
  std::vector<BroadcastSaving> savings = {};  ///< Of the slides' benchmarks.
  double wall_s = 0;
};

/// How many calls are simulated for a result.
std::size_t call_count(const PaperResult& result);

/// Simulates all calls of a result in a process of its own, for SimGrid knows one network in each,
/// and tells there before each one which it is. Requires one thread. Throws Error (environment)
/// with what platform_argument, SimGrid or simulate said.
Reproduction reproduce(const PaperResult& result,
                       const std::function<void(const Curve&)>& begin_call);

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_REPRODUCING_REPRODUCTION_H_
