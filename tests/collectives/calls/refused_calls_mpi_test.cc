// Calls that a member cannot make are an error on every member, with the remedy, in every form and
// layout; nothing is written, and the next call works.

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <hycoll/hycoll.h>
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/collective_traits.h"
#include "tests/collectives/calls/refused_calls.h"
#include "tests/support/process_options.h"

namespace hycoll::tests {
namespace refused_calls_mpi_test {

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
  call.op = Operation(MPI_MAXLOC);
  wrong.push_back({call, "a pair of value and index"});
  call.op = Operation(MPI_REPLACE);
  wrong.push_back({call, "pass an operator for collectives"});
  call.op = Operation(MPI_OP_NULL);
  wrong.push_back({call, "operator is MPI_OP_NULL"});
  call = good;
  call.type = ElementType(MPI_CHAR);
  wrong.push_back({call, "characters"});
  call.type = ElementType(MPI_DATATYPE_NULL);
  wrong.push_back({call, "type is MPI_DATATYPE_NULL"});
  call.type = ElementType(MPI_DOUBLE_INT);
  wrong.push_back({call, "sum is not defined for type MPI_DOUBLE_INT"});
}

void add_wrong_buffers(std::vector<WrongCall>& wrong, const Call& good, Room& room) {
  const bool all_have_input = !begins_at_root(good.collective);
  const bool all_have_output =
      !delivers_to_root(good.collective) && good.collective != Collective::exscan;
  const bool all = all_have_input && all_have_output;
  Call call = good;
  call.input = nullptr;
  wrong.push_back({call, "input is null with count", all_have_input});
  call = good;
  call.output = nullptr;
  wrong.push_back({call, "output is null with count", all_have_output});
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

/// Of blocks of 10 elements. Members that have not all blocks do not look at displacements.
void add_wrong_displacements(std::vector<WrongCall>& wrong, Room& room, int members) {
  const auto size = static_cast<std::size_t>(members);
  const std::span<const std::size_t> counts(room.block_counts.data(), size);
  const auto add = [&](Collective collective, std::vector<std::ptrdiff_t> displacements,
                       const std::string& text) {
    Call call = sum_of(room, collective, 0);
    call.block_counts = counts;
    call.displacements = room.displacements.emplace_back(std::move(displacements));
    wrong.push_back({call, text, collective == Collective::allgather || combines(collective)});
  };
  for (const Collective collective :
       {Collective::allgather, Collective::gather, Collective::scatter}) {
    add(collective, std::vector<std::ptrdiff_t>(size + 1, 0),
        fmt::format("displacements has {} entries for {} members", members + 1, members));
    std::vector<std::ptrdiff_t> far(size, 0);
    for (std::size_t i = 0; i < size; ++i) far[i] = static_cast<std::ptrdiff_t>(20 * i);
    far.back() = PTRDIFF_MAX - 3;
    add(collective, far,
        fmt::format("displacements[{}] is {} with block_counts[{}] = 10, beyond what memory can "
                    "have",
                    members - 1, far.back(), members - 1));
    far.back() = PTRDIFF_MIN / 8;
    add(collective, far,
        fmt::format("displacements[{}] is {} elements of 8 bytes, beyond", members - 1,
                    far.back()));
  }
  add(Collective::reduce_scatter, std::vector<std::ptrdiff_t>(size, 0),
      fmt::format("displacements has {} entries, but only unequal blocks that are moved", members));
  if (members == 1) return;
  for (const Collective collective : {Collective::allgather, Collective::gather}) {
    std::vector<std::ptrdiff_t> overlapping(size);
    for (std::size_t i = 0; i < size; ++i) overlapping[i] = static_cast<std::ptrdiff_t>(20 * i);
    overlapping.front() = 11;
    add(collective, overlapping,
        "the blocks of ranks 0 and 1 overlap in the output: displacements[0] is 11 with "
        "block_counts[0] = 10, and displacements[1] is 20");
  }
}

/// Of all-to-alls of unequal blocks.
void add_wrong_pairs(std::vector<WrongCall>& wrong, Room& room, int members) {
  const auto size = static_cast<std::size_t>(members);
  const std::vector<std::size_t>& tens = room.counts.emplace_back(size, 10);
  const Call good =
      calls::alltoallv(room.input.data(), {tens}, room.output.data(), {tens}, DataType::int64);
  Call call = good;
  call.received_counts = {};
  wrong.push_back({call, fmt::format("alltoall: received_counts has 0 entries for {} members; give "
                                     "one for each",
                                     members)});
  call = good;
  call.block_counts = room.counts.emplace_back(size + 1, 10);
  wrong.push_back({call, fmt::format("block_counts has {} entries for {}", members + 1, members)});
  call = good;
  call.received_displacements = room.displacements.emplace_back(size + 2, 0);
  wrong.push_back({call, fmt::format("received_displacements has {} entries", members + 2)});
  call = good;
  call.input = nullptr;
  wrong.push_back({call, "alltoall: input is null with block_counts[0] = 10"});
  call = good;
  call.type = ElementType(MPI_DATATYPE_NULL);
  wrong.push_back({call, "alltoall: type is MPI_DATATYPE_NULL"});
  call = good;
  call.displacements = room.displacements.emplace_back(size, PTRDIFF_MAX / 4);
  wrong.push_back({call, fmt::format("displacements[0] is {} elements of 8 bytes, beyond what "
                                     "memory can have",
                                     PTRDIFF_MAX / 4)});
  call = good;
  call.block_counts = room.counts.emplace_back(size, SIZE_MAX / 4);
  wrong.push_back({call, "more than memory can have"});
  call = good;
  call.output_size = 10 * size + 1;
  wrong.push_back({call, fmt::format("output has {} elements, but must have {} (the sum of "
                                     "received_counts)",
                                     call.output_size, 10 * size)});
  if (members == 1) return;
  std::vector<std::ptrdiff_t>& overlapping = room.displacements.emplace_back(size);
  for (std::size_t i = 0; i < size; ++i) overlapping[i] = static_cast<std::ptrdiff_t>(20 * i);
  overlapping.front() = 11;
  call = good;
  call.received_displacements = overlapping;
  wrong.push_back({call,
                   "the blocks of ranks 0 and 1 overlap in the output: the former has 80 "
                   "bytes, and the latter begins 72 bytes behind it"});
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
  for (const Collective collective :
       {Collective::reduce, Collective::broadcast, Collective::gather, Collective::scatter}) {
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
  broadcast = calls::broadcast(room.output.data(), 3, ElementType(MPI_DATATYPE_NULL), 0);
  wrong.push_back({broadcast, "broadcast: type is MPI_DATATYPE_NULL"});
  for (const Collective collective :
       {Collective::allgather, Collective::gather, Collective::scatter, Collective::alltoall}) {
    const std::string name(name_of(collective));
    Call moved = sum_of(room, collective, 100);
    add_wrong_buffers(wrong, moved, room);
    moved.type = ElementType(MPI_DATATYPE_NULL);
    wrong.push_back({moved, name + ": type is MPI_DATATYPE_NULL"});
  }
  Call blocks = sum_of(room, Collective::reduce_scatter, 0);
  room.block_counts.assign(static_cast<std::size_t>(members) + 1, 10);
  blocks.block_counts = room.block_counts;
  for (const Collective collective : {Collective::reduce_scatter, Collective::allgather,
                                      Collective::gather, Collective::scatter}) {
    blocks.collective = collective;
    wrong.push_back(
        {blocks, fmt::format("block_counts has {} entries for {} members", members + 1, members)});
  }
  add_wrong_displacements(wrong, room, members);
  add_wrong_pairs(wrong, room, members);
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

/// What one member sends is not what another one expects. One of the two ends is shorter: what the
/// first member has for the last one, or the room that the first one has for what the last one
/// sends.
template <class Caller>
std::string try_different_ends(Caller& caller, Form form, bool all_learn) {
  const auto size = static_cast<std::size_t>(caller.size());
  const int rank = caller.rank();
  const int last = caller.size() - 1;
  std::string first;
  for (const std::size_t count : {std::size_t{3}, std::size_t{20'000}}) {
    for (const bool is_sent : {true, false}) {
      std::vector<std::size_t> sent(size, count);
      std::vector<std::size_t> received(size, count);
      if (rank == 0) --(is_sent ? sent : received).back();
      Room room;
      room.input.resize(size * count, 3);
      room.output.resize(size * count, kPoison);
      const Call call = calls::alltoallv(room.input.data(), {sent}, room.output.data(), {received},
                                         DataType::int64);
      std::string text;
      try {
        make(caller, call, form);
      } catch (const Error& error) {
        text = error.what();
      }
      const std::string complaint = fmt::format(
          "alltoall: rank {} has {} bytes for rank {}, which expects {}; pass the same "
          "size on both",
          is_sent ? 0 : last, 8 * (is_sent ? count - 1 : count), is_sent ? last : 0,
          8 * (is_sent ? count : count - 1));
      const bool notices = rank == (is_sent ? last : 0);
      if (notices && text != complaint) note(first, "unexpected: '" + text + "'");
      if (!notices && all_learn && text.empty()) note(first, "not all have learnt of it");
      if (rank == 0 && !is_sent && room.output.back() != kPoison) {
        note(first, "more is written than there is room for");
      }
    }
  }
  note(first, complaint_about_next(caller));
  return first;
}

TEST_CASE("blocks of which two members do not mean the same") {
  for (const Form form : {Form::blocking, Form::nonblocking}) {
    Team team(MPI_COMM_SELF, 3);
    CHECK(in_every_thread(
              team, [&](Member& member) { return try_different_ends(member, form, false); }) == "");
  }
  if (Communicator(MPI_COMM_WORLD, comparing_options()).size() == 1) return;
  // Between nodes, before data move.
  for (const int nodes : {1, 2}) {
    Options options = options_with(nodes);
    options.checking = Options::Checking::all_processes;
    Communicator communicator(MPI_COMM_WORLD, options);
    CHECK(try_different_ends(communicator, Form::blocking, true) == "");
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

}  // namespace refused_calls_mpi_test
}  // namespace hycoll::tests
