#include "tools/command/tracing/trace_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/base/markup.h"
#include "tools/command/comparing/html.h"
#include "tools/command/line/sizes.h"
#include "tools/command/line/table.h"
#include "tools/command/tracing/call_timeline.h"

namespace hycoll::command {
namespace {

constexpr std::size_t kMostClassesDrawn = 3;
constexpr std::size_t kMostLateListed = 20;

std::string classes_table(const TraceSummary& summary) {
  std::vector<std::vector<std::string>> rows;
  for (const CallClass& one : summary.classes) {
    rows.push_back({escaped(one.collective), short_size(one.bytes), escaped(one.algorithm),
                    fmt::format("{}", one.member_count), fmt::format("{}", one.calls),
                    time_text(one.median_us), time_text(one.median_after_us), imbalance_text(one),
                    escaped(one.site)});
  }
  return html_table({"collective", "bytes", "algorithm", "members", "calls", "median us",
                     "after the last member us", "waiting for the last member", "called in"},
                    rows);
}

std::string late_table(const TraceSummary& summary) {
  std::vector<std::vector<std::string>> rows;
  for (std::size_t l = 0; l < std::min(summary.late.size(), kMostLateListed); ++l) {
    const LateMember& one = summary.late[l];
    rows.push_back({fmt::format("{}", one.rank), escaped(one.host), escaped(one.collective),
                    short_size(one.bytes), fmt::format("{} of {}", one.times_last, one.calls),
                    time_text(one.cost_us), escaped(one.site)});
  }
  return html_table(
      {"rank", "host", "collective", "bytes", "last in", "others waited us", "called in"}, rows);
}

const TracedCall* slowest_of(const TracedCalls& calls, const CallClass& of) {
  const TracedCall* slowest = nullptr;
  for (const TracedCall& call : calls.complete) {
    const TraceRun& first = call.members.front();
    const bool is_of_it = first.collective == of.collective && first.bytes == of.bytes &&
                          first.algorithm == of.algorithm && first.site == of.site &&
                          std::cmp_equal(call.members.size(), of.member_count);
    if (!is_of_it) continue;
    const auto time = [](const TracedCall& one) { return one.end_us() - one.first_arrival_us(); };
    if (slowest == nullptr || time(call) > time(*slowest)) slowest = &call;
  }
  return slowest;
}

std::string call_section(const Traces& traces, const TracedCall& call, const char* heading) {
  std::string text = fmt::format("<h2>{}</h2>\n<div class=\"card\">{}</div>\n", heading,
                                 call_timeline(traces, call));
  const std::string plan = planned_timeline(traces, call);
  if (!plan.empty()) {
    text += fmt::format(
        "<h3>Its plan, with modelled times (hycoll plan)</h3>\n<div class=\"card\">{}</div>\n",
        plan);
  }
  return text;
}

}  // namespace

std::string trace_page(const Traces& traces, const TracedCalls& calls, const TraceSummary& summary,
                       const TracedCall* chosen) {
  std::string body = "<h2>Calls</h2>\n" + classes_table(summary);
  if (!summary.late.empty()) body += "<h2>Who came last</h2>\n" + late_table(summary);
  if (chosen != nullptr) {
    body += call_section(traces, *chosen, "The call that was asked for");
  } else {
    for (std::size_t c = 0; c < std::min(summary.classes.size(), kMostClassesDrawn); ++c) {
      const TracedCall* const slowest = slowest_of(calls, summary.classes[c]);
      if (slowest != nullptr) body += call_section(traces, *slowest, "The slowest of its kind");
    }
  }
  return html_page("hycoll trace", body);
}

}  // namespace hycoll::command
