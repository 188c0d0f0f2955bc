#include "tools/command/checking/check_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/command/line/sizes.h"
#include "tools/command/line/table.h"

namespace hycoll::command {
namespace {

std::string_view verdict_on(const CheckedCall& call) {
  if (!call.verified) return "WRONG RESULT";
  return call.agrees() ? "yes" : "no";
}

Json record_of_check(const CheckedCall& call) {
  return {{"collective", name_of(call.routine)},
          {"algorithm", call.algorithm},
          {"lanes", call.lanes},
          {"segments", call.segments},
          {"bytes", call.size_bytes},
          {"simulated_us", call.simulated_us},
          {"measured_us", call.measured_us.median},
          {"measured_min_us", call.measured_us.minimum},
          {"measured_p95_us", call.measured_us.p95},
          {"rounds", call.rounds},
          {"ratio", call.ratio()},
          {"verified", call.verified},
          {"agrees", call.agrees()}};
}

}  // namespace

bool CheckedCall::agrees() const { return verified && std::abs(ratio() - 1) <= kAgreement; }

bool CheckResult::agrees() const {
  return !calls.empty() && std::ranges::all_of(calls, &CheckedCall::agrees);
}

std::string check_text(const CheckResult& result) {
  const std::string limit = fmt::format("within {:.0f} %", 100 * kAgreement);
  TextTable table({"collective", "algorithm", "lanes", "segments", "bytes", "simulated us",
                   "measured us", "min us", "p95 us", "simulated/measured", limit});
  for (const CheckedCall& call : result.calls) {
    table.add_row({std::string(name_of(call.routine)), call.algorithm, std::to_string(call.lanes),
                   std::to_string(call.segments), short_size(call.size_bytes),
                   time_text(call.simulated_us), time_text(call.measured_us.median),
                   time_text(call.measured_us.minimum), time_text(call.measured_us.p95),
                   ratio_text(call.ratio()), std::string(verdict_on(call))});
  }
  std::string text = table.to_text();
  for (const std::string& reason : result.left_out) text += fmt::format("left out: {}\n", reason);
  return text + fmt::format("{} of {} calls {}\n",
                            std::ranges::count_if(result.calls, &CheckedCall::agrees),
                            result.calls.size(), limit);
}

Report check_report(const CheckResult& result) {
  Report report{.context = {{"limit", kAgreement}, {"left_out", result.left_out}}, .records = {}};
  for (const CheckedCall& call : result.calls) report.records.push_back(record_of_check(call));
  return report;
}

}  // namespace hycoll::command
