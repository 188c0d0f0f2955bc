#include "collectives/processes/process_map.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

#include "threading/transport/mpi/mpi_endpoint.h"

namespace hycoll {
namespace {

/// What a process tells all others of itself. Linux has no longer host names.
struct Introduction {
  int machine = 0;
  std::array<char, 68> host{};
};

/// The processes of one machine.
struct Neighbours {
  int machine = 0;                  ///< The rank of the first one.
  int index = 0;                    ///< Of this process among them.
  std::vector<AffinityMask> masks;  ///< By index: where each of them may run.
};

/// Where the calling thread may run, without asking hwloc. Empty where there are more processing
/// units than fit: then all processes count as confined alike.
AffinityMask affinity_of_this_thread() {
  cpu_set_t set;
  CPU_ZERO(&set);
  AffinityMask mask;
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return mask;
  for (int unit = 0; unit < CPU_SETSIZE; ++unit) {
    if (CPU_ISSET(unit, &set)) mask.add(unit);
  }
  return mask;
}

/// By rank: every process's mask. Collective.
std::vector<AffinityMask> gather_masks(MPI_Comm communicator, const AffinityMask& own) {
  int size = 1;
  check_mpi(MPI_Comm_size(communicator, &size), "MPI_Comm_size");
  int word_count = static_cast<int>(own.words().size());
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &word_count, 1, MPI_INT, MPI_MAX, communicator),
            "MPI_Allreduce");
  std::vector<std::uint64_t> words = own.words();
  words.resize(static_cast<std::size_t>(word_count));
  std::vector<std::uint64_t> all(words.size() * static_cast<std::size_t>(size));
  check_mpi(MPI_Allgather(words.data(), word_count, MPI_UINT64_T, all.data(), word_count,
                          MPI_UINT64_T, communicator),
            "MPI_Allgather");
  std::vector<AffinityMask> masks;
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(size); ++rank) {
    masks.push_back(AffinityMask::from_words(
        std::span<const std::uint64_t>(all).subspan(rank * words.size(), words.size())));
  }
  return masks;
}

/// The rank in `all` of a process of `some`.
int translate_rank(MPI_Comm some, int rank, MPI_Comm all) {
  MPI_Group group_of_some = MPI_GROUP_NULL;
  MPI_Group group_of_all = MPI_GROUP_NULL;
  check_mpi(MPI_Comm_group(some, &group_of_some), "MPI_Comm_group");
  check_mpi(MPI_Comm_group(all, &group_of_all), "MPI_Comm_group");
  int translated = 0;
  check_mpi(MPI_Group_translate_ranks(group_of_some, 1, &rank, group_of_all, &translated),
            "MPI_Group_translate_ranks");
  MPI_Group_free(&group_of_some);
  MPI_Group_free(&group_of_all);
  return translated;
}

/// Collective.
Neighbours meet_neighbours(MPI_Comm communicator, const AffinityMask& own) {
  MPI_Comm here = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split_type(communicator, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here),
            "MPI_Comm_split_type");
  Neighbours neighbours;
  neighbours.machine = translate_rank(here, 0, communicator);
  check_mpi(MPI_Comm_rank(here, &neighbours.index), "MPI_Comm_rank");
  neighbours.masks = gather_masks(here, own);
  check_mpi(MPI_Comm_free(&here), "MPI_Comm_free");
  return neighbours;
}

Introduction introduce(int machine) {
  Introduction own{.machine = machine, .host = {}};
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

WaitPolicy MachineShare::wait_policy(int worker_count) const {
  const bool is_oversubscribed = cores_are_shared || worker_count > topology.usable_core_count();
  return is_oversubscribed ? WaitPolicy::oversubscribed() : WaitPolicy::own_core();
}

/// This process among those of its machine, and what it may use. The machine is read when it is
/// first needed.
class ProcessMap::LocalShare {
 public:
  LocalShare(Neighbours neighbours, std::optional<Topology> machine)
      : neighbours_(std::move(neighbours)), machine_(std::move(machine)) {}

  int process_count() const noexcept { return static_cast<int>(neighbours_.masks.size()); }

  const MachineShare& get() {
    const std::lock_guard lock(mutex_);
    if (!share_) share_ = read();
    return *share_;
  }

 private:
  MachineShare read() const {
    const Topology machine = machine_ ? *machine_ : Topology::this_machine();
    const int index = neighbours_.index;
    std::vector<AffinityMask> masks = neighbours_.masks;
    // One thread's mask stands for its process: others of its threads, or OpenMP, may have more.
    const AffinityMask own = masks[static_cast<std::size_t>(index)];
    std::ranges::replace(masks, own, machine.affinity());
    return {.topology = machine.share(masks, index),
            .cores_are_shared = machine.has_contended_cores(masks, index)};
  }

  Neighbours neighbours_;
  std::optional<Topology> machine_;
  std::mutex mutex_;
  std::optional<MachineShare> share_;  // guarded by mutex_; stays once it is there
};

ProcessMap::ProcessMap(MPI_Comm communicator, const AffinityMask& affinity,
                       std::optional<Topology> machine) {
  int size = 1;
  check_mpi(MPI_Comm_size(communicator, &size), "MPI_Comm_size");
  Neighbours neighbours = meet_neighbours(communicator, affinity);
  const Introduction own = introduce(neighbours.machine);
  std::vector<Introduction> all(static_cast<std::size_t>(size));
  check_mpi(
      MPI_Allgather(&own, sizeof(own), MPI_BYTE, all.data(), sizeof(own), MPI_BYTE, communicator),
      "MPI_Allgather");
  for (const Introduction& process : all) {
    machines_.push_back(process.machine);
    hosts_.emplace_back(process.host.data());
  }
  share_ = std::make_shared<LocalShare>(std::move(neighbours), std::move(machine));
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
  const AffinityMask affinity = machine.affinity();
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
