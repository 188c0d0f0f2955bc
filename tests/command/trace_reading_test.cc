// What `hycoll trace` makes of folders: of those that a trace is in, and of others.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "core/base/errors.h"
#include "tests/support/mutated_text.h"
#include "tests/support/temporary_directory.h"
#include "threading/observing/observer.h"
#include "threading/tracing/trace_file.h"
#include "tools/command/tracing/call_timeline.h"
#include "tools/command/tracing/trace_page.h"
#include "tools/command/tracing/trace_summary.h"
#include "tools/command/tracing/traces.h"

namespace hycoll::command {
namespace trace_reading_test {

using tests::Random;

constexpr std::uint64_t kCommunicator = 0xabc;

TraceEvent event_of(TraceEvent::Kind kind, std::uint64_t us) {
  return {.kind = kind, .worker = 1, .ticks = us, .run = {}, .step = {}};
}

/// A call that the member enters and leaves then, in microseconds, with one step of 1 us at its
/// end.
void add_call(std::vector<TraceEvent>& events, int rank, std::uint64_t call, std::uint64_t begin,
              std::uint64_t end) {
  TraceEvent run = event_of(TraceEvent::Kind::run_begins, begin);
  run.run = {.call = call,
             .bytes = 1024,
             .communicator = 1,
             .rank = rank,
             .has_member = true,
             .collective = "allreduce",
             .algorithm = "dpml-recursive-doubling"};
  events.push_back(run);
  TraceEvent step = event_of(TraceEvent::Kind::step, end);
  step.step = {.kind = HYCOLL_STEP_REDUCE,
               .bytes = 512,
               .waiting_ticks = end - begin - 1,
               .working_ticks = 1};
  events.push_back(step);
  events.push_back(event_of(TraceEvent::Kind::run_ends, end));
}

std::string text_of(int rank, const std::vector<TraceEvent>& events,
                    std::uint64_t communicator = kCommunicator) {
  TracedProcess process;
  process.host = rank == 0 ? "a" : "b";
  process.pid = 100 + rank;
  process.ns_per_tick = 1000;
  process.clock = {.communicator = {.id = communicator, .rank = rank, .size = 2},
                   .offset_ns = 0,
                   .error_ns = rank * 250};
  process.communicators[1] = process.clock.communicator;
  return trace_text(process, events);
}

void write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path) << text;
}

/// Rank 1 comes 30 us late in call 1, and rank 0 10 us in call 2. Rank 0 alone has call 3.
std::vector<std::string> two_files() {
  std::vector<TraceEvent> first;
  add_call(first, 0, 1, 100, 140);
  add_call(first, 0, 2, 210, 215);
  add_call(first, 0, 3, 300, 310);
  std::vector<TraceEvent> second;
  add_call(second, 1, 1, 130, 142);
  add_call(second, 1, 2, 200, 216);
  return {text_of(0, first), text_of(1, second)};
}

TEST_CASE("waiting for the last member is told apart, and who that was") {
  const TemporaryDirectory folder;
  const std::vector<std::string> files = two_files();
  write(folder.path() / "a.100.json", files[0]);
  write(folder.path() / "b.101.json", files[1]);
  const Traces traces = read_traces(folder.path().string());
  CHECK(traces.is_aligned());
  CHECK(traces.clock_error_us() == doctest::Approx(0.25));
  const TracedCalls calls = calls_in(traces);
  CHECK(calls.complete.size() == 2);
  CHECK(calls.incomplete == 1);
  const TraceSummary summary = summarise(traces, calls);
  REQUIRE(summary.classes.size() == 1);
  CHECK(summary.classes[0].calls == 2);
  CHECK(summary.classes[0].total_us == doctest::Approx(40 + 12 + 5 + 16));
  CHECK(summary.classes[0].imbalance_us == doctest::Approx(30 + 10));
  REQUIRE(summary.late.size() == 2);
  CHECK(summary.late[0].rank == 1);
  CHECK(summary.late[0].host == "b");
  CHECK(summary.late[0].cost_us == doctest::Approx(30));
  CHECK(summary.late[1].rank == 0);
  CHECK(summary.late[1].cost_us == doctest::Approx(10));
  const std::vector<TraceSlice> slices = traces.slices_of(calls.complete[0].members[0]);
  REQUIRE(slices.size() == 2);
  CHECK(slices[0].is_wait);
  CHECK(slices[1].name == "reduce");
  const std::string picture = call_timeline(traces, calls.complete[0]);
  CHECK(picture.find("rank 1 on b") != std::string::npos);
  CHECK(picture.find("reduce, 512") != std::string::npos);
  CHECK(planned_timeline(traces, calls.complete[0]).find("dpml-recursive-doubling") !=
        std::string::npos);
  CHECK(merged_trace(traces).find("\"call\":3") != std::string::npos);
}

TEST_CASE("of several jobs in a folder the last one is read") {
  const TemporaryDirectory folder;
  const std::vector<std::string> files = two_files();
  write(folder.path() / "a.100.json", files[0]);
  write(folder.path() / "b.101.json", files[1]);
  std::vector<TraceEvent> earlier;
  add_call(earlier, 0, 7, 10, 20);
  write(folder.path() / "a.7.json", text_of(0, earlier, 0xdef));
  // At the same time, without a communicator in common: of the same job.
  std::vector<TraceEvent> beside;
  add_call(beside, 0, 8, 105, 120);
  write(folder.path() / "a.102.json", text_of(0, beside, 0x123));
  const Traces traces = read_traces(folder.path().string());
  CHECK(traces.processes.size() == 3);
  CHECK(traces.files_of_others == 1);
  CHECK(merged_trace(traces).find("\"call\":7") == std::string::npos);
  CHECK(merged_trace(traces).find("\"call\":8") != std::string::npos);
}

TEST_CASE("folders and files that are none are refused by their names") {
  const TemporaryDirectory folder;
  const std::string path = folder.path().string();
  CHECK_THROWS_WITH_AS(read_traces(path), doctest::Contains("has no traces"), Error);
  CHECK_THROWS_WITH_AS(read_traces(path + "/nowhere"), doctest::Contains("cannot be read"), Error);
  const std::vector<std::string> files = two_files();
  write(folder.path() / "a.100.json", files[0]);
  write(folder.path() / "again.json", files[0]);
  CHECK_THROWS_WITH_AS(read_traces(path), doctest::Contains("again.json"), Error);
  std::string other = files[1];
  other.replace(other.find("\"hycoll_trace\":1"), 16, "\"hycoll_trace\":2");
  write(folder.path() / "again.json", other);
  CHECK_THROWS_WITH_AS(read_traces(path), doctest::Contains("its version is 2"), Error);
  for (const char* const text : {"", "[]", "{\"otherData\":{}}", "null", "{\"traceEvents\":7}"}) {
    write(folder.path() / "again.json", text);
    CHECK_THROWS_WITH_AS(read_traces(path), doctest::Contains("again.json' is no trace"), Error);
  }
}

TEST_CASE("files with mistakes are read or refused, and never anything else") {
  const std::vector<std::string> files = two_files();
  Random random(7);
  for (int round = 0; round < 400; ++round) {
    const TemporaryDirectory folder;
    write(folder.path() / "a.100.json", files[0]);
    write(folder.path() / "b.101.json", tests::mutated(files[1], "0{}[]\",:-e.x", random));
    try {
      const Traces traces = read_traces(folder.path().string());
      const TracedCalls calls = calls_in(traces);
      const TraceSummary summary = summarise(traces, calls);
      CHECK(!summary_text(traces, summary).empty());
      CHECK(!trace_page(traces, calls, summary, nullptr).empty());
    } catch (const Error& error) {
      CHECK(std::string(error.what()).find("b.101.json") != std::string::npos);
    }
  }
}

}  // namespace trace_reading_test
}  // namespace hycoll::command
