// The layout processes: short calls that repeat themselves, and members that run ahead in them.

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <hycoll/hycoll.h>
#include <mpi.h>

#include <chrono>
#include <cstdint>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/process_options.h"

namespace hycoll::tests {
namespace processes_ahead_mpi_test {

TEST_CASE("who only contributes finishes calls that the root has not begun") {
  Communicator communicator(MPI_COMM_WORLD, options_with(1));
  const int last = communicator.size() - 1;
  const int rank = communicator.rank();
  const auto reduce = [&](int call) {
    const std::int64_t input = 100 * call + rank;
    std::int64_t sum = -1;
    communicator.run(
        calls::reduce(&input, rank == 0 ? &sum : nullptr, 1, DataType::int64, Operator::sum, 0));
    if (rank == 0) CHECK(sum == communicator.size() * 100 * call + last * (last + 1) / 2);
  };
  int call = 0;
  while (call < 2) reduce(call++);
  // Without running ahead nobody would get here before the root has come.
  constexpr int kCallsAhead = 3;
  if (rank == 0 && last > 0) {
    MPI_Recv(nullptr, 0, MPI_INT, last, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  for (int ahead = 0; ahead < kCallsAhead; ++ahead) reduce(call++);
  if (rank == last && last > 0) MPI_Send(nullptr, 0, MPI_INT, 0, 0, MPI_COMM_WORLD);
  communicator.barrier();
}

enum class Kind { allreduce, reduce, scan, exscan, reduce_scatter, broadcast, barrier };
constexpr unsigned kKindCount = 7;

/// One call, the same on all members but for its placement.
struct Wish {
  Kind kind;
  std::size_t count;
  int root;
};

/// What member `rank` passes in call `call` as element `index`.
std::int64_t value_of(int rank, int call, std::size_t index) {
  return 1000 * call + 10 * static_cast<std::int64_t>(index) + rank;
}

std::int64_t sum_of(int first, int last, int call, std::size_t index) {
  std::int64_t sum = 0;
  for (int rank = first; rank <= last; ++rank) sum += value_of(rank, call, index);
  return sum;
}

/// Makes a call and looks at its result; "" if that is right.
std::string make(Communicator& communicator, const Wish& wish, int call, bool in_place) {
  const int rank = communicator.rank();
  const int last = communicator.size() - 1;
  const bool scatters = wish.kind == Kind::reduce_scatter;
  const std::size_t input_count =
      scatters ? wish.count * static_cast<std::size_t>(last + 1) : wish.count;
  std::vector<std::int64_t> input(input_count);
  for (std::size_t i = 0; i < input_count; ++i) input[i] = value_of(rank, call, i);
  std::vector<std::int64_t> separate(wish.count, -1);
  std::int64_t* const output = in_place ? input.data() : separate.data();
  Call made = calls::barrier();
  bool has_result = true;
  int first_summed = 0;
  int last_summed = last;
  const DataType type = DataType::int64;
  switch (wish.kind) {
    case Kind::allreduce:
      made = calls::allreduce(input.data(), output, wish.count, type, Operator::sum);
      break;
    case Kind::reduce:
      made = calls::reduce(input.data(), output, wish.count, type, Operator::sum, wish.root);
      has_result = rank == wish.root;
      break;
    case Kind::scan:
      made = calls::scan(input.data(), output, wish.count, type, Operator::sum);
      last_summed = rank;
      break;
    case Kind::exscan:
      made = calls::exscan(input.data(), output, wish.count, type, Operator::sum);
      last_summed = rank - 1;
      has_result = rank > 0;
      break;
    case Kind::reduce_scatter:
      made = calls::reduce_scatter_block(input.data(), output, wish.count, type, Operator::sum);
      break;
    case Kind::broadcast:
      for (std::size_t i = 0; i < wish.count; ++i) {
        output[i] = rank == wish.root ? value_of(rank, call, i) : -1;
      }
      made = calls::broadcast(output, wish.count, type, wish.root);
      first_summed = last_summed = wish.root;
      break;
    case Kind::barrier:
      has_result = false;
  }
  communicator.run(made);
  const std::size_t offset = scatters ? wish.count * static_cast<std::size_t>(rank) : 0;
  for (std::size_t i = 0; has_result && i < wish.count; ++i) {
    const std::int64_t expected = sum_of(first_summed, last_summed, call, offset + i);
    if (output[i] != expected) {
      return fmt::format("call {}, kind {}, count {}, element {}: {} instead of {}", call,
                         static_cast<int>(wish.kind), wish.count, i, output[i], expected);
    }
  }
  return "";
}

TEST_CASE("a long call leaves alone what short ones have staged for members that come late") {
  Options options = options_with(1);
  options.single_copy_kib = 0;
  Communicator communicator(MPI_COMM_WORLD, options);
  constexpr int kShortCalls = 8;
  for (int call = 0; call < 4 * (kShortCalls + 1); ++call) {
    const int place = call % (kShortCalls + 1);
    // By then calls are alike, and the root runs ahead of those who sleep.
    if (place == 2 && communicator.rank() > 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    const std::size_t count = place < kShortCalls ? 1000 : 30'000;
    CHECK(make(communicator, {Kind::broadcast, count, 0}, call, true) == "");
  }
}

TEST_CASE("rows of like calls, of all kinds, with members that come late") {
  constexpr std::size_t kCounts[] = {0, 1, 2, 7, 100, 700, 9000};
  for (const int nodes : {1, 2}) {
    Communicator communicator(MPI_COMM_WORLD, options_with(nodes));
    const unsigned seed = 4711;
    std::mt19937 common(seed);
    std::mt19937 own(seed + 1 + static_cast<unsigned>(communicator.rank()));
    std::string failure;
    for (int call = 0; call < 500 && failure.empty();) {
      const Wish wish{.kind = static_cast<Kind>(common() % kKindCount),
                      .count = kCounts[common() % std::size(kCounts)],
                      .root = static_cast<int>(common() % 5) % communicator.size()};
      const int end = call + 1 + static_cast<int>(common() % 16);
      for (; call < end && failure.empty(); ++call) {
        if (own() % 64 == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
        failure = make(communicator, wish, call, own() % 2 == 0);
      }
    }
    CAPTURE(nodes);
    CAPTURE(seed);
    CHECK(failure == "");
  }
}

TEST_CASE("a call like the last one is checked like the first one") {
  Communicator communicator(MPI_COMM_WORLD, options_with(1));
  std::vector<std::int64_t> values(8, 1);
  const auto sum = [&](const void* input, void* output) {
    communicator.run(calls::allreduce(input, output, 4, DataType::int64, Operator::sum));
  };
  sum(values.data(), values.data() + 4);
  CHECK_THROWS_AS(sum(nullptr, values.data()), Error);
  CHECK_THROWS_AS(sum(values.data(), nullptr), Error);
  CHECK_THROWS_AS(sum(values.data(), values.data() + 1), Error);
  sum(values.data(), values.data() + 4);
  CHECK(values.back() == communicator.size());
  const auto broadcast = [&](void* buffer) {
    communicator.run(calls::broadcast(buffer, 4, DataType::int64, 0));
  };
  broadcast(values.data());
  CHECK_THROWS_AS(broadcast(nullptr), Error);
  broadcast(values.data() + 4);
}

TEST_CASE("members that have run ahead learn that another one makes a different call") {
  Communicator communicator(MPI_COMM_WORLD, options_with(1));
  if (communicator.size() == 1) return;
  constexpr int kDeviatingCall = 10;
  constexpr int kCalls = 40;
  // Through lines, and through short staging.
  for (const Collective collective : {Collective::reduce, Collective::broadcast}) {
    const bool is_reduce = collective == Collective::reduce;
    for (const int deviating : {0, communicator.size() - 1}) {
      std::string errors;
      std::vector<std::int64_t> input(600, 1);
      std::vector<std::int64_t> output(600);
      for (int call = 0; call < kCalls; ++call) {
        const bool deviates = call == kDeviatingCall && communicator.rank() == deviating;
        try {
          communicator.run(is_reduce ? calls::reduce(input.data(), output.data(), deviates ? 4 : 3,
                                                     DataType::int64, Operator::sum, 0)
                                     : calls::broadcast(output.data(), deviates ? 600 : 500,
                                                        DataType::int64, 0));
        } catch (const Error& error) {
          errors += error.what();
        }
      }
      CAPTURE(name_of(collective));
      CAPTURE(deviating);
      CHECK(errors.find(is_reduce ? "count 4" : "4800 bytes") != std::string::npos);
      CHECK(errors.find(is_reduce ? "count 3" : "4000 bytes") != std::string::npos);
      communicator.barrier();
    }
  }
}

}  // namespace processes_ahead_mpi_test
}  // namespace hycoll::tests
