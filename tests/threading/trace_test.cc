// What a ring keeps of a thread's events, and what becomes of them in a file.
#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "threading/observing/code_place.h"
#include "threading/observing/observers.h"
#include "threading/tracing/trace_file.h"
#include "threading/tracing/trace_ring.h"

namespace hycoll {
namespace {

using nlohmann::json;
using Random = std::mt19937_64;

std::uint64_t drawn(Random& random, std::uint64_t most) {
  return std::uniform_int_distribution<std::uint64_t>(0, most)(random);
}

/// What was told, to be compared with what is there.
struct Told {
  TraceEvent::Kind kind;
  hycoll_observed_run run;
  hycoll_observed_step step;
};

hycoll_observed_run drawn_run(Random& random, std::uint64_t now) {
  const bool has_site = drawn(random, 1) == 1;
  return {.worker = drawn(random, 5) + 1,
          .communicator = drawn(random, 1000) + 1,
          .call = drawn(random, std::uint64_t{1} << 40),
          .collective = "allreduce",
          .algorithm = "ring",
          .count = 1,
          .bytes = drawn(random, std::uint64_t{1} << 45),
          .rank = static_cast<int>(drawn(random, 100'000)),
          .index = static_cast<int>(drawn(random, 4095)),
          .has_member = static_cast<int>(drawn(random, 1)),
          .call_site = has_site ? &random : nullptr,
          .began = now,
          .ended = now + 1};
}

hycoll_observed_step drawn_step(Random& random, std::uint64_t now) {
  // Some take longer than 32 bits tell.
  const auto time = [&] {
    return drawn(random, std::uint64_t{1} << (drawn(random, 3) == 0 ? 40 : 20));
  };
  const std::uint64_t working = now + time();
  return {.kind = static_cast<int>(drawn(random, HYCOLL_STEP_WAIT)),
          .strand = static_cast<int>(drawn(random, 255)),
          .peer = static_cast<int>(drawn(random, 1'000'000)) - 1,
          .lane = -1,
          .bytes = drawn(random, (std::uint64_t{1} << 40) - 1),
          .began_waiting = now,
          .began_working = working,
          .ended = working + time()};
}

Told tell_something(Random& random, TraceRing& ring, std::uint64_t now) {
  Told told{.kind = {}, .run = drawn_run(random, now), .step = drawn_step(random, now)};
  switch (drawn(random, 4)) {
    case 0:
      told.kind = TraceEvent::Kind::run_begins;
      ring.run_begins(told.run);
      break;
    case 1:
      told.kind = TraceEvent::Kind::run_ends;
      ring.run_ends(told.run, false);
      break;
    case 2:
      told.kind = TraceEvent::Kind::run_fails;
      ring.run_ends(told.run, true);
      break;
    case 3:
      told.kind = TraceEvent::Kind::step;
      ring.step_ends(told.run, told.step);
      break;
    default:
      told.kind = TraceEvent::Kind::message;
      ring.message_ends(told.run, told.step);
  }
  return told;
}

void check_same(const TraceEvent& event, const Told& told) {
  REQUIRE(event.kind == told.kind);
  CHECK(event.worker == told.run.worker);
  switch (event.kind) {
    case TraceEvent::Kind::run_begins:
      CHECK(event.ticks == told.run.began);
      CHECK(event.run.call == told.run.call);
      CHECK(event.run.bytes == told.run.bytes);
      CHECK(event.run.communicator == told.run.communicator);
      CHECK(event.run.rank == told.run.rank);
      CHECK(event.run.index == told.run.index);
      CHECK(event.run.has_member == (told.run.has_member != 0));
      CHECK(event.run.collective == told.run.collective);
      CHECK(event.run.algorithm == told.run.algorithm);
      CHECK(event.run.call_site == told.run.call_site);
      break;
    case TraceEvent::Kind::step:
    case TraceEvent::Kind::message:
      CHECK(event.ticks == told.step.ended);
      CHECK(int{event.step.kind} == told.step.kind);
      CHECK(int{event.step.strand} == told.step.strand);
      CHECK(event.step.peer == told.step.peer);
      CHECK(event.step.bytes == told.step.bytes);
      CHECK(event.step.waiting_ticks == told.step.began_working - told.step.began_waiting);
      CHECK(event.step.working_ticks == told.step.ended - told.step.began_working);
      break;
    default:
      CHECK(event.ticks == told.run.ended);
  }
}

TEST_CASE("a ring has the latest events, whole and in their order") {
  for (const std::uint64_t count : {0, 1, 5, 20, 100, 1000, 5000}) {
    Random random(count);
    constexpr std::size_t kRecords = 256;
    TraceRing ring(kRecords * 32);
    std::vector<Told> told;
    for (std::uint64_t e = 0; e < count; ++e)
      told.push_back(tell_something(random, ring, 1000 * e));
    const std::vector<TraceEvent> events = ring.events();
    REQUIRE(events.size() <= told.size());
    // No event takes more than three records.
    CHECK(events.size() >= std::min<std::size_t>(told.size(), kRecords / 3 - 1));
    if (ring.lost_count() == 0) CHECK(events.size() == told.size());
    for (std::size_t e = 0; e < events.size(); ++e) {
      const Told& its = told[told.size() - events.size() + e];
      // Of the oldest one its longer times may be gone.
      if (e > 0 || ring.lost_count() == 0) check_same(events[e], its);
    }
  }
}

TEST_CASE("who reads while a thread writes finds nothing torn") {
  TraceRing ring(64 * 32);
  std::atomic<bool> is_over{false};
  // All numbers of an event are the same.
  std::thread writer([&] {
    for (std::uint64_t e = 1; !is_over.load(); ++e) {
      const std::uint64_t number = e & 0xffffff;
      hycoll_observed_run run{};
      run.worker = number;
      run.communicator = number;
      run.call = run.bytes = run.began = number;
      run.rank = static_cast<int>(number);
      ring.run_begins(run);
      const hycoll_observed_step step{.kind = HYCOLL_STEP_COPY,
                                      .strand = 0,
                                      .peer = 0,
                                      .lane = -1,
                                      .bytes = number,
                                      .began_waiting = 0,
                                      .began_working = number,
                                      .ended = 2 * number};
      ring.step_ends(run, step);
    }
  });
  std::size_t found = 0;
  while (found < 20'000) {
    for (const TraceEvent& event : ring.events()) {
      ++found;
      const std::uint64_t number = event.worker;
      if (event.kind == TraceEvent::Kind::run_begins) {
        const bool is_whole = event.run.call == number && event.run.bytes == number &&
                              event.run.communicator == number && event.ticks == number &&
                              static_cast<std::uint64_t>(event.run.rank) == number;
        REQUIRE(is_whole);
      } else {
        const bool is_whole = event.step.bytes == number && event.ticks == 2 * number &&
                              event.step.waiting_ticks == number &&
                              event.step.working_ticks == number;
        REQUIRE(is_whole);
      }
    }
  }
  is_over = true;
  writer.join();
}

TraceEvent begin_of(std::uint32_t worker, std::uint64_t ticks, std::uint64_t call) {
  TraceEvent event{.kind = TraceEvent::Kind::run_begins,
                   .worker = worker,
                   .ticks = ticks,
                   .run = {},
                   .step = {}};
  event.run = {.call = call,
               .bytes = 64,
               .communicator = 7,
               .rank = 3,
               .has_member = true,
               .collective = "scan",
               .algorithm = "chain"};
  return event;
}

TraceEvent event_of(TraceEvent::Kind kind, std::uint32_t worker, std::uint64_t ticks) {
  return {.kind = kind, .worker = worker, .ticks = ticks, .run = {}, .step = {}};
}

TraceEvent step_of(std::uint32_t worker, std::uint64_t end, std::uint64_t waiting,
                   std::uint64_t working) {
  TraceEvent event = event_of(TraceEvent::Kind::step, worker, end);
  event.step = {.kind = HYCOLL_STEP_REDUCE,
                .strand = 1,
                .peer = 2,
                .bytes = 32,
                .waiting_ticks = waiting,
                .working_ticks = working};
  return event;
}

json written(const TracedProcess& process, const std::vector<TraceEvent>& events) {
  return json::parse(trace_text(process, events));
}

std::vector<json> of_category(const json& trace, const std::string& category) {
  std::vector<json> found;
  for (const json& event : trace.at("traceEvents")) {
    if (event.value("cat", "") == category) found.push_back(event);
  }
  return found;
}

TEST_CASE("a file has each run with its steps, on the first process's clock") {
  TracedProcess process;
  process.host = "a \"quoted\" host";
  process.begin_ticks = 1000;
  process.begin_ns = 5'000'000;
  process.ns_per_tick = 2;
  process.end_ticks = 9000;
  process.clock = {
      .communicator = {.id = 0xabc, .rank = 4, .size = 6}, .offset_ns = 1'000'000, .error_ns = 300};
  process.communicators[7] = process.clock.communicator;
  // Two workers, whose events came through one thread; the end of one run is missing, and the
  // beginning of another.
  const json trace =
      written(process, {step_of(1, 1050, 0, 10), begin_of(1, 1100, 11), begin_of(2, 1150, 12),
                        step_of(1, 1200, 40, 30), event_of(TraceEvent::Kind::run_fails, 1, 1300),
                        begin_of(1, 1400, 13), begin_of(1, 2000, 14)});
  const std::vector<json> calls = of_category(trace, "call");
  REQUIRE(calls.size() == 4);
  const auto check_call = [&](std::size_t c, std::uint64_t number, double begin_us, double us,
                              const std::string& state) {
    CHECK(calls[c].at("args").at("call") == number);
    CHECK(calls[c].at("ts").get<double>() == doctest::Approx(begin_us));
    CHECK(calls[c].at("dur").get<double>() == doctest::Approx(us));
    CHECK(calls[c].at("args").value("state", "") == state);
    CHECK(calls[c].at("args").at("communicator") == "0000000000000abc");
    CHECK(calls[c].at("name") == "scan");
    CHECK(calls[c].at("pid") == 4);
  };
  check_call(0, 11, 6000.2, 0.4, "failed");
  check_call(1, 13, 6000.8, 1.2, "abandoned");
  check_call(2, 14, 6002.0, 14, "under way");
  check_call(3, 12, 6000.3, 15.7, "under way");
  CHECK(calls[0].at("args").at("waited_us").get<double>() == doctest::Approx(0.08));
  const std::vector<json> steps = of_category(trace, "step");
  REQUIRE(steps.size() == 1);  // the first one's run is not there
  CHECK(steps[0].at("name") == "reduce");
  CHECK(steps[0].at("tid") == 257);
  CHECK(steps[0].at("ts").get<double>() == doctest::Approx(6000.34));
  const std::vector<json> waits = of_category(trace, "wait");
  REQUIRE(waits.size() == 1);
  CHECK(waits[0].at("name") == "wait for worker 2");
  CHECK(waits[0].at("ts").get<double>() == doctest::Approx(6000.26));
  CHECK(trace.at("otherData").at("host") == process.host);
  CHECK(trace.at("otherData").at("clock").at("error_ns") == 300);
}

int function_of_this_program() { return 1; }

TEST_CASE("a call site is a file and a place in it") {
  const CodePlace site = place_of_call(reinterpret_cast<const void*>(&function_of_this_program));
  CHECK(site.module.find("trace") != std::string::npos);
  CHECK(site.offset > 0);
  CHECK(place_of_call(nullptr).module.empty());
}

TEST_CASE("more observers than there is room for are refused, and those of other versions") {
  hycoll_observer observer{};
  CHECK(hycoll_register_observer(nullptr) == 1);
  CHECK(hycoll_register_observer(&observer) == 1);
  observer.size = sizeof observer;
  for (int o = 0; o < HYCOLL_MOST_OBSERVERS; ++o) CHECK(hycoll_register_observer(&observer) == 0);
  CHECK(hycoll_register_observer(&observer) == 1);
  const double rate = hycoll_seconds_per_tick();
  CHECK(rate > 1e-11);
  CHECK(rate < 1e-6);
}

}  // namespace
}  // namespace hycoll
