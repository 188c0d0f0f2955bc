// Aggregators under real MPI: the last processes have no members and combine what the others send.

#include <doctest/doctest.h>
#include <hycoll/hycoll.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <complex>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/allreduce_values.h"
#include "tests/support/team_threads.h"
#include "tests/support/world.h"
#include "threading/transport/mpi/mpi_types.h"

namespace hycoll {
namespace {

using tests::contribution;
using tests::expected_sum;
using tests::failures_of_threads;
using tests::world_rank;
using tests::world_size;

Options options_with(int aggregators, const char* algorithm, int lanes = 0) {
  Options options;
  options.aggregators = aggregators;
  options.algorithm = algorithm;
  options.lanes = lanes;
  options.workers = 1;
  options.timeout = std::chrono::seconds(60);
  return options;
}

/// Whether blocking calls in place and not, a nonblocking one and a persistent one yield the sum.
/// `Caller` is a Communicator or a Member.
template <class Caller>
bool sums_are_right(Caller& caller, std::size_t count, int salt) {
  const std::vector<std::int32_t> sum = expected_sum(caller.size(), count, salt);
  std::vector<std::int32_t> input = contribution(caller.rank(), count, salt);
  std::vector<std::int32_t> outputs[3];
  for (auto& output : outputs) output.assign(count, -1);
  caller.allreduce(input, outputs[0]);
  Request request = caller.iallreduce(input, outputs[1]);
  request.wait();
  Persistent persistent = caller.allreduce_init(input, outputs[2]);
  persistent.start();
  persistent.wait();
  for (const auto& output : outputs) {
    if (output != sum) return false;
  }
  outputs[2].assign(count, -1);
  persistent.run();
  caller.allreduce(input);
  return outputs[2] == sum && input == sum;
}

constexpr std::size_t kCounts[] = {0, 1, 2, 3, 17, 1000, 4099, 40'000, 300'001};

template <class Caller>
int wrong_counts(Caller& caller) {
  int wrong = 0;
  for (const std::size_t count : kCounts) {
    if (!sums_are_right(caller, count, static_cast<int>(count % 89))) ++wrong;
  }
  return wrong;
}

/// Calls body(aggregators) for 1 and 2 aggregators, as far as processes with members remain.
template <class Body>
void for_aggregator_counts(const Body& body) {
  for (int aggregators = 1; aggregators <= 2 && aggregators < world_size(); ++aggregators) {
    CAPTURE(aggregators);
    body(aggregators);
  }
}

TEST_CASE("communicators: members are counted without the aggregators, which serve them") {
  for_aggregator_counts([](int aggregators) {
    for (const char* algorithm : {"node-leader", "socket-leader"}) {
      CAPTURE(algorithm);
      Communicator communicator(MPI_COMM_WORLD, options_with(aggregators, algorithm));
      const int members = world_size() - aggregators;
      CHECK(communicator.size() == members);
      CHECK(communicator.is_aggregator() == (world_rank() >= members));
      if (communicator.is_aggregator()) {
        CHECK(communicator.rank() == -1);
        communicator.serve();
        communicator.serve();  // once more: there is nothing left to wait for
        continue;
      }
      CHECK(communicator.rank() == world_rank());
      CHECK(communicator.choice(calls::barrier()).algorithm == algorithm);
      CHECK(wrong_counts(communicator) == 0);
    }
  });
}

TEST_CASE("pools of workers on the nodes, and lanes without members") {
  for_aggregator_counts([](int aggregators) {
    for (const int lanes : {1, 2, 3}) {
      CAPTURE(lanes);
      Options options = options_with(aggregators, "socket-leader", lanes);
      options.workers = 2;
      Communicator communicator(MPI_COMM_WORLD, options);
      if (communicator.is_aggregator()) continue;  // the destructor serves as well
      CHECK(communicator.choice(calls::barrier()).lanes == lanes);
      CHECK(wrong_counts(communicator) == 0);
    }
  });
}

TEST_CASE("teams: unequal thread counts, one lane and several") {
  for_aggregator_counts([](int aggregators) {
    for (const int lanes : {0, 1, 2, 3}) {
      CAPTURE(lanes);
      Team team(MPI_COMM_WORLD, 1 + (world_rank() + 1) % 3,
                options_with(aggregators, lanes == 0 ? "node-leader" : "socket-leader", lanes));
      if (team.is_aggregator()) {
        CHECK(team.thread_count() == 0);
        if (lanes % 2 == 0) team.serve();
        continue;
      }
      CHECK(team.thread_count() == 1 + (world_rank() + 1) % 3);
      CHECK(failures_of_threads(team, [](Member& member) {
              int wrong = 0;
              for (const std::size_t count : {0, 1, 3, 64, 1000, 70'001, 300'001}) {
                if (!sums_are_right(member, count, 7)) ++wrong;
              }
              return wrong;
            }) == 0);
    }
  });
}

/// Whether broadcasts of every size reach everybody from every root.
template <class Caller>
int wrong_broadcasts(Caller& caller) {
  int wrong = 0;
  for (const std::size_t count : kCounts) {
    for (int root = 0; root < caller.size(); ++root) {
      const std::vector<std::int32_t> sent = contribution(root, count, static_cast<int>(count % 7));
      std::vector<std::int32_t> values(count, -1);
      if (caller.rank() == root) values = sent;
      caller.broadcast(std::span(values), root);
      if (values != sent) ++wrong;
    }
  }
  return wrong;
}

TEST_CASE("broadcasts are multicast by the aggregators, from every root") {
  for_aggregator_counts([](int aggregators) {
    Options options =
        options_with(aggregators, "allreduce:socket-leader,broadcast:core-specialised", 2);
    options.workers = 2;
    {
      Communicator communicator(MPI_COMM_WORLD, options);
      if (!communicator.is_aggregator()) {
        CHECK(communicator.choice(calls::broadcast(nullptr, 1, DataType::int32, 0)).algorithm ==
              "core-specialised");
        CHECK(wrong_broadcasts(communicator) == 0);
        CHECK(sums_are_right(communicator, 100, 1));
      }
    }
    Team team(MPI_COMM_WORLD, 1 + (world_rank() + 1) % 3, options);
    if (team.is_aggregator()) return;
    CHECK(failures_of_threads(team, [](Member& member) { return wrong_broadcasts(member); }) == 0);
  });
}

TEST_CASE("many calls are under way at once, with and without aggregators") {
  for_aggregator_counts([](int aggregators) {
    Communicator communicator(
        MPI_COMM_WORLD, options_with(aggregators, "allreduce:node-leader,reduce:dpml-binomial"));
    if (communicator.is_aggregator()) return;
    const int members = communicator.size();
    constexpr int kCalls = 9;
    std::vector<std::vector<std::int32_t>> inputs;
    std::vector<std::vector<std::int32_t>> outputs;
    std::vector<Request> requests;
    for (int call = 0; call < kCalls; ++call) {
      const std::size_t count = kCounts[static_cast<std::size_t>(call)];
      inputs.push_back(contribution(communicator.rank(), count, call));
      outputs.emplace_back(count, -1);
    }
    for (std::size_t call = 0; call < kCalls; ++call) {
      // A reduce to every member in turn goes between the members alone.
      requests.push_back(call % 3 != 2
                             ? communicator.iallreduce(inputs[call], outputs[call])
                             : communicator.ireduce(inputs[call], outputs[call], Operator::sum,
                                                    static_cast<int>(call) % members));
    }
    CHECK(communicator.allreduce(std::int64_t{2}) == 2 * members);
    for (std::size_t call = kCalls; call-- > 0;) {
      requests[call].wait();
      if (call % 3 == 2 && communicator.rank() != static_cast<int>(call) % members) continue;
      REQUIRE(outputs[call] == expected_sum(members, outputs[call].size(), static_cast<int>(call)));
    }
  });
}

TEST_CASE("other collectives and algorithms go between the members alone") {
  for_aggregator_counts([](int aggregators) {
    for (const std::string algorithm : {"auto", "dpml-ring", "node-leader", "socket-leader"}) {
      CAPTURE(algorithm);
      const std::string algorithms = "allreduce:" + algorithm +
                                     ",reduce:dpml-ring,reduce_scatter:dpml-pairwise,"
                                     "scan:dpml-recursive-doubling";
      Options options = options_with(aggregators, algorithms.c_str());
      options.checking = Options::Checking::all_processes;
      Communicator communicator(MPI_COMM_WORLD, options);
      if (communicator.is_aggregator()) continue;
      const int rank = communicator.rank();
      const int members = communicator.size();
      for (int round = 0; round < 2; ++round) {
        CHECK(sums_are_right(communicator, 5'000, round));
        std::vector<std::int32_t> values = contribution(rank, 100, round);
        communicator.reduce(values, values, Operator::sum, members - 1);
        if (rank == members - 1) CHECK(values == expected_sum(members, 100, round));
        values = contribution(rank, 50, round);
        communicator.scan(values, values);
        CHECK(values == expected_sum(rank + 1, 50, round));
        communicator.barrier();
        std::int32_t block = -1;
        const std::vector<std::int32_t> blocks(static_cast<std::size_t>(members), rank + round);
        communicator.reduce_scatter_block(blocks, std::span(&block, 1));
        CHECK(block == members * (members - 1) / 2 + members * round);
      }
    }
  });
}

TEST_CASE("several communicators are served at once, in any order") {
  for_aggregator_counts([](int aggregators) {
    std::vector<std::unique_ptr<Communicator>> communicators;
    for (int i = 0; i < 3; ++i) {
      communicators.push_back(std::make_unique<Communicator>(
          MPI_COMM_WORLD, options_with(aggregators, i % 2 == 0 ? "node-leader" : "socket-leader")));
    }
    if (!communicators.front()->is_aggregator()) {
      for (const int i : {0, 2, 1, 1, 0, 2}) {
        CHECK(sums_are_right(*communicators[static_cast<std::size_t>(i)], 3'001, i));
      }
    }
    for (const std::size_t i : {1, 0, 2}) communicators[i].reset();
  });
}

TEST_CASE("an aggregator that serves one communicator serves the other one too") {
  for_aggregator_counts([](int aggregators) {
    Communicator first(MPI_COMM_WORLD, options_with(aggregators, "node-leader"));
    auto second =
        std::make_unique<Communicator>(MPI_COMM_WORLD, options_with(aggregators, "socket-leader"));
    if (first.is_aggregator()) {
      second->serve();
      second.reset();
      first.serve();
      return;
    }
    CHECK(sums_are_right(first, 100, 1));
    CHECK(sums_are_right(*second, 100, 2));
    bool is_right = false;
    std::thread other([&] { is_right = sums_are_right(first, 50'000, 3); });
    CHECK(sums_are_right(*second, 50'000, 4));
    other.join();
    CHECK(is_right);
    second.reset();
    CHECK(sums_are_right(first, 100, 5));
  });
}

TEST_CASE("calls that come late find a dozing aggregator") {
  Communicator communicator(MPI_COMM_WORLD, options_with(1, "node-leader"));
  if (communicator.is_aggregator()) return;
  for (int round = 0; round < 3; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20 + 5 * communicator.rank()));
    CHECK(sums_are_right(communicator, 1'000, round));
  }
}

TEST_CASE("the aggregators are the last processes of the parent, whichever those are") {
  MPI_Comm reversed = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank(), &reversed);
  {
    Communicator communicator(reversed, options_with(1, "node-leader"));
    CHECK(communicator.is_aggregator() == (world_rank() == 0));
    if (!communicator.is_aggregator()) {
      CHECK(communicator.rank() == world_size() - 1 - world_rank());
      CHECK(wrong_counts(communicator) == 0);
    }
  }
  MPI_Comm_free(&reversed);
}

/// Small numbers, which every operator on every type combines exactly in any order.
std::vector<std::byte> small_numbers(DataType type, int rank, std::size_t count) {
  std::vector<std::byte> bytes(count * size_of(type));
  std::vector<std::int32_t> numbers(count);
  for (std::size_t i = 0; i < count; ++i) {
    numbers[i] = static_cast<std::int32_t>((i * 7 + static_cast<std::size_t>(rank) * 3) % 3);
  }
  for (std::size_t i = 0; i < count; ++i) {
    std::byte* const to = bytes.data() + i * size_of(type);
    const auto store = [&](auto value) { std::memcpy(to, &value, sizeof(value)); };
    if (type == DataType::float32) {
      store(static_cast<float>(numbers[i]));
    } else if (type == DataType::float64) {
      store(static_cast<double>(numbers[i]));
    } else {
      std::memcpy(to, &numbers[i], std::min(size_of(type), sizeof(numbers[i])));
    }
  }
  return bytes;
}

TEST_CASE("every predefined operator on every type of hycoll's, as MPI does it") {
  constexpr std::size_t kCount = 37;
  Communicator communicator(MPI_COMM_WORLD, options_with(1, "node-leader"));
  MPI_Comm members = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, communicator.is_aggregator() ? MPI_UNDEFINED : 0, 0, &members);
  if (communicator.is_aggregator()) return;
  for (int t = 0; t < kDataTypeCount; ++t) {
    for (int o = 0; o < kOperatorCount; ++o) {
      const auto type = static_cast<DataType>(t);
      const auto op = static_cast<Operator>(o);
      if (!is_defined_for(op, type)) continue;
      CAPTURE(name_of(type));
      CAPTURE(name_of(op));
      const auto input = small_numbers(type, communicator.rank(), kCount);
      std::vector<std::byte> own(input.size(), std::byte{0x5a});
      std::vector<std::byte> mpis(input.size(), std::byte{0xa5});
      communicator.allreduce(input.data(), own.data(), kCount, type, op);
      MPI_Allreduce(input.data(), mpis.data(), static_cast<int>(kCount), mpi_type_of(type),
                    mpi_operator_of(op), members);
      // What a logical operator makes of a single contribution is up to the library.
      const bool is_logical = op >= Operator::logical_and && op <= Operator::logical_xor;
      if (is_logical && communicator.size() == 1) mpis = input;
      REQUIRE(own == mpis);
    }
  }
  MPI_Comm_free(&members);
}

TEST_CASE("what an aggregator cannot combine is refused, and the rest goes on") {
  using doctest::Contains;
  Communicator communicator(MPI_COMM_WORLD,
                            options_with(1, "allreduce:node-leader,reduce:lines-binomial"));
  if (communicator.is_aggregator()) return;
  std::vector<std::complex<double>> complex(5);
  CHECK_THROWS_WITH_AS(
      communicator.allreduce(complex.data(), complex.data(), 5, ElementType(MPI_CXX_DOUBLE_COMPLEX),
                             Operation(MPI_SUM)),
      Contains("'node-leader' combines elements on aggregators"), Error);
  const auto larger = Operation::custom(
      [](const void* left, void* right, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
          auto& result = static_cast<std::int32_t*>(right)[i];
          result = std::max(static_cast<const std::int32_t*>(left)[i], result);
        }
      },
      Commutativity::commutative);
  std::vector<std::int32_t> values(5, communicator.rank());
  CHECK_THROWS_WITH_AS(communicator.allreduce(values, larger),
                       Contains("choose another algorithm, or 'auto'"), Error);
  CHECK_THROWS_WITH_AS((void)communicator.allreduce_init(values, values, larger),
                       Contains("no operators of the user's"), Error);
  CHECK_THROWS_WITH_AS(communicator.run(calls::allreduce(values, values).reproducible()),
                       Contains("its bits are to be reproducible"), Error);
  CHECK(sums_are_right(communicator, 1000, 2));
  // The members agree on how it went by a call that the aggregator takes part in.
  communicator.reduce(values, values, larger, 0);
  if (communicator.rank() == 0) CHECK(values.back() == communicator.size() - 1);
  CHECK(sums_are_right(communicator, 1000, 3));
}

TEST_CASE("an aggregator makes no calls, and members do not serve") {
  using doctest::Contains;
  Communicator communicator(MPI_COMM_WORLD, options_with(1, "node-leader"));
  Team team(MPI_COMM_WORLD, 2, options_with(1, "socket-leader"));
  std::vector<std::int32_t> values(5);
  if (communicator.is_aggregator()) {
    const auto says = Contains("is an aggregator (Options::aggregators is 1)");
    CHECK_THROWS_WITH_AS(communicator.allreduce(values), says, Error);
    CHECK_THROWS_WITH_AS((void)communicator.ibarrier(), says, Error);
    CHECK_THROWS_WITH_AS((void)communicator.allreduce_init(values, values), says, Error);
    CHECK_THROWS_WITH_AS((void)communicator.choice(calls::barrier()), says, Error);
    CHECK_THROWS_WITH_AS(
        communicator.allreduce_many({}, values.data(), 5, DataType::int32, Operator::sum), says,
        Error);
    CHECK_THROWS_WITH_AS((void)team.join(0), says, Error);
    CHECK_THROWS_WITH_AS((void)team.choice(calls::barrier()), says, Error);
  } else {
    CHECK_THROWS_WITH_AS(communicator.serve(), Contains("this process is no aggregator"), Error);
    CHECK_THROWS_WITH_AS(team.serve(), Contains("this process is no aggregator"), Error);
  }
}

TEST_CASE("numbers of aggregators that do not fit the processes are an error everywhere") {
  using doctest::Contains;
  for (const int aggregators : {-1, world_size(), world_size() + 3}) {
    const std::string says = "aggregators (HYCOLL_AGGREGATORS) is " + std::to_string(aggregators) +
                             ", but of " + std::to_string(world_size()) + " processes 0 to " +
                             std::to_string(world_size() - 1);
    CHECK_THROWS_WITH_AS(Communicator(MPI_COMM_WORLD, options_with(aggregators, "auto")),
                         Contains(says.c_str()), Error);
  }
  const int disagreeing = world_rank() == world_size() - 1 ? 1 : 0;
  CHECK_THROWS_WITH_AS(Team(MPI_COMM_WORLD, 2, options_with(disagreeing, "auto")),
                       Contains("pass the same on every process"), Error);
}

TEST_CASE("what members cannot do is an error on the aggregators too") {
  Options options = options_with(1, "socket-leader", 8);
  options.placement = "one_per_package";
  options.workers = 8;
  int failures = 0;
  try {
    const Communicator communicator(MPI_COMM_WORLD, options);
  } catch (const Error& error) {  // few machines have so many packages
    CHECK(error.kind() == ErrorKind::unsupported);
    failures = 1;
  }
  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK((failures == 0 || failures == world_size()));
}

TEST_CASE("algorithms that do not go with the aggregators are refused") {
  using doctest::Contains;
  const auto refuses = [](int aggregators, const char* algorithm, int lanes, const char* says) {
    Communicator communicator(MPI_COMM_WORLD, options_with(aggregators, algorithm, lanes));
    if (communicator.is_aggregator()) return;
    CHECK_THROWS_WITH_AS((void)communicator.allreduce(1), Contains(says), Error);
  };
  refuses(1, "dpml-native", 0, "whose lanes lead to the 1 aggregator(s) too");
  refuses(0, "node-leader", 0, "set Options::aggregators (HYCOLL_AGGREGATORS, --aggregators)");
  refuses(1, "node-leader", 2, "serves shapes with 1 lane whose last nodes are aggregators");
}

/// Members of the only process with members pass different counts; how many have met the error.
int disagree(Team& team) {
  return failures_of_threads(team, [](Member& member) {
    std::vector<int> values(static_cast<std::size_t>(5 + 300 * member.rank()), 1);
    try {
      Request request = member.iallreduce(std::span<int>(values));
      request.wait();
    } catch (const Error& error) {
      return error.kind() == ErrorKind::mismatch ? 1 : 0;
    }
    return 0;
  });
}

TEST_CASE("a call that fails on its members does not keep an aggregator waiting") {
  if (world_size() > 3) return;
  // With one lane: the leaders of several sockets send what their own members passed before they
  // know of the others.
  for (const char* algorithm : {"node-leader", "socket-leader"}) {
    for (const bool goes_on : {false, true}) {
      CAPTURE(algorithm);
      CAPTURE(goes_on);
      Team team(MPI_COMM_WORLD, 2, options_with(world_size() - 1, algorithm, 1));
      if (team.is_aggregator()) continue;
      CHECK(disagree(team) == 2);
      if (!goes_on) continue;
      CHECK(disagree(team) == 2);
      CHECK(failures_of_threads(team, [](Member& member) {
              int wrong = 0;
              for (int round = 0; round < 9; ++round) {
                if (!sums_are_right(member, 1000, round)) ++wrong;
              }
              return wrong;
            }) == 0);
    }
  }
}

}  // namespace
}  // namespace hycoll
