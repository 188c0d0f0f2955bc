// Nodes that follow a network of emulated hosts: whom the processes of a ring send to.

#include <doctest/doctest.h>
#include <hycoll/hycoll.h>
#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "tests/support/call_sweeps.h"
#include "tests/support/job_file.h"

namespace hycoll::tests {
namespace {

int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int world_size() {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

/// The number of a process's host, by its rank in the world.
std::function<int(int rank)> host_of = [](int rank) { return rank; };

/// World ranks to whom this process has sent, while it is looked at.
std::set<int> receivers;
bool is_looking = false;

}  // namespace
}  // namespace hycoll::tests

// In place of the MPI library's: every process is on the host that the test says.

extern "C" int MPI_Get_processor_name(char* name, int* length) {
  using namespace hycoll::tests;
  const std::string host = "n" + std::to_string(host_of(world_rank()));
  host.copy(name, host.size());
  name[host.size()] = '\0';
  *length = static_cast<int>(host.size());
  return MPI_SUCCESS;
}

extern "C" int MPI_Comm_split_type(MPI_Comm communicator, int /*type*/, int key, MPI_Info /*info*/,
                                   MPI_Comm* split) {
  using namespace hycoll::tests;
  return PMPI_Comm_split(communicator, host_of(world_rank()), key, split);
}

extern "C" int MPI_Isend(const void* buffer, int count, MPI_Datatype type, int receiver, int tag,
                         MPI_Comm communicator, MPI_Request* request) {
  using namespace hycoll::tests;
  if (is_looking) {
    MPI_Group here = MPI_GROUP_NULL;
    MPI_Group world = MPI_GROUP_NULL;
    PMPI_Comm_group(communicator, &here);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    int world_receiver = 0;
    PMPI_Group_translate_ranks(here, 1, &receiver, world, &world_receiver);
    receivers.insert(world_receiver);
    PMPI_Group_free(&here);
    PMPI_Group_free(&world);
  }
  return PMPI_Isend(buffer, count, type, receiver, tag, communicator, request);
}

namespace hycoll::tests {
namespace {

constexpr const char* kNetwork =
    "SwitchName=top Switches=even,odd\n"
    "SwitchName=even Nodes=n[0,2,4]\n"
    "SwitchName=odd Nodes=n[1,3,5]\n";

JobFile network_file(const std::string& text) { return {"topology.conf", text}; }

Options ring_options(Options::Layout layout, const std::string& path) {
  Options options = Options::from_environment();
  options.layout = layout;
  options.workers = 1;
  options.transport = Options::Transport::mpi;
  options.algorithm = "allreduce:dpml-ring:1,reduce_scatter:dpml-ring:1";
  options.topology = path;
  return options;
}

/// To whom this process sends in a call of that collective.
std::set<int> receivers_in(Communicator& communicator, Collective collective) {
  std::vector<float> input(1200, 1);
  std::vector<float> output(1200);
  const auto size = static_cast<std::size_t>(communicator.size());
  const std::vector<std::size_t> blocks(size, input.size() / size);
  const Call call = collective == Collective::reduce_scatter
                        ? calls::reduce_scatter(input.data(), output.data(), blocks,
                                                DataType::float32, Operator::sum)
                        : calls::allreduce(input.data(), output.data(), input.size(),
                                           DataType::float32, Operator::sum);
  communicator.run(call);
  receivers.clear();
  is_looking = true;
  communicator.run(call);
  is_looking = false;
  CHECK(output.front() == static_cast<float>(communicator.size()));
  return receivers;
}

/// The rank that follows in a ring.
int next_in(const std::vector<int>& ring, int rank) {
  const auto at = std::ranges::find(ring, rank) - ring.begin();
  return ring[static_cast<std::size_t>(at + 1) % ring.size()];
}

constexpr Options::Layout kBothLayouts[] = {Options::Layout::per_node, Options::Layout::processes};

TEST_CASE("processes of a host each send along the ring, but where the order of ranks counts") {
  const JobFile file = network_file(kNetwork);
  host_of = [](int rank) { return rank; };
  std::vector<int> ring;
  for (const int rank : {0, 2, 4, 1, 3, 5}) {
    if (rank < world_size()) ring.push_back(rank);
  }
  const int in_rank_order = (world_rank() + 1) % world_size();
  for (const Options::Layout layout : kBothLayouts) {
    Communicator communicator(MPI_COMM_WORLD, ring_options(layout, file.path()));
    CHECK_FALSE(communicator.has_scattered_ranks());
    CHECK(receivers_in(communicator, Collective::allreduce) ==
          std::set<int>{next_in(ring, world_rank())});
    CHECK(receivers_in(communicator, Collective::reduce_scatter) == std::set<int>{in_rank_order});
    Communicator without(MPI_COMM_WORLD, ring_options(layout, ""));
    CHECK(receivers_in(without, Collective::allreduce) == std::set<int>{in_rank_order});
  }
}

TEST_CASE("every collective, form, placement and root, on nodes that follow the network") {
  const JobFile file = network_file(kNetwork);
  // A process on each host by itself, or two together.
  for (const Options::Layout layout : kBothLayouts) {
    const int processes_on_host = layout == Options::Layout::per_node ? 1 : 2;
    host_of = [=](int rank) { return rank / processes_on_host; };
    Options options = ring_options(layout, file.path());
    options.algorithm = "auto";
    Communicator communicator(MPI_COMM_WORLD, options);
    CHECK(sweep_calls(communicator, {700}) == "");
  }
}

TEST_CASE("processes that are dealt to hosts in turn: each host is entered once") {
  const JobFile file = network_file(kNetwork);
  const int hosts = (world_size() + 1) / 2;
  host_of = [=](int rank) { return rank % hosts; };
  Communicator communicator(MPI_COMM_WORLD, ring_options(Options::Layout::processes, file.path()));
  CHECK(communicator.has_scattered_ranks());
  std::vector<int> ring;
  for (const int host : {0, 2, 4, 1, 3, 5}) {
    if (host < hosts) ring.push_back(host);
  }
  for (const int receiver : receivers_in(communicator, Collective::allreduce)) {
    CHECK(host_of(receiver) == next_in(ring, host_of(world_rank())));
  }
}

/// What Slurm tells this process while the object lives: that such a host is below the switch
/// "even" or "odd".
class SlurmAddress {
 public:
  explicit SlurmAddress(int host) {
    const std::string side = host % 2 == 0 ? "even" : "odd";
    setenv("SLURM_TOPOLOGY_ADDR", ("top." + side + ".n" + std::to_string(host)).c_str(), 1);
    setenv("SLURM_TOPOLOGY_ADDR_PATTERN", "switch.switch.node", 1);
  }
  ~SlurmAddress() {
    unsetenv("SLURM_TOPOLOGY_ADDR");
    unsetenv("SLURM_TOPOLOGY_ADDR_PATTERN");
  }
  SlurmAddress(const SlurmAddress&) = delete;
  SlurmAddress& operator=(const SlurmAddress&) = delete;
};

TEST_CASE("Slurm tells each process which switches are above its host") {
  host_of = [](int rank) { return rank; };
  std::vector<int> ring;
  for (const int rank : {0, 2, 4, 1, 3, 5}) {
    if (rank < world_size()) ring.push_back(rank);
  }
  const SlurmAddress address(world_rank());
  for (const Options::Layout layout : kBothLayouts) {
    Communicator communicator(MPI_COMM_WORLD, ring_options(layout, "slurm"));
    CHECK(receivers_in(communicator, Collective::allreduce) ==
          std::set<int>{next_in(ring, world_rank())});
  }
}

TEST_CASE("where Slurm tells the same of all hosts, nodes keep the order of ranks") {
  host_of = [](int rank) { return rank; };
  const SlurmAddress address(0);
  Communicator communicator(MPI_COMM_WORLD, ring_options(Options::Layout::per_node, "slurm"));
  CHECK(receivers_in(communicator, Collective::allreduce) ==
        std::set<int>{(world_rank() + 1) % world_size()});
}

TEST_CASE("without a host in the file nodes keep the order of ranks") {
  const JobFile file = network_file("SwitchName=top Nodes=n[0,2,4]\n");
  host_of = [](int rank) { return rank; };
  Communicator communicator(MPI_COMM_WORLD, ring_options(Options::Layout::per_node, file.path()));
  CHECK(receivers_in(communicator, Collective::allreduce) ==
        std::set<int>{(world_rank() + 1) % world_size()});
}

TEST_CASE("all processes refuse a file that is none") {
  const JobFile file = network_file("SwitchName=top Nodes=n0\nSwitchName=top Nodes=n1\n");
  for (const Options::Layout layout : kBothLayouts) {
    CHECK_THROWS_WITH_AS(Communicator(MPI_COMM_WORLD, ring_options(layout, file.path())),
                         doctest::Contains("topology.conf:2: 'top' is already"), Error);
    CHECK_THROWS_WITH_AS(Communicator(MPI_COMM_WORLD, ring_options(layout, file.path() + ".no")),
                         doctest::Contains("HYCOLL_TOPOLOGY (Options::topology) '"), Error);
  }
}

}  // namespace
}  // namespace hycoll::tests
