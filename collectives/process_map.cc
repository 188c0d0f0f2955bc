#include "collectives/process_map.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <mutex>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

#include "threading/mpi_endpoint.h"

namespace hycoll {
namespace {

/// What a process tells all others of itself. Linux has no longer host names.
struct Introduction {
  std::uint64_t affinity = 0;
  int machine = 0;
  std::array<char, 68> host{};
};

std::uint64_t digest_of(std::span<const std::byte> bytes) {
  std::uint64_t digest = 0xcbf29ce484222325u;
  for (const std::byte byte : bytes) {
    digest = (digest ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3u;
  }
  return digest;
}

/// Where the calling thread may run, without asking hwloc. 0 where there are more processing units
/// than fit: then all processes count as confined alike.
std::uint64_t affinity_of_this_thread() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return 0;
  return digest_of(std::as_bytes(std::span(&set, 1)));
}

/// The rank of the first process on this one's machine.
int machine_of(MPI_Comm communicator) {
  MPI_Comm neighbours = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split_type(communicator, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &neighbours),
            "MPI_Comm_split_type");
  MPI_Group here = MPI_GROUP_NULL;
  MPI_Group all = MPI_GROUP_NULL;
  check_mpi(MPI_Comm_group(neighbours, &here), "MPI_Comm_group");
  check_mpi(MPI_Comm_group(communicator, &all), "MPI_Comm_group");
  const int first_here = 0;
  int first = 0;
  check_mpi(MPI_Group_translate_ranks(here, 1, &first_here, all, &first),
            "MPI_Group_translate_ranks");
  MPI_Group_free(&here);
  MPI_Group_free(&all);
  check_mpi(MPI_Comm_free(&neighbours), "MPI_Comm_free");
  return first;
}

Introduction introduce(MPI_Comm communicator, std::uint64_t affinity) {
  Introduction own{.affinity = affinity, .machine = machine_of(communicator), .host = {}};
  std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
  int length = 0;
  check_mpi(MPI_Get_processor_name(name.data(), &length), "MPI_Get_processor_name");
  std::string_view(name.data()).copy(own.host.data(), own.host.size() - 1);
  return own;
}

}  // namespace

std::vector<int> world_ranks_of(MPI_Comm communicator) {
  MPI_Group here = MPI_GROUP_NULL;
  MPI_Group world = MPI_GROUP_NULL;
  int size = 0;
  check_mpi(MPI_Comm_group(communicator, &here), "MPI_Comm_group");
  check_mpi(MPI_Comm_group(MPI_COMM_WORLD, &world), "MPI_Comm_group");
  check_mpi(MPI_Group_size(here, &size), "MPI_Group_size");
  std::vector<int> ranks(static_cast<std::size_t>(size));
  std::iota(ranks.begin(), ranks.end(), 0);
  std::vector<int> world_ranks(ranks.size());
  check_mpi(MPI_Group_translate_ranks(here, size, ranks.data(), world, world_ranks.data()),
            "MPI_Group_translate_ranks");
  MPI_Group_free(&here);
  MPI_Group_free(&world);
  return world_ranks;
}

/// This process among those of its machine, and what it may use. The machine is read when it is
/// first needed.
class ProcessMap::LocalShare {
 public:
  LocalShare(std::span<const Introduction> all, int rank, std::optional<Topology> machine)
      : machine_(std::move(machine)) {
    const Introduction& own = all[static_cast<std::size_t>(rank)];
    for (std::size_t other = 0; other < all.size(); ++other) {
      if (all[other].machine != own.machine) continue;
      if (other == static_cast<std::size_t>(rank)) index_ = static_cast<int>(shares_cores_.size());
      shares_cores_.push_back(all[other].affinity == own.affinity);
    }
  }

  int process_count() const noexcept { return static_cast<int>(shares_cores_.size()); }

  const MachineShare& get() {
    const std::lock_guard lock(mutex_);
    if (!share_) share_ = read();
    return *share_;
  }

 private:
  MachineShare read() const {
    const Topology machine = machine_ ? *machine_ : Topology::this_machine();
    // Only their equality with this process's matters.
    std::vector<AffinityMask> masks(shares_cores_.size());
    for (std::size_t i = 0; i < masks.size(); ++i) {
      if (shares_cores_[i]) masks[i] = machine.affinity();
    }
    return {.topology = machine.share(masks, index_),
            .cores_are_shared = static_cast<int>(masks.size()) > machine.usable_core_count()};
  }

  std::optional<Topology> machine_;
  std::vector<bool> shares_cores_;  // by process of this machine
  int index_ = 0;                   // of this process among them
  std::mutex mutex_;
  std::optional<MachineShare> share_;  // guarded by mutex_; stays once it is there
};

ProcessMap::ProcessMap(MPI_Comm communicator, std::uint64_t affinity,
                       std::optional<Topology> machine) {
  int rank = 0;
  int size = 1;
  check_mpi(MPI_Comm_rank(communicator, &rank), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(communicator, &size), "MPI_Comm_size");
  const Introduction own = introduce(communicator, affinity);
  std::vector<Introduction> all(static_cast<std::size_t>(size));
  check_mpi(
      MPI_Allgather(&own, sizeof(own), MPI_BYTE, all.data(), sizeof(own), MPI_BYTE, communicator),
      "MPI_Allgather");
  for (const Introduction& process : all) {
    machines_.push_back(process.machine);
    hosts_.emplace_back(process.host.data());
  }
  share_ = std::make_shared<LocalShare>(all, rank, std::move(machine));
}

ProcessMap::ProcessMap(const ProcessMap& all, std::span<const int> ranks) : share_(all.share_) {
  for (const int rank : ranks) {
    machines_.push_back(all.machines_[static_cast<std::size_t>(rank)]);
    hosts_.push_back(all.hosts_[static_cast<std::size_t>(rank)]);
  }
}

const ProcessMap*& ProcessMap::world() noexcept {
  static const ProcessMap* map = nullptr;
  return map;
}

void ProcessMap::explore_world() {
  if (world() != nullptr) return;
  // Kept until the process ends: communicators may be made at any time.
  world() = new ProcessMap(MPI_COMM_WORLD, affinity_of_this_thread(), std::nullopt);
}

ProcessMap ProcessMap::of(MPI_Comm communicator) {
  if (world() != nullptr) {
    const std::vector<int> ranks = world_ranks_of(communicator);
    if (std::ranges::find(ranks, MPI_UNDEFINED) == ranks.end()) return ProcessMap(*world(), ranks);
  }
  Topology machine = Topology::this_machine();
  const std::uint64_t affinity = digest_of(std::as_bytes(std::span(machine.affinity().words())));
  return ProcessMap(communicator, affinity, std::move(machine));
}

std::vector<std::string> ProcessMap::names(std::span<const int> user_ranks) const {
  std::vector<std::string> names;
  for (std::size_t rank = 0; rank < hosts_.size(); ++rank) {
    const int number = user_ranks.empty() ? static_cast<int>(rank) : user_ranks[rank];
    names.push_back(fmt::format("process {} on host {}", number, hosts_[rank]));
  }
  return names;
}

bool ProcessMap::has_neighbours() const {
  return std::set<int>(machines_.begin(), machines_.end()).size() < machines_.size();
}

int ProcessMap::neighbour_count() const { return share_->process_count(); }

const MachineShare& ProcessMap::share() const { return share_->get(); }

}  // namespace hycoll
