// What a process shows of its calls, as others read it.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "threading/recording/flight_reader.h"
#include "threading/recording/flight_recorder.h"

namespace hycoll {
namespace {

PackedSignature signature_of(std::size_t count) {
  return CallSignature{.count = count, .collective = Collective::reduce, .detail = 2}.packed();
}

void enter(MemberRecord& record, std::uint64_t call) {
  const PackedSignature signature = signature_of(call);
  record.enter(call, signature.call, signature.detail, nullptr);
}

std::vector<MemberState> own_members() { return read_members(getpid()); }

TEST_CASE("the latest calls are there, and whether the last one is over") {
  const auto record =
      FlightRecorder::here().record({.communicator = 5, .rank = 3, .size = 8, .name = "world"});
  REQUIRE(record != nullptr);
  REQUIRE(own_members().size() == 1);
  CHECK(own_members()[0].describe() == "has made no call on world yet");
  for (std::uint64_t call = 1; call <= 200; ++call) {
    enter(*record, call);
    if (call % 3 == 0) {
      // Another run of the same call.
      record->leave();
      enter(*record, call);
    }
    const MemberState inside = own_members().at(0);
    CHECK(inside.is_inside);
    CHECK(inside.entered == call);
    CHECK(inside.calls.size() == std::min<std::uint64_t>(call, MemberRecord::kCalls));
    CHECK(inside.calls.back().call == call);
    CHECK(inside.calls.back().signature.count == call);
    CHECK(inside.calls.front().call == call - inside.calls.size() + 1);
    record->leave();
    CHECK(!own_members().at(0).is_inside);
  }
  const MemberState state = own_members().at(0);
  CHECK(state.rank == 3);
  CHECK(state.size == 8);
  CHECK(state.communicator == 5);
  CHECK(state.describe() ==
        "is in no call on world; the last one was reduce, count 200, type int8, operator sum, root "
        "2 (call 200)");
}

TEST_CASE("records of members that are gone are used again") {
  CHECK(own_members().empty());
  constexpr std::size_t kMembers = 3 * CallRecordsHeader::kRecordsInChunk;
  std::vector<const MemberRecord*> places;
  for (int round = 0; round < 4; ++round) {
    std::vector<std::shared_ptr<MemberRecord>> records;
    for (std::size_t m = 0; m < kMembers; ++m) {
      records.push_back(FlightRecorder::here().record(
          {.communicator = m + 1, .rank = static_cast<int>(m), .size = 1, .name = ""}));
      enter(*records.back(), m + 1);
    }
    const std::vector<MemberState> states = own_members();
    CHECK(states.size() == kMembers);
    CHECK(std::ranges::all_of(states, [](const MemberState& state) {
      return state.calls.size() == 1 && state.calls[0].call == state.communicator;
    }));
    std::vector<const MemberRecord*> now;
    for (const auto& record : records) now.push_back(record.get());
    std::ranges::sort(now);
    if (round > 0) CHECK(now == places);
    places = now;
  }
  CHECK(own_members().empty());
}

TEST_CASE("another process is read, also when it does nothing any more") {
  std::array<int, 2> ready{};
  REQUIRE(pipe(ready.data()) == 0);
  const pid_t child = fork();
  if (child == 0) {
    const auto record = FlightRecorder::here().record(
        {.communicator = 1, .rank = 7, .size = 9, .name = std::string(100, 'n')});
    enter(*record, 41);
    record->late_since_ns.store(1, std::memory_order_relaxed);
    const char byte = 0;
    [[maybe_unused]] const auto written = write(ready[1], &byte, 1);
    pause();
    _exit(0);
  }
  char byte = 0;
  REQUIRE(read(ready[0], &byte, 1) == 1);
  kill(child, SIGSTOP);
  const std::vector<pid_t> processes = recorded_processes();
  CHECK(std::ranges::find(processes, child) != processes.end());
  const std::vector<MemberState> states = read_members(child);
  CHECK(states.size() == 1);
  const auto found = std::ranges::find(states, 7, &MemberState::rank);
  REQUIRE(found != states.end());
  CHECK(found->is_inside);
  CHECK(found->calls.back().call == 41);
  CHECK(found->late_s > 1);
  CHECK(found->name == std::string(47, 'n'));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  close(ready[0]);
  close(ready[1]);
  CHECK(read_members(child).empty());
}

TEST_CASE("who reads meanwhile finds whole calls") {
  const auto record =
      FlightRecorder::here().record({.communicator = 6, .rank = 0, .size = 1, .name = ""});
  std::atomic<bool> is_over{false};
  std::thread writer([&] {
    for (std::uint64_t call = 1; !is_over.load(); ++call) {
      enter(*record, call);
      record->leave();
      std::this_thread::yield();
    }
  });
  for (int look = 0; look < 2000; ++look) {
    const auto states = own_members();
    const auto state = std::ranges::find(states, 6, &MemberState::communicator);
    REQUIRE(state != states.end());
    if (state->calls.size() < 2) continue;
    // The oldest ones may be written over.
    const std::vector<RecordedCall>& calls = state->calls;
    const RecordedCall& call = calls[calls.size() - 2];
    CHECK(call.call + 1 >= state->entered);
  }
  is_over = true;
  writer.join();
}

}  // namespace
}  // namespace hycoll
