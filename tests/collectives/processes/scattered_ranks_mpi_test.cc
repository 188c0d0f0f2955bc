// The layout processes where nodes are not neighbouring ranks: dealt in turn, or NUMA domains.

#include <doctest/doctest.h>
#include <hycoll/hycoll.h>
#include <mpi.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "tests/support/call_sweeps.h"

namespace hycoll::tests {
namespace {

int world_size() {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

Options dealt_in_turn(int nodes) {
  Options options = Options::from_environment();
  options.layout = Options::Layout::processes;
  options.emulated_nodes = nodes;
  options.emulated_dealing = Options::EmulatedDealing::cyclic;
  return options;
}

Call sum_of(const Communicator& communicator, Collective collective, std::vector<float>& values) {
  Call call = calls::allreduce(values.data(), values.data(), values.size(), DataType::float32,
                               Operator::sum);
  call.collective = collective;
  call.root = communicator.size() - 1;
  return call;
}

/// The workers that the largest node has in a call: 1 if every process is a node.
int workers_in(const Communicator& communicator, Collective collective,
               Bits bits = Bits::same_on_all_members) {
  std::vector<float> values(4);
  Call call = sum_of(communicator, collective, values);
  call.bits = bits;
  return communicator.choice(call).workers;
}

TEST_CASE("every collective, form, placement and root, with ranks dealt to nodes in turn") {
  for (const int nodes : {2, 3}) {
    Communicator communicator(MPI_COMM_WORLD, dealt_in_turn(nodes));
    CHECK(communicator.has_scattered_ranks() == (world_size() > nodes));
    CHECK(sweep_calls(communicator, {0, 3, 700, 30'000}, nodes) == "");
  }
}

TEST_CASE("calls that keep the order of ranks and calls that do not are under way at once") {
  Communicator communicator(MPI_COMM_WORLD, dealt_in_turn(2));
  CHECK(overlap_calls(communicator) == "");
  CHECK(repeat_calls(communicator) == "");
}

TEST_CASE("only calls whose operands may change places have nodes of scattered ranks") {
  constexpr int kNodes = 2;
  Communicator communicator(MPI_COMM_WORLD, dealt_in_turn(kNodes));
  const int largest = (world_size() + kNodes - 1) / kNodes;
  CHECK(workers_in(communicator, Collective::allreduce) == largest);
  CHECK(workers_in(communicator, Collective::reduce) == largest);
  CHECK(workers_in(communicator, Collective::broadcast) == largest);
  CHECK(communicator.choice(calls::barrier()).workers == largest);
  const int in_rank_order = 1;
  CHECK(workers_in(communicator, Collective::scan) == in_rank_order);
  CHECK(workers_in(communicator, Collective::exscan) == in_rank_order);
  CHECK(workers_in(communicator, Collective::reduce_scatter) == in_rank_order);
  CHECK(workers_in(communicator, Collective::allreduce, Bits::reproducible) == in_rank_order);
  std::vector<float> values(4);
  Call keeps_left = sum_of(communicator, Collective::allreduce, values);
  keeps_left.op =
      Operation::custom([](const void*, void*, std::size_t) {}, Commutativity::non_commutative);
  CHECK(communicator.choice(keeps_left).workers == in_rank_order);
}

TEST_CASE("who has all processes compared, or all bits alike, gets nodes in rank order") {
  Options compared = dealt_in_turn(2);
  compared.checking = Options::Checking::all_processes;
  Options reproducible = dealt_in_turn(2);
  reproducible.bits = Bits::reproducible;
  for (const Options& options : {compared, reproducible}) {
    Communicator communicator(MPI_COMM_WORLD, options);
    CHECK_FALSE(communicator.has_scattered_ranks());
    CHECK(communicator.allreduce(1) == world_size());
  }
}

TEST_CASE("a root that does not exist is refused, and the next call is not disturbed") {
  Communicator communicator(MPI_COMM_WORLD, dealt_in_turn(2));
  std::vector<float> values(4, 1);
  Call call = sum_of(communicator, Collective::reduce, values);
  for (const int root : {-1, world_size()}) {
    call.root = root;
    CHECK_THROWS_WITH_AS(communicator.run(call), doctest::Contains("root is"), Error);
  }
  CHECK(communicator.allreduce(1) == world_size());
}

TEST_CASE("the processes of each NUMA domain form a node") {
  // Four cores, of which each process gets its share.
  setenv("HWLOC_SYNTHETIC", "numa:2 core:2 pu:1", 1);
  Options options = Options::from_environment();
  options.layout = Options::Layout::processes;
  options.node_scope = Options::NodeScope::numa_domain;
  {
    Communicator communicator(MPI_COMM_WORLD, options);
    CHECK_FALSE(communicator.has_scattered_ranks());
    CHECK(workers_in(communicator, Collective::allreduce) == (world_size() + 1) / 2);
    CHECK(sweep_calls(communicator, {0, 3, 30'000}) == "");
  }
  options.node_scope = Options::NodeScope::machine;
  {
    const Communicator communicator(MPI_COMM_WORLD, options);
    CHECK(workers_in(communicator, Collective::allreduce) == world_size());
  }
  unsetenv("HWLOC_SYNTHETIC");
}

TEST_CASE("the environment deals ranks and chooses what a node is") {
  setenv("HYCOLL_EMULATE_NODES", "3:cyclic", 1);
  setenv("HYCOLL_NODE", "numa", 1);
  const Options options = Options::from_environment();
  CHECK(options.emulated_nodes == 3);
  CHECK(options.emulated_dealing == Options::EmulatedDealing::cyclic);
  CHECK(options.node_scope == Options::NodeScope::numa_domain);
  for (const char* wrong : {"3:", ":cyclic", "3:cyclic:cyclic", "cyclic", "-1:cyclic"}) {
    setenv("HYCOLL_EMULATE_NODES", wrong, 1);
    CHECK_THROWS_WITH_AS(Options::from_environment(), doctest::Contains("HYCOLL_EMULATE_NODES="),
                         Error);
  }
  unsetenv("HYCOLL_EMULATE_NODES");
  setenv("HYCOLL_NODE", "socket", 1);
  CHECK_THROWS_WITH_AS(Options::from_environment(), doctest::Contains("HYCOLL_NODE='socket'"),
                       Error);
  unsetenv("HYCOLL_NODE");
}

}  // namespace
}  // namespace hycoll::tests
