// What setup_steps.h says of hycoll's collectives is what hycoll asks of the MPI library.

#include <doctest/doctest.h>
#include <hycoll/hycoll.h>
#include <mpi.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "collectives/job/machine_exchange.h"
#include "collectives/job/node_inside.h"
#include "collectives/job/process_group.h"
#include "collectives/job/process_map.h"
#include "collectives/job/rank_map.h"
#include "collectives/job/setup_steps.h"
#include "collectives/selection/selection.h"
#include "core/schedule/shape.h"
#include "tests/support/world.h"

namespace {

using hycoll::SetupStep;

/// A call of the MPI library's, as this process has made it.
struct MadeCall {
  SetupStep::Kind kind;
  int process_count;
  std::size_t size_bytes;
};

std::vector<MadeCall> made;
bool is_noting = false;

void note(SetupStep::Kind kind, MPI_Comm communicator, int count, MPI_Datatype type) {
  if (!is_noting) return;
  int size = 1;
  int type_bytes = 0;
  PMPI_Comm_size(communicator, &size);
  if (type != MPI_DATATYPE_NULL) PMPI_Type_size(type, &type_bytes);
  made.push_back({kind, size, static_cast<std::size_t>(count * type_bytes)});
}

/// What is called meanwhile.
std::vector<MadeCall> calls_of(const std::function<void()>& work) {
  made.clear();
  is_noting = true;
  work();
  is_noting = false;
  return made;
}

}  // namespace

// In the places of the MPI library's. Whoever waits in a blocking call keeps its core: there are
// none in a set-up.

int MPI_Allgather(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm) {
  return MPI_ERR_OTHER;
}

int MPI_Allreduce(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm) { return MPI_ERR_OTHER; }

int MPI_Bcast(void*, int, MPI_Datatype, int, MPI_Comm) { return MPI_ERR_OTHER; }

int MPI_Barrier(MPI_Comm) { return MPI_ERR_OTHER; }

int MPI_Iallgather(const void* input, int count, MPI_Datatype type, void* output, int output_count,
                   MPI_Datatype output_type, MPI_Comm communicator, MPI_Request* request) {
  note(SetupStep::Kind::allgather, communicator, count, type);
  return PMPI_Iallgather(input, count, type, output, output_count, output_type, communicator,
                         request);
}

int MPI_Iallgatherv(const void* input, int count, MPI_Datatype type, void* output,
                    const int output_counts[], const int begins[], MPI_Datatype output_type,
                    MPI_Comm communicator, MPI_Request* request) {
  note(SetupStep::Kind::allgather, communicator, count, type);
  return PMPI_Iallgatherv(input, count, type, output, output_counts, begins, output_type,
                          communicator, request);
}

int MPI_Iallreduce(const void* input, void* output, int count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm communicator, MPI_Request* request) {
  note(SetupStep::Kind::allreduce, communicator, count, type);
  return PMPI_Iallreduce(input, output, count, type, op, communicator, request);
}

int MPI_Iexscan(const void* input, void* output, int count, MPI_Datatype type, MPI_Op op,
                MPI_Comm communicator, MPI_Request* request) {
  note(SetupStep::Kind::exscan, communicator, count, type);
  return PMPI_Iexscan(input, output, count, type, op, communicator, request);
}

int MPI_Ibcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm communicator,
               MPI_Request* request) {
  note(SetupStep::Kind::broadcast, communicator, count, type);
  return PMPI_Ibcast(buffer, count, type, root, communicator, request);
}

namespace hycoll::tests {
namespace {

std::vector<MadeCall> expected_calls(const std::vector<SetupStep>& steps, const SetupCounts& counts,
                                     bool is_first_one) {
  std::vector<MadeCall> calls;
  for (const SetupStep& step : steps) {
    if (step.among == SetupStep::Among::first_ones && !is_first_one) continue;
    if (step.what == "copies" && counts.node == 1) continue;  // whoever is alone asks nobody
    calls.push_back({step.kind, counts.among(step.among), step.size_bytes});
  }
  return calls;
}

void check_same(const std::vector<MadeCall>& got, const std::vector<MadeCall>& expected) {
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i);
    CHECK(got[i].kind == expected[i].kind);
    CHECK(got[i].process_count == expected[i].process_count);
    CHECK(got[i].size_bytes == expected[i].size_bytes);
  }
}

/// Nodes of as many processes as possible.
SetupCounts counts_of(int node_count) {
  const int rank = world_rank();
  int node_size = 0;
  for (int r = 0; r < world_size(); ++r) {
    if (r * node_count / world_size() == rank * node_count / world_size()) ++node_size;
  }
  return {.all = world_size(), .machine = world_size(), .node = node_size, .first_ones = 1};
}

/// As many nodes, of nearly as many processes each, on one machine.
CommunicatorSizes sizes_of(int node_count) {
  std::vector<Node> nodes(static_cast<std::size_t>(node_count), {.members = 0, .workers = 0});
  for (int rank = 0; rank < world_size(); ++rank) {
    Node& node = nodes[static_cast<std::size_t>(rank * node_count / world_size())];
    node = {.members = node.members + 1, .workers = node.workers + 1};
  }
  const int lanes = most_chosen_lanes(runs_of(nodes));
  std::set<std::vector<int>> leaders;
  for (const Node& node : nodes) {
    std::vector<int> its;
    for (int lane = 0; lane < lanes; ++lane) its.push_back(lane % node.workers);
    leaders.insert(its);
  }
  return {.node_count = node_count,
          .lane_count = lanes,
          .leader_kinds = static_cast<int>(leaders.size()),
          .is_one_machine = true};
}

TEST_CASE("a communicator is set up by these collectives") {
  ProcessMap::explore_world();
  for (int nodes = 1; nodes <= world_size(); ++nodes) {
    CAPTURE(nodes);
    Options options = Options::from_environment();
    options.layout = Options::Layout::processes;
    options.emulated_nodes = nodes;
    options.groups = "flat";
    // Measures the transports, if that is still to be done.
    { const Communicator first(MPI_COMM_WORLD, options); }
    CommunicatorSizes sizes = sizes_of(nodes);
    const auto calls = calls_of([&] {
      const Communicator communicator(MPI_COMM_WORLD, options);
      sizes.is_over_ucx = communicator.transport().starts_with("UCX");
    });
    const SetupCounts counts = counts_of(nodes);
    check_same(calls, expected_calls(communicator_steps(sizes), counts, false));
  }
}

TEST_CASE("who is near whom is found out by these collectives") {
  JointSetup setup(MPI_COMM_WORLD);
  const ProcessGroup group(setup, MPI_COMM_WORLD, Options::from_environment());
  const std::vector<EqualNodes> nodes = {{.node = {4, 4}, .count = world_size()}};
  for (const int groups : {1, 2}) {
    CAPTURE(groups);
    std::vector<CorePlace> places;
    for (int worker = 0; worker < 4; ++worker) {
      places.push_back({.core = worker, .cache = worker * groups / 4, .domain = 0, .package = 0});
    }
    const auto calls = calls_of([&] {
      const NodeInside inside =
          agree_on_inside(group, nodes, {0}, places, [](int node) { return node; });
      CHECK(inside.near.empty() == (groups == 1));
    });
    const CommunicatorSizes sizes{.node_count = world_size(),
                                  .group_numbers = groups == 1 ? 1 : 5,
                                  .has_groups = groups > 1,
                                  .is_one_machine = true};
    std::vector<SetupStep> steps = communicator_steps(sizes);
    steps.erase(steps.begin(), std::ranges::find(steps, "leaders", &SetupStep::what));
    std::erase_if(steps, [](const SetupStep& step) {
      return step.what == "lanes" || step.what == "transport" || step.what == "end";
    });
    check_same(calls, expected_calls(steps, counts_of(1), false));
  }
}

/// Ranks are dealt to the machines in turn.
TEST_CASE("the process map is made by these collectives") {
  for (int machines = 1; machines <= world_size(); ++machines) {
    CAPTURE(machines);
    const int own = world_rank() % machines;
    JointSetup setup(MPI_COMM_WORLD);
    const MpiCommunicator here(setup, MPI_COMM_WORLD, own);
    const std::string name = "a host";
    const std::string all_names(static_cast<std::size_t>(machines) * (name.size() + 1), 'x');
    RankMap map;
    auto calls = calls_of([&] {
      const MachineExchange exchange(setup, MPI_COMM_WORLD, here.handle());
      map = exchange.machines();
      exchange.gather_texts(name);
    });
    const MapSizes sizes{.machine_count = machines,
                         .description_bytes = 5 * sizeof(int),
                         .packed_bytes = map.packed().size() * sizeof(int),
                         .name_bytes = name.size() + 1,
                         .names_bytes = all_names.size()};
    std::vector<SetupStep> steps = map_steps(sizes);
    // These are ProcessMap's.
    std::erase_if(steps, [](const SetupStep& step) {
      return step.what == "machine" || step.what == "masks";
    });
    const SetupCounts counts{.all = world_size(),
                             .machine = (world_size() - own + machines - 1) / machines,
                             .node = 1,
                             .first_ones = machines};
    check_same(calls, expected_calls(steps, counts, world_rank() < machines));
  }
}

TEST_CASE("what a process receives in steps") {
  using Kind = SetupStep::Kind;
  using Among = SetupStep::Among;
  const SetupCounts counts{.all = 9, .machine = 4, .node = 1, .first_ones = 3};
  const auto of = [&](Kind kind, Among among) {
    const std::vector<SetupStep> steps = {{"", kind, among, 10}};
    return traffic_of(steps, counts);
  };
  CHECK(of(Kind::allgather, Among::all).received_bytes == 80);
  CHECK(of(Kind::allgather, Among::all).messages == 4);
  CHECK(of(Kind::allreduce, Among::machine).received_bytes == 20);
  CHECK(of(Kind::broadcast, Among::first_ones).received_bytes == 10);
  CHECK(of(Kind::broadcast, Among::first_ones).messages == 2);
  CHECK(of(Kind::allgather, Among::node).received_bytes == 0);
  CHECK(of(Kind::broadcast, Among::node).messages == 0);
  CHECK(of(Kind::barrier, Among::machine).received_bytes == 0);
}

}  // namespace
}  // namespace hycoll::tests
