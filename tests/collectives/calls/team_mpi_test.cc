// Teams under real MPI: the threads of every process are the members, with unequal thread counts.

#include <doctest/doctest.h>
#include <hycoll/hycoll.h>
#include <mpi.h>

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/team_threads.h"
#include "tests/support/world.h"

namespace hycoll {
namespace team_mpi_test {

using tests::failures_of_threads;
using tests::world_rank;

std::int64_t element(int rank, std::size_t index, int salt) {
  return static_cast<std::int64_t>(index * 7 + 1) * (rank + 1) + salt;
}

int wrong_elements(Member& member, std::size_t count, int salt, bool in_place) {
  std::vector<std::int64_t> input(count);
  std::vector<std::int64_t> output(count, -1);
  for (std::size_t i = 0; i < count; ++i) input[i] = element(member.rank(), i, salt);
  std::int64_t* result = in_place ? input.data() : output.data();
  member.allreduce(input.data(), result, count, DataType::int64, Operator::sum);
  int wrong = 0;
  for (std::size_t i = 0; i < count; ++i) {
    std::int64_t expected = 0;
    for (int rank = 0; rank < member.size(); ++rank) expected += element(rank, i, salt);
    if (result[i] != expected) ++wrong;
  }
  return wrong;
}

TEST_CASE("members of all processes reduce, in any size, with unequal thread counts") {
  Team team(MPI_COMM_WORLD, 1 + world_rank() % 3);
  CHECK(failures_of_threads(team, [](Member& member) {
          int wrong = 0;
          int salt = 0;
          for (const std::size_t count : {1, 2, 7, 63, 64, 65, 300, 1000, 4097, 70'000}) {
            wrong += wrong_elements(member, count, ++salt, false);
            wrong += wrong_elements(member, count, ++salt, true);
            member.barrier();
          }
          return wrong;
        }) == 0);
}

TEST_CASE("every algorithm can be called by name") {
  for (const char* algorithm :
       {"lines-recursive-doubling", "lines-native", "dpml-recursive-doubling", "dpml-ring",
        "dpml-halving-doubling", "dpml-native", "single-leader-recursive-doubling",
        "single-leader-ring", "single-leader-halving-doubling", "single-leader-native"}) {
    CAPTURE(algorithm);
    Options options;
    options.algorithm = algorithm;
    Team team(MPI_COMM_WORLD, 2, options);
    CHECK(failures_of_threads(team, [](Member& member) {
            int wrong = 0;
            for (const std::size_t count : {1, 100, 2000})
              wrong += wrong_elements(member, count, 3, false);
            return wrong;
          }) == 0);
  }
}

TEST_CASE("a worker may drive several lanes") {
  for (const int lanes : {1, 3, 7, 16}) {
    Options options;
    options.lanes = lanes;
    options.algorithm = "dpml-ring";
    Team team(MPI_COMM_WORLD, 2, options);
    CHECK(failures_of_threads(team, [](Member& member) {
            return wrong_elements(member, 5'000, 1, false) + wrong_elements(member, 11, 2, true);
          }) == 0);
  }
}

TEST_CASE("floating-point results have the same bits on every member") {
  Team team(MPI_COMM_WORLD, 2);
  std::vector<std::vector<float>> results(2);
  failures_of_threads(team, [&](Member& member) {
    std::vector<float> values(3000);
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = 1.0f / static_cast<float>(3 * i + 1 + static_cast<std::size_t>(member.rank()));
    }
    member.allreduce(std::span<float>(values));
    results[static_cast<std::size_t>(member.rank() % 2)] = values;
    return 0;
  });
  CHECK(results[0] == results[1]);
  std::vector<float> first = results[0];
  MPI_Bcast(first.data(), static_cast<int>(first.size()), MPI_FLOAT, 0, MPI_COMM_WORLD);
  CHECK(first == results[0]);
}

TEST_CASE("members of one process that pass different counts all get the error") {
  Team team(MPI_COMM_WORLD, 2);
  if (world_rank() == 0) {  // a process of its own: the others would wait for its messages
    Team alone(MPI_COMM_SELF, 2);
    const int thrown = failures_of_threads(alone, [](Member& member) {
      std::vector<int> values(static_cast<std::size_t>(5 + 300 * member.rank()), 1);
      try {
        member.allreduce(std::span<int>(values));
      } catch (const Error& error) {
        const std::string text = error.what();
        return error.kind() == ErrorKind::mismatch &&
                       text.find("rank 0 passed allreduce, count 5,") != std::string::npos &&
                       text.find("rank 1 passed allreduce, count 305,") != std::string::npos
                   ? 1
                   : 0;
      }
      return 0;
    });
    CHECK(thrown == 2);
    CHECK(failures_of_threads(
              alone, [](Member& member) { return wrong_elements(member, 100, 1, false); }) == 0);
  }
}

TEST_CASE("bad input is refused with the argument and the remedy") {
  CHECK_THROWS_WITH_AS(Team(MPI_COMM_WORLD, 0), doctest::Contains("thread_count is 0"), Error);
  Options options;
  options.lanes = 1000;
  CHECK_THROWS_WITH_AS(Team(MPI_COMM_WORLD, 2, options),
                       doctest::Contains("lanes (HYCOLL_LANES) is 1000, but 2 workers"), Error);
  Team team(MPI_COMM_SELF, 1);
  CHECK_THROWS_WITH_AS(team.join(1), doctest::Contains("thread_index is 1"), Error);
  Member member = team.join(0);
  std::vector<double> values(10);
  CHECK_THROWS_WITH_AS(
      member.allreduce(nullptr, values.data(), 10, DataType::float64, Operator::sum),
      doctest::Contains("input is null with count 10"), Error);
  CHECK_THROWS_WITH_AS(
      member.allreduce(values.data(), values.data() + 3, 5, DataType::float64, Operator::sum),
      doctest::Contains("overlap"), Error);
  CHECK_THROWS_WITH_AS(
      member.allreduce(values.data(), values.data(), 5, DataType::float64, Operator::bit_or),
      doctest::Contains("bor is not defined for type double"), Error);
  options.lanes = 0;
  options.algorithm = "quick-ring";
  CHECK_THROWS_WITH_AS(Team(MPI_COMM_SELF, 1, options),
                       doctest::Contains("algorithm 'quick-ring' does not exist"), Error);
}

}  // namespace team_mpi_test
}  // namespace hycoll
