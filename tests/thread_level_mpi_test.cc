// What communicators do in programs that have a thread level below MPI_THREAD_MULTIPLE.

#include <mpi.h>

#include <array>
#include <vector>

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
#include <hycoll/hycoll.h>

#include "tests/error_kind.h"
#include "tests/world.h"
#include "threading/end_job.h"

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
