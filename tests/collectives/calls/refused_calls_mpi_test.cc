// Calls that cannot be made are an error on every member, with the remedy, in every form and
// layout; nothing is written, and the next call works.

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
#include <vector>

#include "tests/support/call_sweeps.h"

namespace hycoll::tests {
namespace {

constexpr std::size_t kRoom = 40'000;
constexpr std::int64_t kPoison = -77;

/// Buffers with room for whatever a wrong call names.
struct Room {
  std::vector<std::int64_t> input = std::vector<std::int64_t>(kRoom, 3);
  std::vector<std::int64_t> output = std::vector<std::int64_t>(kRoom, kPoison);
  std::vector<std::size_t> block_counts;

  bool is_untouched() const {
    return std::count(output.begin(), output.end(), kPoison) == std::ssize(output) &&
           std::count(input.begin(), input.end(), 3) == std::ssize(input);
  }
};

enum class Form { blocking, nonblocking, polled, persistent, persistent_run };
constexpr Form kForms[] = {Form::blocking, Form::nonblocking, Form::polled, Form::persistent,
                           Form::persistent_run};

template <class Caller>
void make(Caller& caller, const Call& call, Form form) {
  if (form == Form::blocking) return caller.run(call);
  if (form == Form::nonblocking) return caller.start(call).wait();
  if (form == Form::polled) {
    Request request = caller.start(call);
    while (!request.test()) std::this_thread::yield();
    return request.wait();
  }
  Persistent persistent = caller.prepare(call);
  if (form == Form::persistent_run) return persistent.run();
  persistent.start();
  persistent.wait();
}

/// Makes a call that must fail like this; the complaint.
template <class Caller>
std::string complaint_unless_error(Caller& caller, const Call& call, Form form, ErrorKind kind,
                                   const std::string& text) {
  const std::string what =
      fmt::format("{} in form {} on member {} of {}: ", name_of(call.collective),
                  static_cast<int>(form), caller.rank(), caller.size());
  try {
    make(caller, call, form);
  } catch (const Error& error) {
    const std::string message = error.what();
    const bool is_expected = error.kind() == kind && message.find(text) != std::string::npos;
    return is_expected ? "" : what + "unexpected: " + message + " (not: " + text + ")";
  }
  return what + "no error (expected: " + text + ")";
}

/// Whether calls still work.
template <class Caller>
std::string complaint_about_next(Caller& caller) {
  std::string first;
  for (const std::size_t count : {std::size_t{3}, std::size_t{5'000}}) {
    for (const CollectiveReference& reference : references_of_all(caller.size(), count)) {
      CallTrial trial(reference, caller.rank(), Placement::separate);
      trial.fill(1);
      caller.run(trial.call());
      note(first, trial.complaint());
    }
    const CollectiveReference reference{
        .member_count = caller.size(), .count = count, .block_counts = {}};
    CallTrial trial(reference, caller.rank(), Placement::in_place);
    trial.fill(2);
    caller.start(trial.call()).wait();
    note(first, trial.complaint());
  }
  return first;
}

Call sum_of(Room& room, Collective collective, std::size_t count) {
  return {.collective = collective,
          .input = room.input.data(),
          .output = room.output.data(),
          .count = count,
          .type = DataType::int64,
          .op = Operator::sum};
}

struct WrongCall {
  Call call;
  std::string text;
  /// Members without a result do not look at their outputs, so that only some of them refuse.
  bool on_all_members = true;
};

void add_wrong_types(std::vector<WrongCall>& wrong, const Call& good) {
  Call call = good;
  call.type = DataType::float64;
  call.op = Operator::bit_or;
  wrong.push_back({call, "bor is not defined for type double"});
  call.op = Operator::logical_and;
  wrong.push_back({call, "need an integer type"});
  call.op = MPI_MAXLOC;
  wrong.push_back({call, "a pair of value and index"});
  call.op = MPI_REPLACE;
  wrong.push_back({call, "pass an operator for collectives"});
  call.op = MPI_OP_NULL;
  wrong.push_back({call, "operator is MPI_OP_NULL"});
  call = good;
  call.type = MPI_CHAR;
  wrong.push_back({call, "characters"});
  call.type = MPI_DATATYPE_NULL;
  wrong.push_back({call, "type is MPI_DATATYPE_NULL"});
  call.type = MPI_DOUBLE_INT;
  wrong.push_back({call, "sum is not defined for type MPI_DOUBLE_INT"});
}

void add_wrong_buffers(std::vector<WrongCall>& wrong, const Call& good, Room& room) {
  const bool all = good.collective != Collective::reduce && good.collective != Collective::exscan;
  Call call = good;
  call.input = nullptr;
  wrong.push_back({call, "input is null with count"});
  call = good;
  call.output = nullptr;
  wrong.push_back({call, "output is null with count", all});
  call = good;
  call.output = room.input.data() + 1;
  wrong.push_back({call, "input and output overlap", all});
  call.input = room.output.data() + 1;
  call.output = room.output.data();
  wrong.push_back({call, "bytes before it", all});
  call = good;
  call.count = SIZE_MAX / 4;
  wrong.push_back({call, "more than memory"});
}

/// What every member refuses by itself.
std::vector<WrongCall> wrong_calls(Room& room, int members) {
  std::vector<WrongCall> wrong;
  for (const Collective collective :
       {Collective::allreduce, Collective::reduce, Collective::reduce_scatter, Collective::scan,
        Collective::exscan}) {
    const Call good = sum_of(room, collective, 100);
    add_wrong_types(wrong, good);
    add_wrong_buffers(wrong, good, room);
  }
  for (const Collective collective : {Collective::reduce, Collective::broadcast}) {
    Call rooted = sum_of(room, collective, 100);
    rooted.root = members;
    wrong.push_back(
        {rooted, fmt::format("root is {}, but the ranks are 0 to {}", members, members - 1)});
    rooted.root = -1;
    wrong.push_back({rooted, "root is -1"});
  }
  Call broadcast = calls::broadcast(nullptr, 100, DataType::int64, 0);
  wrong.push_back({broadcast, "broadcast: buffer is null with count 100; pass a buffer of 800"});
  broadcast = calls::broadcast(room.output.data(), SIZE_MAX / 4, DataType::int64, 0);
  wrong.push_back({broadcast, "more than memory"});
  broadcast = calls::broadcast(room.output.data(), 3, MPI_DATATYPE_NULL, 0);
  wrong.push_back({broadcast, "broadcast: type is MPI_DATATYPE_NULL"});
  Call blocks = sum_of(room, Collective::reduce_scatter, 0);
  room.block_counts.assign(static_cast<std::size_t>(members) + 1, 10);
  blocks.block_counts = room.block_counts;
  wrong.push_back(
      {blocks, fmt::format("block_counts has {} entries for {} members", members + 1, members)});
  return wrong;
}

template <class Caller>
std::string try_wrong_calls(Caller& caller) {
  std::string first;
  Room room;
  const std::vector<WrongCall> wrong = wrong_calls(room, caller.size());
  for (const WrongCall& wrong_call : wrong) {
    for (const Form form : kForms) {
      // Where only some refuse, the others would wait for them.
      if (!wrong_call.on_all_members && caller.size() > 1) continue;
      if (!wrong_call.on_all_members && wrong_call.call.collective == Collective::exscan) continue;
      note(first, complaint_unless_error(caller, wrong_call.call, form, ErrorKind::invalid_argument,
                                         wrong_call.text));
    }
  }
  if (!room.is_untouched()) note(first, "a refused call has written to a buffer");
  note(first, complaint_about_next(caller));
  return first;
}

TEST_CASE("what every member can tell by itself") {
  for (const auto checking : {Options::Checking::process, Options::Checking::all_processes}) {
    Options options = Options::from_environment();
    options.checking = checking;
    options.workers = 2;
    Communicator communicator(MPI_COMM_WORLD, options);
    CHECK(try_wrong_calls(communicator) == "");
    Team team(MPI_COMM_WORLD, 2, options);
    CHECK(in_every_thread(team, [](Member& member) { return try_wrong_calls(member); }) == "");
  }
}

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
  moving_too.push_back(Collective::broadcast);
  return {
      {"count", [](Call& call, Room&) { ++call.count; }, moving_too},
      {"no elements", [](Call& call, Room&) { call.count = 0; }, moving_too},
      {"type", [](Call& call, Room&) { call.type = DataType::uint64; }, all},
      {"operator", [](Call& call, Room&) { call.op = Operator::max; }, all},
      {"bits", [](Call& call, Room&) { call = call.reproducible(); }, all},
      {"root",
       [](Call& call, Room&) { call.root = 0; },
       {Collective::reduce, Collective::broadcast}},
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

/// All deviations of some members; every member must get the error.
template <class Caller>
std::string try_deviations(Caller& caller, const std::function<bool(int rank)>& deviates) {
  std::string first;
  int number = 0;
  for (const Deviation& deviation : deviations()) {
    for (const Collective collective : deviation.collectives) {
      note(first, try_deviation(caller, deviation, collective, deviates(caller.rank()), ++number));
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
            return try_deviations(member, [&](int rank) { return rank == deviating; });
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
    call.type = padded;
    call.op = op;
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

Options comparing_options() {
  Options options = Options::from_environment();
  options.checking = Options::Checking::all_processes;
  options.workers = 2;
  return options;
}

TEST_CASE("what processes do differently") {
  Communicator communicator(MPI_COMM_WORLD, comparing_options());
  if (communicator.size() == 1) return;
  for (const int deviating : {0, 1}) {
    CAPTURE(deviating);
    CHECK(try_deviations(communicator, [&](int rank) { return rank == deviating; }) == "");
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
  for (const auto& deviates : patterns) {
    if (size == 1 && deviates(0) && deviates(1)) continue;
    CHECK(in_every_thread(team, [&](Member& member) { return try_deviations(member, deviates); }) ==
          "");
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

/// One member refuses its arguments; the others learn of it.
template <class Caller>
std::string try_refusals(Caller& caller, int refusing) {
  std::string first;
  Room room;
  int number = 0;
  for (const WrongCall& wrong : wrong_calls(room, caller.size())) {
    // Only members with a result refuse these.
    if (!wrong.on_all_members) continue;
    const Form form = kForms[static_cast<std::size_t>(++number) % std::size(kForms)];
    // What refuses to be set up is never started.
    if (form == Form::persistent || form == Form::persistent_run) continue;
    const bool refuses = caller.rank() == refusing;
    Call good = sum_of(room, wrong.call.collective, 7);
    note(first, complaint_unless_error(caller, refuses ? wrong.call : good, form,
                                       refuses ? ErrorKind::invalid_argument : ErrorKind::mismatch,
                                       refuses ? wrong.text : "refused its arguments"));
  }
  if (!room.is_untouched()) note(first, "a refused call has written to a buffer");
  note(first, complaint_about_next(caller));
  return first;
}

TEST_CASE("what one process refuses, where all are compared") {
  Communicator communicator(MPI_COMM_WORLD, comparing_options());
  if (communicator.size() == 1) return;
  CHECK(try_refusals(communicator, 0) == "");
  CHECK(try_refusals(communicator, 1) == "");
}

TEST_CASE("what one member refuses, where all are compared") {
  Team team(MPI_COMM_SELF, 3, comparing_options());
  for (const int refusing : {0, 2}) {
    CHECK(in_every_thread(team, [&](Member& member) { return try_refusals(member, refusing); }) ==
          "");
  }
}

TEST_CASE("nonblocking calls do not wait for the others, where all are compared either") {
  Communicator communicator(MPI_COMM_WORLD, comparing_options());
  const int size = communicator.size();
  const int rank = communicator.rank();
  std::vector<int> values = {rank, 1};
  if (rank == 0) {
    Request request = communicator.iallreduce(values);
    for (int other = 1; other < size; ++other) {
      MPI_Send(nullptr, 0, MPI_CHAR, other, 5, MPI_COMM_WORLD);
    }
    request.wait();
  } else {
    MPI_Recv(nullptr, 0, MPI_CHAR, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    communicator.iallreduce(values).wait();
  }
  CHECK(values == std::vector<int>{size * (size - 1) / 2, size});

  Team team(MPI_COMM_WORLD, 2, comparing_options());
  Member members[] = {team.join(0), team.join(1)};
  int one = 1;
  int two = 2;
  Request first = members[1].iallreduce(std::span(&two, 1));
  Request second = members[0].iallreduce(std::span(&one, 1));
  first.wait();
  second.wait();
  CHECK(one == 3 * size);
  CHECK(two == 3 * size);
}

TEST_CASE("a persistent call is started again only after its last start has been waited for") {
  Communicator communicator(MPI_COMM_WORLD);
  std::vector<int> values(3, 1);
  Persistent persistent = communicator.allreduce_init(values);
  persistent.start();
  CHECK_THROWS_WITH_AS(persistent.start(), doctest::Contains("call wait() first"), Error);
  persistent.wait();
  persistent.start();
  while (!persistent.test()) std::this_thread::yield();
  persistent.start();
  persistent.wait();
  const int size = communicator.size();
  CHECK(values == std::vector<int>(3, size * size * size));
}

}  // namespace
}  // namespace hycoll::tests
