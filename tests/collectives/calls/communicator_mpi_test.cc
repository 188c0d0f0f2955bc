// Communicators under real MPI: one member per process; blocking, nonblocking and persistent calls.

#include <doctest/doctest.h>
#include <hycoll/hycoll.h>
#include <mpi.h>

#include <cstdint>
#include <thread>
#include <vector>

#include "tests/support/allreduce_values.h"

namespace hycoll {
namespace communicator_mpi_test {

using tests::contribution;
using tests::expected_sum;

Options options_with(int workers, int lanes = 0, const char* algorithm = "auto") {
  Options options;
  options.workers = workers;
  options.lanes = lanes;
  options.algorithm = algorithm;
  return options;
}

constexpr std::size_t kCounts[] = {1, 2, 3, 17, 64, 1000, 1023, 5000, 40'000, 300'001};

TEST_CASE("blocking calls of any size, in place and not, with one worker and with a pool") {
  for (const int workers : {1, 2, 3}) {
    Communicator communicator(MPI_COMM_WORLD, options_with(workers));
    CHECK(communicator.worker_count() == workers);
    int salt = 0;
    for (const std::size_t count : kCounts) {
      CAPTURE(count);
      std::vector<std::int32_t> input = contribution(communicator.rank(), count, ++salt);
      std::vector<std::int32_t> output(count, -1);
      communicator.allreduce(std::span<const std::int32_t>(input), std::span<std::int32_t>(output));
      REQUIRE(output == expected_sum(communicator.size(), count, salt));
      communicator.allreduce(std::span<std::int32_t>(input));
      REQUIRE(input == output);
    }
  }
}

TEST_CASE("processes may have different numbers of workers") {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  Communicator communicator(MPI_COMM_WORLD, options_with(1 + rank % 3, 0, "dpml-ring"));
  std::vector<std::int32_t> values = contribution(communicator.rank(), 10'000, 1);
  communicator.allreduce(std::span<std::int32_t>(values));
  CHECK(values == expected_sum(communicator.size(), 10'000, 1));
}

TEST_CASE("every algorithm by name, with lanes beyond the workers where it has lanes") {
  for (const char* algorithm :
       {"dpml-recursive-doubling", "dpml-ring", "dpml-halving-doubling", "dpml-native"}) {
    for (const int lanes : {1, 2, 5}) {
      CAPTURE(algorithm);
      CAPTURE(lanes);
      Communicator communicator(MPI_COMM_WORLD, options_with(2, lanes, algorithm));
      for (const std::size_t count : {1, 100, 30'000}) {
        std::vector<std::int32_t> values = contribution(communicator.rank(), count, 5);
        communicator.allreduce(std::span<std::int32_t>(values));
        REQUIRE(values == expected_sum(communicator.size(), count, 5));
      }
    }
  }
  for (const char* algorithm :
       {"recursive-doubling", "ring", "halving-doubling", "single-leader-native", "lines-native",
        "lines-recursive-doubling", "smp-binomial", "smp-butterfly"}) {
    CAPTURE(algorithm);
    Communicator communicator(MPI_COMM_WORLD, options_with(1, 1, algorithm));
    std::vector<std::int32_t> values = contribution(communicator.rank(), 3'000, 6);
    communicator.allreduce(std::span<std::int32_t>(values));
    REQUIRE(values == expected_sum(communicator.size(), 3'000, 6));
  }
}

TEST_CASE("pipelined algorithms with one and with several parts") {
  for (const char* algorithm :
       {"dpml-pipelined-recursive-doubling", "dpml-pipelined-ring",
        "dpml-pipelined-halving-doubling", "dpml-pipelined-native", "colour-rings"}) {
    for (const int lanes : {1, 3}) {
      CAPTURE(algorithm);
      CAPTURE(lanes);
      Communicator communicator(MPI_COMM_WORLD, options_with(2, lanes, algorithm));
      for (const std::size_t count : {1, 30'000, 600'000}) {
        std::vector<std::int32_t> values = contribution(communicator.rank(), count, 7);
        communicator.allreduce(std::span<std::int32_t>(values));
        REQUIRE(values == expected_sum(communicator.size(), count, 7));
      }
    }
  }
}

TEST_CASE("nonblocking calls run in the background, several at a time, mixed with blocking ones") {
  Communicator communicator(MPI_COMM_WORLD, options_with(2));
  constexpr int kCalls = 8;
  std::vector<std::vector<std::int32_t>> inputs;
  std::vector<std::vector<std::int32_t>> outputs;
  std::vector<Request> requests;
  for (int call = 0; call < kCalls; ++call) {
    const std::size_t count = kCounts[static_cast<std::size_t>(call)];
    inputs.push_back(contribution(communicator.rank(), count, call));
    outputs.emplace_back(count, -1);
  }
  for (std::size_t call = 0; call < kCalls; ++call) {
    requests.push_back(communicator.iallreduce(std::span<const std::int32_t>(inputs[call]),
                                               std::span<std::int32_t>(outputs[call])));
  }
  CHECK(communicator.allreduce(std::int64_t{2}) == 2 * communicator.size());
  for (std::size_t call = kCalls; call-- > 0;) {
    requests[call].wait();
    CHECK(requests[call].test());
    REQUIRE(outputs[call] ==
            expected_sum(communicator.size(), outputs[call].size(), static_cast<int>(call)));
  }
}

TEST_CASE("requests of two communicators may be waited for in different orders") {
  Communicator first(MPI_COMM_WORLD, options_with(1));
  Communicator second(MPI_COMM_WORLD, options_with(1));
  const bool swapped = first.rank() % 2 == 1;
  std::vector<std::int32_t> a = contribution(first.rank(), 20'000, 1);
  std::vector<std::int32_t> b = contribution(first.rank(), 20'000, 2);
  const auto start = [](Communicator& communicator, std::vector<std::int32_t>& values) {
    return communicator.iallreduce(values.data(), values.data(), values.size(), DataType::int32,
                                   Operator::sum);
  };
  Request one = swapped ? start(second, b) : start(first, a);
  Request two = swapped ? start(first, a) : start(second, b);
  one.wait();
  two.wait();
  CHECK(a == expected_sum(first.size(), 20'000, 1));
  CHECK(b == expected_sum(first.size(), 20'000, 2));
}

TEST_CASE("persistent calls can be started, tested, waited for and run many times") {
  Communicator communicator(MPI_COMM_WORLD, options_with(2));
  for (const std::size_t count : {std::size_t{0}, std::size_t{5}, std::size_t{50'000}}) {
    std::vector<std::int32_t> input(count);
    std::vector<std::int32_t> output(count);
    Persistent persistent = communicator.allreduce_init(input.data(), output.data(), count,
                                                        DataType::int32, Operator::sum);
    for (int round = 0; round < 10; ++round) {
      const std::vector<std::int32_t> fresh = contribution(communicator.rank(), count, round);
      std::copy(fresh.begin(), fresh.end(), input.begin());
      if (round % 2 == 0) {
        persistent.run();
      } else {
        persistent.start();
        persistent.wait();
        CHECK(persistent.test());
      }
      REQUIRE(output == expected_sum(communicator.size(), count, round));
    }
  }
}

TEST_CASE("a process that waits in a collective serves its other MPI traffic") {
  Communicator communicator(MPI_COMM_WORLD, options_with(1));
  if (communicator.size() < 2) return;
  std::vector<char> message(8 << 20, static_cast<char>(communicator.rank()));
  MPI_Request request = MPI_REQUEST_NULL;
  if (communicator.rank() == 0) {
    MPI_Isend(message.data(), static_cast<int>(message.size()), MPI_CHAR, 1, 0, MPI_COMM_WORLD,
              &request);
    CHECK(communicator.allreduce(1) == communicator.size());
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else if (communicator.rank() == 1) {
    MPI_Recv(message.data(), static_cast<int>(message.size()), MPI_CHAR, 0, 0, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    CHECK(message.back() == 0);
    CHECK(communicator.allreduce(1) == communicator.size());
  } else {
    CHECK(communicator.allreduce(1) == communicator.size());
  }
}

TEST_CASE("threads use different communicators at once") {
  Communicator first(MPI_COMM_WORLD, options_with(1));
  Communicator second(MPI_COMM_WORLD, options_with(1));
  const auto work = [](Communicator& communicator, int salt, int& wrong) {
    for (int round = 0; round < 20; ++round) {
      std::vector<std::int32_t> values = contribution(communicator.rank(), 3'000, salt + round);
      communicator.allreduce(std::span<std::int32_t>(values));
      if (values != expected_sum(communicator.size(), 3'000, salt + round)) ++wrong;
    }
  };
  int wrong_first = 0;
  int wrong_second = 0;
  std::thread other([&] { work(second, 100, wrong_second); });
  work(first, 1, wrong_first);
  other.join();
  CHECK(wrong_first == 0);
  CHECK(wrong_second == 0);
}

TEST_CASE("many thread-local inputs are reduced into one output") {
  Communicator communicator(MPI_COMM_WORLD, options_with(2));
  for (const std::size_t count : {std::size_t{3}, std::size_t{400'000}}) {
    std::vector<std::vector<std::int32_t>> copies;
    std::vector<const void*> inputs;
    for (int copy = 0; copy < 5; ++copy)
      copies.push_back(contribution(5 * communicator.rank() + copy, count, 2));
    for (const auto& copy : copies) inputs.push_back(copy.data());
    std::vector<std::int32_t> output(count, -1);
    communicator.allreduce_many(inputs, output.data(), count, DataType::int32, Operator::sum);
    CHECK(output == expected_sum(5 * communicator.size(), count, 2));
  }
  std::vector<double> output(3);
  CHECK_THROWS_WITH_AS(
      communicator.allreduce_many({}, output.data(), 3, DataType::float64, Operator::sum),
      doctest::Contains("inputs is empty"), Error);
}

TEST_CASE("all operators on all types agree with arithmetic") {
  Communicator communicator(MPI_COMM_WORLD, options_with(1));
  const int size = communicator.size();
  const int rank = communicator.rank();
  CHECK(communicator.allreduce(static_cast<std::int8_t>(rank + 1), Operator::sum) ==
        size * (size + 1) / 2);
  CHECK(communicator.allreduce(static_cast<std::uint16_t>(rank + 10), Operator::max) == size + 9);
  CHECK(communicator.allreduce(static_cast<std::int64_t>(rank - 4), Operator::min) == -4);
  CHECK(communicator.allreduce(2.0, Operator::prod) == static_cast<double>(1 << size));
  CHECK(communicator.allreduce(1u << rank, Operator::bit_or) == (1u << size) - 1);
  CHECK(communicator.allreduce(rank, Operator::logical_and) == 0);
  // A single contribution is passed through as it is, like in MPI.
  CHECK(communicator.allreduce(rank == 0 ? 3 : 0, Operator::logical_or) == (size == 1 ? 3 : 1));
}

TEST_CASE("with checking between processes, different counts are an error everywhere") {
  Options options = options_with(1);
  options.checking = Options::Checking::all_processes;
  Communicator communicator(MPI_COMM_WORLD, options);
  CHECK(communicator.allreduce(1) == communicator.size());
  if (communicator.size() < 2) return;
  std::vector<int> values(static_cast<std::size_t>(10 + (communicator.rank() == 1 ? 1 : 0)), 1);
  CHECK_THROWS_WITH_AS(communicator.allreduce(std::span<int>(values)),
                       doctest::Contains("passed allreduce, count 11, type int32, operator sum"),
                       Error);
  CHECK(communicator.allreduce(1) == communicator.size());
}

TEST_CASE("bad input is refused with the argument and the remedy") {
  CHECK_THROWS_WITH_AS(Communicator(MPI_COMM_WORLD, options_with(-1)),
                       doctest::Contains("HYCOLL_WORKERS"), Error);
  CHECK_THROWS_WITH_AS(Communicator(MPI_COMM_WORLD, options_with(2, 17)),
                       doctest::Contains("0 (automatic) to 16 lanes"), Error);
  Communicator communicator(MPI_COMM_WORLD, options_with(1));
  std::vector<int> input(4);
  std::vector<int> output(3);
  CHECK_THROWS_WITH_AS(communicator.allreduce(std::span<const int>(input), std::span<int>(output)),
                       doctest::Contains("input has 4 elements and output has 3"), Error);
  communicator.allreduce(nullptr, nullptr, 0, DataType::int32, Operator::sum);
}

}  // namespace communicator_mpi_test
}  // namespace hycoll
