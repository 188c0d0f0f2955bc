#include "tools/command/tracing/trace_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

#include "tools/command/line/sizes.h"
#include "tools/command/line/table.h"
#include "tools/measure/statistics.h"

namespace hycoll::command {
namespace {

constexpr std::size_t kMostLateShown = 10;

/// Puts the part of a worker to the others, or makes it longer, if the call is several runs.
void add_part(std::vector<TraceRun>& parts, const TraceRun& run) {
  const auto same = std::ranges::find_if(parts, [&](const TraceRun& part) {
    return part.rank == run.rank && part.worker == run.worker;
  });
  if (same == parts.end()) {
    parts.push_back(run);
    return;
  }
  same->begin_us = std::min(same->begin_us, run.begin_us);
  same->end_us = std::max(same->end_us, run.end_us);
  same->waited_us += run.waited_us;
  if (same->algorithm.empty()) same->algorithm = run.algorithm;
}

std::string site_text(const std::string& site) { return site.empty() ? "-" : site; }

}  // namespace

double TracedCall::first_arrival_us() const {
  return std::ranges::min_element(members, {}, &TraceRun::begin_us)->begin_us;
}
double TracedCall::last_arrival_us() const { return members[last()].begin_us; }
double TracedCall::end_us() const {
  return std::ranges::max_element(members, {}, &TraceRun::end_us)->end_us;
}
std::size_t TracedCall::last() const {
  const auto latest = std::ranges::max_element(members, {}, &TraceRun::begin_us);
  return static_cast<std::size_t>(latest - members.begin());
}

TracedCalls calls_in(const Traces& traces) {
  std::map<std::pair<std::string, std::uint64_t>, TracedCall> calls;
  std::map<std::string, std::size_t> most_members;
  for (const TraceRun& run : traces.runs) {
    TracedCall& call = calls[{run.communicator, run.call}];
    call.communicator = run.communicator;
    call.call = run.call;
    add_part(run.has_member ? call.members : call.workers, run);
    std::size_t& most = most_members[run.communicator];
    most = std::max(most, call.members.size());
  }
  TracedCalls found;
  for (auto& [key, call] : calls) {
    const bool has_ended = std::ranges::all_of(
        call.members, [](const TraceRun& run) { return run.state != "under way"; });
    if (!has_ended || call.members.empty() ||
        call.members.size() < most_members[call.communicator]) {
      ++found.incomplete;
      continue;
    }
    std::ranges::sort(call.members, {}, &TraceRun::rank);
    found.complete.push_back(std::move(call));
  }
  std::ranges::sort(found.complete, {}, &TracedCall::first_arrival_us);
  return found;
}

TraceSummary summarise(const Traces& traces, const TracedCalls& calls) {
  TraceSummary summary;
  summary.incomplete = calls.incomplete;
  struct Sums {
    CallClass of;
    std::vector<double> times;
    std::vector<double> after;
    std::map<int, LateMember> late;
  };
  std::map<std::tuple<std::string, std::uint64_t, std::string, std::size_t, std::string>, Sums>
      classes;
  for (const TracedCall& call : calls.complete) {
    const TraceRun& first = call.members.front();
    Sums& sums =
        classes[{first.collective, first.bytes, first.algorithm, call.members.size(), first.site}];
    sums.of.site = first.site;
    sums.of.collective = first.collective;
    sums.of.bytes = first.bytes;
    sums.of.algorithm = first.algorithm;
    sums.of.member_count = static_cast<int>(call.members.size());
    ++sums.of.calls;
    const std::size_t last = call.last();
    const double last_arrival = call.last_arrival_us();
    sums.after.push_back(call.after_last_us());
    double cost = 0;
    double second_last = call.members.size() > 1 ? call.first_arrival_us() : last_arrival;
    for (std::size_t m = 0; m < call.members.size(); ++m) {
      if (m != last) second_last = std::max(second_last, call.members[m].begin_us);
    }
    for (std::size_t m = 0; m < call.members.size(); ++m) {
      const TraceRun& member = call.members[m];
      const double time = member.end_us - member.begin_us;
      sums.times.push_back(time);
      sums.of.total_us += time;
      // Members may leave before the last one comes.
      sums.of.imbalance_us += std::min(time, last_arrival - member.begin_us);
      if (m != last)
        cost += std::clamp(member.end_us - second_last, 0.0, last_arrival - second_last);
    }
    if (call.members.size() < 2) continue;
    const TraceRun& late = call.members[last];
    LateMember& entry = sums.late[late.rank];
    entry.rank = late.rank;
    entry.host = traces.processes[static_cast<std::size_t>(late.process)].host;
    entry.collective = late.collective;
    entry.bytes = late.bytes;
    entry.site = late.site;
    ++entry.times_last;
    entry.cost_us += cost;
  }
  for (auto& [key, sums] : classes) {
    sums.of.median_us = measure::median(sums.times);
    sums.of.median_after_us = measure::median(sums.after);
    for (auto& [rank, late] : sums.late) {
      late.calls = sums.of.calls;
      summary.late.push_back(late);
    }
    summary.classes.push_back(std::move(sums.of));
  }
  std::ranges::stable_sort(summary.classes, std::greater(), &CallClass::total_us);
  std::ranges::stable_sort(summary.late, std::greater(), &LateMember::cost_us);
  return summary;
}

std::string imbalance_text(const CallClass& of) {
  return of.total_us > 0 ? fmt::format("{:.0f} %", 100 * of.imbalance_us / of.total_us) : "-";
}

std::string summary_text(const Traces& traces, const TraceSummary& summary) {
  std::string text = fmt::format("{} process{}", traces.processes.size(),
                                 traces.processes.size() == 1 ? "" : "es");
  std::uint64_t lost = 0;
  for (const TraceProcess& process : traces.processes) lost += process.lost_records;
  if (lost > 0) {
    text += fmt::format("; {} records were written over: HYCOLL_TRACE_KIB keeps more", lost);
  }
  text += '\n';
  if (traces.files_of_others > 0) {
    text += fmt::format("{} files in the folder are of earlier jobs, and left out\n",
                        traces.files_of_others);
  }
  if (!traces.is_aligned()) {
    text +=
        "The clocks of the hosts were not aligned, for no communicator has all processes: compare "
        "times within hosts only\n";
  } else if (traces.clock_error_us() > 0) {
    text +=
        fmt::format("Clocks of different hosts agreed to {} us when the communicator was made\n",
                    time_text(traces.clock_error_us()));
  }
  if (summary.incomplete > 0) {
    text += fmt::format("{} calls are left out: they were under way, or records of them are gone\n",
                        summary.incomplete);
  }
  if (summary.classes.empty()) return text + "No call is there from its beginning to its end.\n";
  TextTable table({"collective", "bytes", "algorithm", "members", "calls", "median us",
                   "after the last us", "time of all us", "waiting for the last", "called in"});
  for (const CallClass& one : summary.classes) {
    table.add_row({one.collective, short_size(one.bytes), one.algorithm,
                   fmt::format("{}", one.member_count), fmt::format("{}", one.calls),
                   time_text(one.median_us), time_text(one.median_after_us),
                   time_text(one.total_us), imbalance_text(one), site_text(one.site)});
  }
  text += '\n' + table.to_text();
  if (summary.late.empty()) return text;
  TextTable late(
      {"rank", "host", "collective", "bytes", "last in", "others waited us", "called in"});
  for (std::size_t l = 0; l < std::min(summary.late.size(), kMostLateShown); ++l) {
    const LateMember& one = summary.late[l];
    late.add_row({fmt::format("{}", one.rank), one.host, one.collective, short_size(one.bytes),
                  fmt::format("{} of {}", one.times_last, one.calls), time_text(one.cost_us),
                  site_text(one.site)});
  }
  text += "\nWho came last, and how long the others waited for that member alone\n";
  return text + late.to_text();
}

Report summary_report(const Traces& traces, const TraceSummary& summary) {
  Json late = Json::array();
  for (const LateMember& one : summary.late) {
    late.push_back({{"rank", one.rank},
                    {"host", one.host},
                    {"collective", one.collective},
                    {"bytes", one.bytes},
                    {"site", one.site},
                    {"times_last", one.times_last},
                    {"calls", one.calls},
                    {"others_waited_us", one.cost_us}});
  }
  std::vector<Json> records;
  for (const CallClass& one : summary.classes) {
    records.push_back({{"collective", one.collective},
                       {"bytes", one.bytes},
                       {"algorithm", one.algorithm},
                       {"members", one.member_count},
                       {"site", one.site},
                       {"calls", one.calls},
                       {"median_us", one.median_us},
                       {"median_after_last_us", one.median_after_us},
                       {"total_us", one.total_us},
                       {"imbalance_us", one.imbalance_us}});
  }
  return {.context = {{"command", "trace"},
                      {"processes", traces.processes.size()},
                      {"aligned", traces.is_aligned()},
                      {"clock_error_us", traces.clock_error_us()},
                      {"incomplete_calls", summary.incomplete},
                      {"late_members", std::move(late)}},
          .records = std::move(records)};
}

}  // namespace hycoll::command
