// Calls that members make differently are an error on every member, which says what differs, in
// every form and layout; and the next call works.

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <hycoll/hycoll.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/collectives/calls/refused_calls.h"
#include "tests/support/sanitized.h"

namespace hycoll::tests {
namespace refused_differences_mpi_test {

/// How a member departs from the call that the others make.
struct Deviation {
  const char* name;
  std::function<void(Call&, Room&)> apply;
  std::vector<Collective> collectives;
};

std::vector<Deviation> deviations() {
  const std::vector<Collective> all = {Collective::allreduce, Collective::reduce,
                                       Collective::reduce_scatter, Collective::scan,
                                       Collective::exscan};
  std::vector<Collective> moving_too = all;
  for (const Collective moving :
       {Collective::broadcast, Collective::allgather, Collective::gather, Collective::scatter}) {
    moving_too.push_back(moving);
  }
  moving_too.push_back(Collective::broadcast);
  moving_too.push_back(Collective::allgather);
  moving_too.push_back(Collective::alltoall);
  return {
      {"count", [](Call& call, Room&) { ++call.count; }, moving_too},
      {"no elements", [](Call& call, Room&) { call.count = 0; }, moving_too},
      {"type", [](Call& call, Room&) { call.type = DataType::uint64; }, all},
      {"operator", [](Call& call, Room&) { call.op = Operator::max; }, all},
      {"bits", [](Call& call, Room&) { call = call.reproducible(); }, all},
      {"root",
       [](Call& call, Room&) { call.root = 0; },
       {Collective::reduce, Collective::broadcast, Collective::gather, Collective::scatter}},
      {"collective",
       [](Call& call, Room&) {
         call.collective =
             call.collective == Collective::allreduce ? Collective::scan : Collective::allreduce;
       },
       moving_too},
      {"blocks",
       [](Call& call, Room& room) {
         std::swap(room.block_counts.front(), room.block_counts.back());
         call.block_counts = room.block_counts;
       },
       {Collective::reduce_scatter}},
  };
}

/// One call that some make differently, in one of the forms and with few elements or many.
template <class Caller>
std::string try_deviation(Caller& caller, const Deviation& deviation, Collective collective,
                          bool deviates, int number) {
  const auto variant = static_cast<std::size_t>(number);
  const std::size_t count = variant / std::size(kForms) % 2 == 0 ? 5 : 3'000;
  const Form form = kForms[variant % std::size(kForms)];
  Room room;
  Call call = sum_of(room, collective, count);
  call.root = caller.size() - 1;
  if (std::string(deviation.name) == "blocks") {
    room.block_counts.assign(static_cast<std::size_t>(caller.size()), count);
    room.block_counts.front() = 2;
    call.count = 0;
    call.block_counts = room.block_counts;
  }
  if (deviates) deviation.apply(call, room);
  const std::string complaint =
      complaint_unless_error(caller, call, form, ErrorKind::mismatch, ", but ");
  if (!complaint.empty()) return fmt::format("{}: {}", deviation.name, complaint);
  const std::span beyond =
      std::span(room.output).subspan((count + 1) * static_cast<std::size_t>(caller.size()));
  if (std::count(beyond.begin(), beyond.end(), kPoison) == std::ssize(beyond)) return "";
  return fmt::format("{}: something beyond an output was written", deviation.name);
}

/// Deviations of some members, drawn from all of them; every member must get the error.
template <class Caller>
std::string try_deviations(Caller& caller, const std::function<bool(int rank)>& deviates,
                           Sample sample) {
  std::string first;
  int number = 0;
  for (const Deviation& deviation : deviations()) {
    for (const Collective collective : deviation.collectives) {
      ++number;
      if (!sample.takes_next()) continue;
      note(first, try_deviation(caller, deviation, collective, deviates(caller.rank()), number));
    }
  }
  note(first, complaint_about_next(caller));
  return first;
}

TEST_CASE("what members of a process do differently") {
  for (const int deviating : {0, 1, 2}) {
    CAPTURE(deviating);
    Team team(MPI_COMM_SELF, 3);
    CHECK(in_every_thread(team, [&](Member& member) {
            return try_deviations(
                member, [&](int rank) { return rank == deviating; },
                Sample(static_cast<std::uint64_t>(deviating)));
          }) == "");
  }
}

/// Many like calls, one of which a member makes differently. Members that have left it by then get
/// the error in a later call, but every member gets one.
std::string try_deviation_in_loop(Member& member, Collective collective, bool deviates) {
  Room room;
  int errors = 0;
  const auto attempt = [&](Collective called, std::size_t count) {
    Call call = sum_of(room, called, count);
    call.root = member.size() - 1;
    try {
      member.run(call);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::mismatch) ++errors;
    }
  };
  for (int repetition = 0; repetition < 10; ++repetition) {
    for (int call = 0; call < 5; ++call) attempt(collective, 5);
    attempt(collective, deviates ? 6 : 5);
    for (int call = 0; call < 5; ++call) attempt(collective, 5);
    attempt(Collective::allreduce, 5);
    if (errors != repetition + 1) {
      return fmt::format("{}: {} errors after {} deviations", name_of(collective), errors,
                         repetition + 1);
    }
  }
  return complaint_about_next(member);
}

TEST_CASE("what a call has yielded is delivered, though it throws what an earlier one has met") {
  Team team(MPI_COMM_SELF, 2);
  Member ahead = team.join(0);
  Member late = team.join(1);
  MPI_Datatype padded = MPI_DATATYPE_NULL;  // 8 bytes in 16, which pass through a work buffer
  MPI_Type_create_resized(MPI_INT64_T, 0, 16, &padded);
  MPI_Type_commit(&padded);
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(
      [](void* in, void* inout, int* count, MPI_Datatype*) {
        for (int i = 0; i < 2 * *count; i += 2) {
          static_cast<std::int64_t*>(inout)[i] += static_cast<std::int64_t*>(in)[i];
        }
      },
      1, &op);
  Room room;
  Room others;
  const auto call_of = [&](Room& its, std::size_t count) {
    Call call = sum_of(its, Collective::scan, count);
    call.type = ElementType(padded);
    call.op = Operation(op);
    return call;
  };
  {
    Request first = ahead.start(call_of(room, 3));
    Request second = late.start(call_of(others, 3));
    first.wait();
    second.wait();
  }
  ahead.run(call_of(room, 3));
  ahead.run(call_of(room, 3));
  late.run(call_of(others, 3));
  CHECK_THROWS_WITH_AS(late.run(call_of(others, 4)), doctest::Contains(", but rank "), Error);
  std::ranges::fill(room.output, kPoison);
  CHECK_THROWS_WITH_AS(ahead.run(call_of(room, 3)), doctest::Contains(", but rank "), Error);
  CHECK(std::vector(room.output.begin(), room.output.begin() + 6) ==
        std::vector<std::int64_t>{3, kPoison, 3, kPoison, 3, kPoison});
  MPI_Op_free(&op);
  MPI_Type_free(&padded);
}

TEST_CASE("what a member does differently after like calls") {
  for (const Collective collective :
       {Collective::reduce, Collective::scan, Collective::exscan, Collective::allreduce}) {
    for (const int deviating : {0, 1, 2}) {
      CAPTURE(deviating);
      Team team(MPI_COMM_SELF, 3);
      CHECK(in_every_thread(team, [&](Member& member) {
              return try_deviation_in_loop(member, collective, member.rank() == deviating);
            }) == "");
    }
  }
}

TEST_CASE("what processes do differently") {
  Communicator communicator(MPI_COMM_WORLD, comparing_options());
  if (communicator.size() == 1) return;
  for (const int deviating : {0, 1}) {
    CAPTURE(deviating);
    CHECK(try_deviations(
              communicator, [&](int rank) { return rank == deviating; },
              Sample(static_cast<std::uint64_t>(deviating))) == "");
  }
}

TEST_CASE("what members of different processes do differently") {
  Team team(MPI_COMM_WORLD, 2, comparing_options());
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const std::vector<std::function<bool(int)>> patterns = {
      [](int rank) { return rank / 2 == 0; },          // a process
      [](int rank) { return rank == 0; },              // one member
      [&](int rank) { return rank == 2 * size - 1; },  // another one
      [](int rank) { return rank % 2 == 1; }};         // one of each process
  for (std::size_t p = 0; p < patterns.size(); ++p) {
    const auto& deviates = patterns[p];
    if (size == 1 && deviates(0) && deviates(1)) continue;
    CHECK(in_every_thread(team, [&](Member& member) {
            return try_deviations(member, deviates, Sample(p));
          }) == "");
  }
}

TEST_CASE("each process names its own call and another one, and whose that is") {
  Communicator communicator(MPI_COMM_WORLD, comparing_options());
  const int size = communicator.size();
  const int rank = communicator.rank();
  if (size == 1) return;
  Room room;
  // Three different calls, if there are three processes.
  Call call = sum_of(room, rank % 3 == 0 ? Collective::allreduce : Collective::reduce, 5);
  call.root = rank % 3 == 2 ? 1 : 0;
  const auto described = [](int of) {
    return of % 3 == 0 ? std::string("passed allreduce, count 5")
                       : fmt::format("root {}", of % 3 - 1);
  };
  const int other = rank == 0 ? 1 : 0;
  std::string text;
  try {
    communicator.run(call);
  } catch (const Error& error) {
    text = error.what();
  }
  CAPTURE(text);
  const std::size_t but = text.find(", but ");
  REQUIRE(but != std::string::npos);
  CHECK(text.find(fmt::format("call 1: process {} ", rank)) == 0);
  CHECK(text.find(described(rank)) < but);
  CHECK(text.find(fmt::format(", but process {} ", other)) == but);
  CHECK(text.find(described(other), but) != std::string::npos);
}

/// A broadcast whose receivers expect a cache line more than the root sends: in one lane a message
/// is too short, in the other one nothing is wrong.
std::string try_short_broadcast(Member& member, std::size_t count, bool is_sender) {
  constexpr std::size_t kLine = 64 / sizeof(std::int64_t);
  std::vector<std::int64_t> buffer(count + kLine, 1);
  bool has_failed = false;
  try {
    member.run(
        calls::broadcast(buffer.data(), count + (is_sender ? 0 : kLine), DataType::int64, 0));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::mismatch) return error.what();
    has_failed = true;
  }
  // Nobody uses it any more.
  std::ranges::fill(buffer, kPoison);
  for (int look = 0; look < 20; ++look) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (std::ranges::count(buffer, kPoison) != std::ssize(buffer)) return "written to afterwards";
  }
  return has_failed != is_sender ? ""
                                 : fmt::format("rank {}: no error, or one too many", member.rank());
}

TEST_CASE("members that get too little in one lane all get an error, and go on") {
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size == 1) return;
  Options options = Options::from_environment();
  options.algorithm = "multi-leader-binomial";
  options.lanes = 2;
  Team team(MPI_COMM_WORLD, 2, options);
  // Messages that go at once, and messages that wait for their receivers.
  for (const std::size_t count : {std::size_t{4'000}, std::size_t{300'000}}) {
    for (int repetition = 0; repetition < 5; ++repetition) {
      CAPTURE(count);
      CHECK(in_every_thread(team, [&](Member& member) {
              return try_short_broadcast(member, count, rank == 0);
            }) == "");
      CHECK(in_every_thread(team, [&](Member& member) {
              CallTrial trial({.collective = Collective::broadcast,
                               .member_count = member.size(),
                               .count = count,
                               .block_counts = {}},
                              member.rank(), Placement::in_place);
              trial.fill(repetition);
              member.run(trial.call());
              return trial.complaint();
            }) == "");
    }
  }
}

}  // namespace refused_differences_mpi_test
}  // namespace hycoll::tests
