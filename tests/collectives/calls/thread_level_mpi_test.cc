// What communicators do in programs that have a thread level below MPI_THREAD_MULTIPLE.

#include <doctest/doctest.h>
#include <hycoll/hycoll.h>
#include <mpi.h>

#include <array>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <vector>

#include "tests/support/error_kind.h"
#include "tests/support/world.h"
#include "threading/transport/mpi/end_job.h"

namespace hycoll::tests {
namespace {

constexpr std::array kLayouts = {Options::Layout::processes, Options::Layout::per_node};

Options options_for(Options::Layout layout, int workers) {
  Options options;
  options.layout = layout;
  options.workers = workers;
  return options;
}

TEST_CASE("blocking calls need no thread level, and calls that are driven neither") {
  for (const Options::Layout layout : kLayouts) {
    Communicator communicator(MPI_COMM_WORLD, options_for(layout, 1));
    std::vector<double> values(300, 2.0);
    communicator.allreduce(values);
    CHECK(values.back() == 2.0 * world_size());
    DrivenCall call = communicator.drive(calls::allreduce(values));
    while (!call.advance()) {
    }
    call.deliver();
    CHECK(values.front() == 2.0 * world_size() * world_size());
  }
}

TEST_CASE("calls that go on by themselves are refused, and the next one is right") {
  for (const Options::Layout layout : kLayouts) {
    Communicator communicator(MPI_COMM_WORLD, options_for(layout, 1));
    std::vector<double> values(300, 3.0);
    const std::vector<Call> all = {calls::allreduce(values), calls::reduce(values, values),
                                   calls::scan(values, values), calls::broadcast(values),
                                   calls::barrier()};
    for (const Call& call : all) {
      CHECK_THROWS_WITH_AS(static_cast<void>(communicator.start(call)),
                           doctest::Contains("MPI_THREAD_SINGLE"), Error);
      CHECK_THROWS_WITH_AS(static_cast<void>(communicator.prepare(call)),
                           doctest::Contains("request MPI_THREAD_MULTIPLE"), Error);
    }
    communicator.allreduce(values);
    CHECK(values.back() == 3.0 * world_size());
  }
}

/// Room for one communicator of all processes, and in half of it for none.
Options with_little_room() {
  Options options = options_for(Options::Layout::processes, 1);
  options.staging_kib = 1024;
  options.staging_limit_mib = 2 * world_size();
  return options;
}

void check_calls(Communicator& communicator, std::int64_t value) {
  const std::int64_t size = world_size();
  for (const std::size_t count : {std::size_t{1}, std::size_t{900}, std::size_t{200'000}}) {
    std::vector<std::int64_t> values(count, value + world_rank());
    communicator.allreduce(values);
    CHECK(values == std::vector<std::int64_t>(count, size * value + size * (size - 1) / 2));
    // Rows in which members run ahead.
    for (int root = 0; root < size; ++root) {
      std::vector<std::int64_t> own(count, value + root);
      std::vector<std::int64_t> sums(count, -1);
      for (int repetition = 0; repetition < 3; ++repetition) {
        communicator.reduce(own, sums, Operator::sum, root);
        communicator.broadcast(own, root);
      }
      CHECK(own.back() == value + root);
      if (world_rank() == root) CHECK(sums.back() == size * (value + root));
    }
  }
}

TEST_CASE("communicators without room for memory of their own share that of others") {
  std::vector<std::unique_ptr<Communicator>> communicators;
  for (int c = 0; c < 5; ++c) {
    communicators.push_back(std::make_unique<Communicator>(MPI_COMM_WORLD, with_little_room()));
    CHECK_FALSE(communicators.back()->has_own_memory());
  }
  for (int round = 0; round < 2; ++round) {
    for (std::size_t c = 0; c < communicators.size(); ++c) {
      check_calls(*communicators[c], 100 * round + static_cast<std::int64_t>(c));
    }
    // One goes, and another one joins.
    communicators.erase(communicators.begin() + round);
    communicators.push_back(std::make_unique<Communicator>(MPI_COMM_WORLD, with_little_room()));
  }
  std::vector<double> values(3, 1.0);
  CHECK(kind_of_error([&] {
          static_cast<void>(communicators.front()->drive(calls::allreduce(values)));
        }) == ErrorKind::unsupported);
}

TEST_CASE("a failure of an operator belongs to its communicator") {
  Communicator one(MPI_COMM_WORLD, with_little_room());
  Communicator other(MPI_COMM_WORLD, with_little_room());
  const auto fails = [](const void*, void*, std::size_t) { throw std::runtime_error("threw"); };
  const auto adds = [](const void* in, void* inout, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      static_cast<double*>(inout)[i] += static_cast<const double*>(in)[i];
    }
  };
  for (int call = 0; call < 20; ++call) one.barrier();
  for (int round = 0; round < 2; ++round) {
    std::vector<double> values(10, 1.0);
    if (world_size() > 1) {
      CHECK(kind_of_error([&] {
              one.allreduce(values, Operation::custom(fails, Commutativity::commutative));
            }) == ErrorKind::user_operator);
    }
    values.assign(10, 1.0);
    other.allreduce(values, Operation::custom(adds, Commutativity::commutative));
    CHECK(values.back() == world_size());
  }
}

TEST_CASE("calls on communicators that share memory do not match when their order differs") {
  if (world_size() == 1) return;
  Communicator one(MPI_COMM_WORLD, with_little_room());
  Communicator other(MPI_COMM_WORLD, with_little_room());
  Communicator& first = world_rank() == 0 ? one : other;
  std::vector<double> values(10, 1.0);
  CHECK_THROWS_WITH_AS(first.allreduce(values), doctest::Contains("on different communicators"),
                       Error);
}

TEST_CASE("beyond the limit communicators are refused, and there is room again when others go") {
  Options options = with_little_room();
  const auto first = std::make_unique<Communicator>(MPI_COMM_WORLD, options);
  options.staging_kib = 512;  // other memory
  for (int attempt = 0; attempt < 2; ++attempt) {
    CHECK_THROWS_WITH_AS(Communicator(MPI_COMM_WORLD, options),
                         doctest::Contains("HYCOLL_STAGING_LIMIT"), Error);
  }
  check_calls(*first, 7);
}

TEST_CASE("several workers are refused") {
  const Options options = options_for(Options::Layout::per_node, 2);
  CHECK(kind_of_error([&] { Communicator(MPI_COMM_WORLD, options).barrier(); }) ==
        ErrorKind::environment);
}

}  // namespace
}  // namespace hycoll::tests

int main(int argc, char** argv) {
  int provided = -1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &provided);
  if (provided != MPI_THREAD_SINGLE) hycoll::end_job("MPI provides more than was asked for", 1);
  const int failed = doctest::Context(argc, argv).run();
  if (failed != 0) hycoll::end_job("a test case has failed on this rank", failed);
  MPI_Finalize();
  return 0;
}
