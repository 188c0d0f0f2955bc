// The layout processes: the processes of this machine share memory, as one node or as several
// emulated ones.

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <hycoll/hycoll.h>
#include <mpi.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/call_sweeps.h"
#include "tests/support/process_options.h"
#include "tests/support/segment_names.h"
#include "tests/support/world.h"

namespace hycoll::tests {
namespace processes_mpi_test {

constexpr int kNodes[] = {1, 2, 3};

/// More processes than cores mostly wait for each other: what fewer of them have tried is left out.
bool are_many() { return world_size() > 3; }

TEST_CASE("every collective, form, placement and root, for many sizes") {
  for (const int nodes : kNodes) {
    Communicator communicator(MPI_COMM_WORLD, options_with(nodes));
    CHECK(communicator.worker_count() == 1);
    CHECK(communicator.rank() == world_rank());
    CHECK(communicator.size() == world_size());
    std::vector<std::size_t> counts{1, 1000, 70'001};
    if (!are_many()) counts.insert(counts.end(), {0, 64});
    CHECK(sweep_calls(communicator, counts, nodes) == "");
  }
}

TEST_CASE("vectors pass through little memory in many parts") {
  for (const int nodes : kNodes) {
    if (nodes == 2 && are_many()) continue;
    Options options = options_with(nodes);
    options.staging_kib = 64;
    options.single_copy_kib = 0;
    Communicator communicator(MPI_COMM_WORLD, options);
    std::vector<std::size_t> counts{30'000};
    if (!are_many()) counts.push_back(4096);
    CHECK(sweep_calls(communicator, counts, nodes) == "");
  }
}

TEST_CASE("the kernel copies vectors between processes") {
  for (const int nodes : {1, 2}) {
    Options options = options_with(nodes);
    options.single_copy_kib = 1;
    Communicator communicator(MPI_COMM_WORLD, options);
    CHECK(sweep_calls(communicator, {1000, 70'001}, nodes) == "");
  }
}

TEST_CASE("calls of different collectives and sizes are under way at once") {
  for (const int nodes : kNodes) {
    Communicator communicator(MPI_COMM_WORLD, options_with(nodes));
    CHECK(overlap_calls(communicator) == "");
    CHECK(repeat_calls(communicator) == "");
  }
}

TEST_CASE("several lanes, led by different processes, and every exchange between nodes") {
  for (const int nodes : {1, 2}) {
    for (const int lanes : {0, 3}) {
      for (const char* exchange : {"recursive-doubling", "halving-doubling", "ring", "native"}) {
        // On one node nothing is exchanged.
        if (nodes == 1 && exchange != std::string_view("recursive-doubling")) continue;
        int fewest = world_size() / nodes;
        fewest = std::max(1, fewest);
        if (lanes > 8 * fewest) continue;
        Options options = options_with(nodes);
        options.lanes = lanes;
        options.algorithm = std::string("allreduce:dpml-") + exchange;
        Communicator communicator(MPI_COMM_WORLD, options);
        for (const std::size_t count : {std::size_t{3}, std::size_t{50'000}}) {
          CollectiveReference reference{
              .member_count = communicator.size(), .count = count, .block_counts = {}};
          CallTrial trial(reference, communicator.rank(), Placement::separate);
          int round = 0;
          CHECK(call_in_every_form(communicator, trial, round) == "");
        }
      }
    }
  }
}

TEST_CASE("communicators of some of the processes, in any order") {
  const int rank = world_rank();
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &part);
  for (const int nodes : kNodes) {
    Communicator communicator(part, options_with(nodes));
    CHECK(sweep_calls(communicator, {5, 20'000}, nodes) == "");
  }
  MPI_Comm_free(&part);
}

TEST_CASE("no segment has a name once it is in use") {
  Communicator communicator(MPI_COMM_WORLD, options_with(0));
  communicator.barrier();
  CHECK(segment_names_of(getpid()) == 0);
  communicator.barrier();
}

TEST_CASE("many communicators, one after the other and at once") {
  std::vector<std::unique_ptr<Communicator>> communicators;
  for (int i = 0; i < 12; ++i) {
    communicators.push_back(std::make_unique<Communicator>(MPI_COMM_WORLD, options_with(i % 4)));
    if (communicators.size() > 3) communicators.erase(communicators.begin());
    for (const auto& communicator : communicators) {
      CHECK(communicator->allreduce(1 + world_rank()) == world_size() * (world_size() + 1) / 2);
    }
  }
}

/// One process cannot make room for its node's segment.
void check_without_room(int victim, int emulated_nodes) {
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  // A limit on files stands for a full /dev/shm.
  const rlimit limit{.rlim_cur = 64 * 1024, .rlim_max = before.rlim_max};
  if (world_rank() == victim) setrlimit(RLIMIT_FSIZE, &limit);
  const std::string says =
      world_rank() == victim ? "shared memory of" : fmt::format("process {} on host", victim);
  CHECK_THROWS_WITH_AS(Communicator(MPI_COMM_WORLD, options_with(emulated_nodes)),
                       doctest::Contains(says.c_str()), Error);
  setrlimit(RLIMIT_FSIZE, &before);
}

TEST_CASE("if one process cannot make room, all say so, on its node and on others") {
  std::signal(SIGXFSZ, SIG_IGN);
  check_without_room(0, 1);
  check_without_room(world_size() - 1, world_size());
  Communicator communicator(MPI_COMM_WORLD, options_with(0));
  CHECK(communicator.allreduce(1) == world_size());
}

TEST_CASE("options that the layout does not serve, or that differ, are refused on all processes") {
  Options options = options_with(0);
  options.aggregators = world_size() > 1 ? 1 : 0;
  if (options.aggregators > 0) {
    CHECK_THROWS_WITH_AS(Communicator(MPI_COMM_WORLD, options),
                         doctest::Contains("has no aggregators"), Error);
  }
  options = options_with(0);
  options.staging_kib = 63;
  CHECK_THROWS_WITH_AS(Communicator(MPI_COMM_WORLD, options),
                       doctest::Contains("staging_kib (HYCOLL_STAGING_KIB) is 63"), Error);
  if (world_size() == 1) return;
  options.staging_kib = 64 + world_rank();
  CHECK_THROWS_WITH_AS(Communicator(MPI_COMM_WORLD, options),
                       doctest::Contains("is 64 on process 0"), Error);
  options = options_with(0);
  if (world_rank() == 0) options.layout = Options::Layout::per_node;
  CHECK_THROWS_WITH_AS(Communicator(MPI_COMM_WORLD, options),
                       doctest::Contains("layout (HYCOLL_LAYOUT"), Error);
}

TEST_CASE("an element that does not fit is refused on all processes") {
  if (world_size() == 1) return;
  Options options = options_with(1);
  options.staging_kib = 64;
  Communicator communicator(MPI_COMM_WORLD, options);
  // A block of every member must fit, whatever the number of blocks.
  MPI_Datatype wide = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(10'000, MPI_INT64_T, &wide);
  MPI_Type_commit(&wide);
  std::vector<std::int64_t> input(10'000, 1);
  std::vector<std::int64_t> output(10'000, -1);
  const Operation first =
      Operation::custom([](const void*, void*, std::size_t) {}, Commutativity::non_commutative);
  CHECK_THROWS_WITH_AS(
      communicator.allreduce(input.data(), output.data(), 1, ElementType(wide), first),
      doctest::Contains("HYCOLL_STAGING_KIB"), Error);
  CHECK(communicator.allreduce(1) == world_size());
  MPI_Type_free(&wide);
}

}  // namespace processes_mpi_test
}  // namespace hycoll::tests
