#include "tools/command/tracing/traces.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "core/base/errors.h"
#include "threading/tracing/trace_file.h"
#include "tools/command/line/output.h"

namespace hycoll::command {
namespace {

[[noreturn]] void refuse_trace(const std::string& file, const std::string& reason) {
  throw Error(ErrorKind::invalid_argument,
              fmt::format("'{}' is no trace of hycoll's: {}. Give the folder of HYCOLL_TRACE, with "
                          "nothing but traces of one job in it",
                          file, reason));
}

std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path().string());
  }
  if (error) {
    throw Error(ErrorKind::environment,
                fmt::format("the folder '{}' cannot be read: {}. Give the one that HYCOLL_TRACE "
                            "named",
                            folder, error.message()));
  }
  if (files.empty()) {
    throw Error(ErrorKind::environment,
                fmt::format("the folder '{}' has no traces (HOST.PID.json). Run the program with "
                            "HYCOLL_TRACE={}; traces are written when processes exit",
                            folder, folder));
  }
  std::ranges::sort(files);
  return files;
}

TraceProcess process_of(const std::string& file, const Json& about) {
  const int version = about.at("hycoll_trace").get<int>();
  if (version != kTraceFileVersion) {
    refuse_trace(file, fmt::format("its version is {}, and this command reads {}", version,
                                   kTraceFileVersion));
  }
  const Json& clock = about.at("clock");
  return {.file = file,
          .host = about.at("host").get<std::string>(),
          .rank = about.at("rank").get<int>(),
          .clock_communicator = clock.at("communicator").get<std::string>(),
          .clock_error_us = clock.at("error_ns").get<double>() / 1e3,
          .lost_records = about.at("lost_records").get<std::uint64_t>()};
}

TraceRun run_of(const Json& event) {
  const Json& arguments = event.at("args");
  const double begin = event.at("ts").get<double>();
  return {.communicator = arguments.at("communicator").get<std::string>(),
          .call = arguments.at("call").get<std::uint64_t>(),
          .collective = event.at("name").get<std::string>(),
          .algorithm = arguments.at("algorithm").get<std::string>(),
          .bytes = arguments.at("bytes").get<std::uint64_t>(),
          .rank = arguments.at("rank").get<int>(),
          .worker = arguments.at("worker").get<int>(),
          .has_member = arguments.at("member").get<bool>(),
          .site = arguments.value("site", ""),
          .function = arguments.value("function", ""),
          .state = arguments.value("state", ""),
          .begin_us = begin,
          .end_us = begin + event.at("dur").get<double>(),
          .waited_us = arguments.at("waited_us").get<double>(),
          .thread = event.at("tid").get<std::uint64_t>() / kTraceStrands};
}

TraceSlice slice_of(const Json& event) {
  const bool is_wait = event.at("cat") == "wait";
  return {.name = event.at("name").get<std::string>(),
          .is_wait = is_wait,
          .strand = static_cast<int>(event.at("tid").get<std::uint64_t>() % kTraceStrands),
          .begin_us = event.at("ts").get<double>(),
          .duration_us = event.at("dur").get<double>(),
          .bytes = is_wait ? 0 : event.at("args").at("bytes").get<std::uint64_t>()};
}

/// One process's, as it wrote it.
struct TraceFile {
  TraceProcess process;
  std::vector<TraceRun> runs;
  std::map<std::uint64_t, std::vector<TraceSlice>> slices;  // by thread
  Json events = Json::array();
  // Of the runs.
  double begin_us = std::numeric_limits<double>::infinity();
  double end_us = -std::numeric_limits<double>::infinity();
};

/// Throws Json::exception, or Error.
TraceFile read_trace_file(const std::string& name) {
  Json json = parse_json(read_file("the folder's file", name));
  TraceFile file;
  file.process = process_of(name, json.at("otherData"));
  for (Json& event : json.at("traceEvents")) {
    const std::string category = event.value("cat", "");
    if (category == "call") {
      file.runs.push_back(run_of(event));
      file.begin_us = std::min(file.begin_us, file.runs.back().begin_us);
      file.end_us = std::max(file.end_us, file.runs.back().end_us);
    } else if (category == "step" || category == "wait") {
      file.slices[event.at("tid").get<std::uint64_t>()].push_back(slice_of(event));
    }
    file.events.push_back(std::move(event));
  }
  return file;
}

/// Files of processes that know the same communicator.
struct TraceGroup {
  std::set<std::string> hosts;
  double begin_us = std::numeric_limits<double>::infinity();
  double end_us = -std::numeric_limits<double>::infinity();
};

/// A folder may have been used before: leaves those that were over, on the same host, before the
/// last job began. Returns how many.
int leave_out_other_jobs(std::vector<TraceFile>& files) {
  std::map<std::string, TraceGroup> groups;
  for (const TraceFile& file : files) {
    TraceGroup& group = groups[file.process.clock_communicator];
    group.hosts.insert(file.process.host);
    group.begin_us = std::min(group.begin_us, file.begin_us);
    group.end_us = std::max(group.end_us, file.end_us);
  }
  const TraceGroup& last = std::ranges::max_element(groups, {}, [](const auto& group) {
                             return group.second.end_us;
                           })->second;
  const auto is_of_other = [&](const TraceFile& file) {
    const TraceGroup& group = groups[file.process.clock_communicator];
    const bool shares_host = std::ranges::any_of(
        group.hosts, [&](const std::string& host) { return last.hosts.contains(host); });
    return shares_host && group.end_us < last.begin_us;
  };
  return static_cast<int>(std::erase_if(files, is_of_other));
}

}  // namespace

double Traces::clock_error_us() const {
  double most = 0;
  double second = 0;
  for (const TraceProcess& process : processes) {
    second = std::max(second, std::min(most, process.clock_error_us));
    most = std::max(most, process.clock_error_us);
  }
  return most + second;
}

bool Traces::is_aligned() const {
  std::set<std::string> clocks;
  std::set<std::string> hosts;
  for (const TraceProcess& process : processes) {
    clocks.insert(process.clock_communicator);
    hosts.insert(process.host);
  }
  return clocks.size() == 1 || hosts.size() == 1;
}

std::vector<TraceSlice> Traces::slices_of(const TraceRun& run) const {
  // Times are written with three digits.
  constexpr double kRounding = 0.002;
  std::vector<TraceSlice> found;
  const std::uint64_t first_thread = run.thread * kTraceStrands;
  for (auto strand = slices.lower_bound({run.process, first_thread});
       strand != slices.end() &&
       strand->first < std::pair(run.process, first_thread + kTraceStrands);
       ++strand) {
    const std::vector<TraceSlice>& all = strand->second;
    auto slice = std::ranges::lower_bound(all, run.begin_us - kRounding, {}, &TraceSlice::begin_us);
    for (; slice != all.end() && slice->begin_us < run.end_us; ++slice) {
      if (slice->begin_us + slice->duration_us <= run.end_us + kRounding) found.push_back(*slice);
    }
  }
  return found;
}

Traces read_traces(const std::string& folder) {
  std::vector<TraceFile> files;
  for (const std::string& name : files_in(folder)) {
    try {
      files.push_back(read_trace_file(name));
    } catch (const Json::exception& error) {
      refuse_trace(name, error.what());
    }
  }
  Traces traces;
  traces.files_of_others = leave_out_other_jobs(files);
  std::set<std::pair<std::string, int>> seen;
  for (TraceFile& file : files) {
    const TraceProcess& process = file.process;
    if (!seen.insert({process.clock_communicator, process.rank}).second) {
      refuse_trace(process.file,
                   fmt::format("another file has rank {} of the same communicator, so "
                               "this one is a copy",
                               process.rank));
    }
    const int number = static_cast<int>(traces.processes.size());
    traces.processes.push_back(process);
    for (TraceRun& run : file.runs) {
      run.process = number;
      traces.runs.push_back(std::move(run));
    }
    for (auto& [thread, slices] : file.slices) {
      std::ranges::stable_sort(slices, {}, &TraceSlice::begin_us);
      traces.slices[{number, thread}] = std::move(slices);
    }
    for (Json& event : file.events) traces.events.push_back(std::move(event));
  }
  return traces;
}

std::string merged_trace(const Traces& traces) {
  std::string text = "{\"displayTimeUnit\":\"ns\",\n\"traceEvents\":[\n";
  bool is_first = true;
  for (const Json& event : traces.events) {
    if (!std::exchange(is_first, false)) text += ",\n";
    text += json_text(event);
  }
  return text + "\n]}\n";
}

}  // namespace hycoll::command
