#ifndef HYCOLL_TOOLS_COMMAND_TRACING_TRACES_H_
#define HYCOLL_TOOLS_COMMAND_TRACING_TRACES_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tools/command/line/json.h"

namespace hycoll::command {

/// A process that has written a trace.
struct TraceProcess {
  std::string file;
  std::string host;
  int rank = 0;                    ///< In the communicator that its clock is told by.
  std::string clock_communicator;  ///< That communicator.
  double clock_error_us = 0;
  std::uint64_t lost_records = 0;
};

/// What a worker did in one strand of a run, one after the other.
struct TraceSlice {
  std::string name;  ///< "reduce", "wait for worker 1".
  bool is_wait = false;
  int strand = 0;
  double begin_us = 0;
  double duration_us = 0;
  std::uint64_t bytes = 0;
};

/// A worker's part in a call.
struct TraceRun {
  int process = 0;  ///< Which of Traces::processes.
  std::string communicator;
  std::uint64_t call = 0;
  std::string collective;
  std::string algorithm;
  std::uint64_t bytes = 0;
  int rank = 0;
  int worker = 0;
  bool has_member = true;
  std::string site;      ///< "FILE+0xOFFSET" of a blocking call; "" otherwise.
  std::string function;  ///< That calls, as far as the file shows it.
  std::string state;     ///< "", or "failed", "abandoned", "under way".
  double begin_us = 0;
  double end_us = 0;
  double waited_us = 0;
  std::uint64_t thread = 0;  ///< By which slices are found.
};

/// All processes' traces, on one clock.
struct Traces {
  std::vector<TraceProcess> processes;
  std::vector<TraceRun> runs;
  Json events = Json::array();  ///< In Chrome's format.
  int files_of_others = 0;      ///< That earlier jobs have left in the folder; not read here.
  /// Of a strand of a worker, in the order of their beginnings, by process and thread.
  std::map<std::pair<int, std::uint64_t>, std::vector<TraceSlice>> slices;

  /// How wrong the times of processes on different hosts are at most, when they were aligned.
  double clock_error_us() const;
  /// Whether all clocks are told by one communicator, or of one host.
  bool is_aligned() const;
  /// What happened in a run, strand by strand.
  std::vector<TraceSlice> slices_of(const TraceRun& run) const;
};

/// Reads what a job has written into the folder of HYCOLL_TRACE: the last one, if several have. A
/// job's processes know one another by a communicator, or run at one time. Throws Error
/// (environment) if there is nothing, or a file cannot be read; Error (invalid_argument), which
/// names the file, if it is no such trace, or another version's.
Traces read_traces(const std::string& folder);

/// All of it as one file for Perfetto.
std::string merged_trace(const Traces& traces);

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_TRACING_TRACES_H_
