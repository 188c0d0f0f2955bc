// hycoll trace: what a job's workers did, and who waited for whom.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>

#include "core/base/errors.h"
#include "tools/command/line/command_line.h"
#include "tools/command/line/commands.h"
#include "tools/command/line/output.h"
#include "tools/command/tracing/call_sites.h"
#include "tools/command/tracing/call_timeline.h"
#include "tools/command/tracing/trace_page.h"
#include "tools/command/tracing/trace_summary.h"
#include "tools/command/tracing/traces.h"

namespace hycoll::command {
namespace {

constexpr const char* kTraceSummary = "Read what HYCOLL_TRACE has written: who waited for whom";
constexpr const char* kTraceExplanation =
    "Sums up the calls of a job that ran with HYCOLL_TRACE=FOLDER: how long they took, how much of "
    "that was waiting for the member that came last, and who that was (docs/trace.md).\n"
    "  HYCOLL_TRACE=trace mpiexec -n 4 ./program\n"
    "  hycoll trace trace --html trace.html --perfetto trace.json";

struct TraceOptions {
  std::string folder;
  std::string call;
  std::string perfetto_path;
  std::string svg_path;
  std::string html_path;
  OutputOptions output;
};

/// The one with this number, of which there may be several on different communicators; or the one
/// that took longest.
const TracedCall& chosen_call(const TracedCalls& calls, const std::string& text) {
  if (text.empty()) {
    return *std::ranges::max_element(calls.complete, {}, [](const TracedCall& call) {
      return call.end_us() - call.first_arrival_us();
    });
  }
  const std::size_t colon = text.find(':');
  const std::string communicator = colon == std::string::npos ? "" : text.substr(0, colon);
  const std::string digits = colon == std::string::npos ? text : text.substr(colon + 1);
  std::uint64_t number = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (digits.empty() || parsed.ec != std::errc() || parsed.ptr != digits.data() + digits.size()) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("--call '{}': expected a call's number, or COMMUNICATOR:NUMBER", text));
  }
  for (const TracedCall& call : calls.complete) {
    if (call.call == number && (communicator.empty() || call.communicator == communicator)) {
      return call;
    }
  }
  throw Error(
      ErrorKind::invalid_argument,
      fmt::format("--call '{}': no such call is in the trace from its beginning to its end; "
                  "--perfetto FILE shows all that are",
                  text));
}

class Trace final : public Subcommand {
 public:
  explicit Trace(CommandLine& line) : Subcommand(line.add_subcommand("trace", kTraceSummary)) {
    line_.add_explanation(kTraceExplanation);
    line_.add_option("folder", options_.folder, "The folder that HYCOLL_TRACE named").required();
    line_.add_option("--call", options_.call,
                     "The call to draw: its number, or COMMUNICATOR:NUMBER (default: the one that "
                     "took longest)");
    options_.output.add_to(line_);
    options_.output.add_file(line_, "--perfetto", options_.perfetto_path,
                             "All processes in one file for https://ui.perfetto.dev, on one clock");
    options_.output.add_file(line_, "--svg", options_.svg_path, "A picture of the call");
    options_.output.add_file(line_, "--html", options_.html_path,
                             "The summary as a page, with pictures of the slowest calls and of "
                             "their plans");
  }

  ExitStatus run() override {
    options_.output.check();
    Traces traces = read_traces(options_.folder);
    name_call_sites(traces);
    const TracedCalls calls = calls_in(traces);
    const TraceSummary summary = summarise(traces, calls);
    fmt::print(options_.output.human(), "{}", summary_text(traces, summary));
    options_.output.write(summary_report(traces, summary));
    if (!options_.perfetto_path.empty()) {
      write_file("--perfetto", options_.perfetto_path, merged_trace(traces));
    }
    const bool draws = !options_.svg_path.empty() || !options_.call.empty();
    if (draws && calls.complete.empty()) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("'{}' has no call from its beginning to its end, and so nothing to "
                              "draw; trace more calls, or raise HYCOLL_TRACE_KIB",
                              options_.folder));
    }
    const TracedCall* const chosen = draws ? &chosen_call(calls, options_.call) : nullptr;
    if (!options_.svg_path.empty()) {
      write_file("--svg", options_.svg_path, call_timeline(traces, *chosen));
    }
    if (!options_.html_path.empty()) {
      write_file("--html", options_.html_path,
                 trace_page(traces, calls, summary, options_.call.empty() ? nullptr : chosen));
    }
    return kSuccess;
  }

 private:
  TraceOptions options_;
};

}  // namespace

std::unique_ptr<Subcommand> add_trace(CommandLine& line) { return std::make_unique<Trace>(line); }

}  // namespace hycoll::command
