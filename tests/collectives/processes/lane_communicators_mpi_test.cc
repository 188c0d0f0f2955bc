// How many communicators the lanes take of the MPI library's, and that lanes which share one do not
// get each other's messages.

#include <doctest/doctest.h>
#include <hycoll/hycoll.h>
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/world.h"
#include "threading/transport/mpi/mpi_endpoint.h"

namespace {

int duplicates_made = 0;

}  // namespace

/// In the place of the MPI library's.
int MPI_Comm_dup_with_info(MPI_Comm communicator, MPI_Info info, MPI_Comm* made) {
  ++duplicates_made;
  return PMPI_Comm_dup_with_info(communicator, info, made);
}

namespace hycoll::tests {
namespace {

Options with_lanes(int lanes, const std::string& exchange) {
  Options options = Options::from_environment();
  options.workers = 3;
  options.lanes = lanes;
  options.transport = Options::Transport::mpi;  // lanes over UCX do not meet there
  options.algorithm = "allreduce:dpml-" + exchange;
  return options;
}

void check_sums(Communicator& communicator) {
  for (const std::size_t count : {std::size_t{5}, std::size_t{3000}, std::size_t{200'000}}) {
    std::vector<std::int64_t> values(count);
    std::vector<std::int64_t> expected(count);
    for (std::size_t i = 0; i < count; ++i) {
      const auto index = static_cast<std::int64_t>(i);
      values[i] = index * (world_rank() + 1);
      expected[i] = index * world_size() * (world_size() + 1) / 2;
    }
    std::vector<std::int64_t> others = values;
    Request request = communicator.iallreduce(others);
    communicator.allreduce(values);
    request.wait();
    CHECK(values == expected);
    CHECK(others == expected);
  }
}

TEST_CASE("many lanes share a few communicators") {
  for (const char* exchange : {"recursive-doubling", "ring"}) {
    for (const int lanes : {1, 8, 9, 21}) {
      duplicates_made = 0;
      Communicator communicator(MPI_COMM_WORLD, with_lanes(lanes, exchange));
      CHECK(duplicates_made == std::min(lanes, LaneCommunicators::kMaximumCount));
      check_sums(communicator);
    }
  }
}

TEST_CASE("the MPI library's collectives get a communicator for each lane") {
  duplicates_made = 0;
  Communicator communicator(MPI_COMM_WORLD, with_lanes(12, "native"));
  CHECK(duplicates_made == 12);
  check_sums(communicator);
}

TEST_CASE("lanes keep no table of the processes' names") {
  const auto named = std::make_shared<const std::string>("somebody");
  const PeerNames names = [named](int peer) { return *named + " " + std::to_string(peer); };
  const auto own = MpiCommunicator::borrowed(MPI_COMM_WORLD);
  std::vector<std::unique_ptr<MpiEndpoint>> lanes;
  for (int lane = 0; lane < 5; ++lane) {
    lanes.push_back(std::make_unique<MpiEndpoint>(own, nullptr, lane, 5, names));
    CHECK(named.use_count() == lane + 3);
  }
  CHECK(lanes.back()->describe_peer(1) == "somebody 1");
  CHECK(MpiEndpoint(own, nullptr, 0, 1, nullptr).describe_peer(1) == "process 1");
}

}  // namespace
}  // namespace hycoll::tests
