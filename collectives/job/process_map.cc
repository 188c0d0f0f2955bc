#include "collectives/job/process_map.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <numeric>
#include <utility>

#include "collectives/job/machine_exchange.h"
#include "threading/transport/mpi/check_mpi.h"
#include "threading/transport/mpi/mpi_endpoint.h"

namespace hycoll {
namespace {

/// The processes of one machine.
struct Neighbours {
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

/// By rank: every process's mask. Collective over the set-up.
std::vector<AffinityMask> gather_masks(JointSetup& setup, MPI_Comm communicator,
                                       const AffinityMask& own) {
  int size = 1;
  check_mpi(MPI_Comm_size(communicator, &size), "MPI_Comm_size");
  const auto word_count = static_cast<int>(setup.most(std::ssize(own.words())));
  std::vector<std::uint64_t> words = own.words();
  words.resize(static_cast<std::size_t>(word_count));
  std::vector<std::uint64_t> all(words.size() * static_cast<std::size_t>(size));
  setup.meet();
  JointSetup::complete("MPI_Iallgather", [&](MPI_Request* request) {
    return MPI_Iallgather(words.data(), word_count, MPI_UINT64_T, all.data(), word_count,
                          MPI_UINT64_T, communicator, request);
  });
  std::vector<AffinityMask> masks;
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(size); ++rank) {
    masks.push_back(AffinityMask::from_words(
        std::span<const std::uint64_t>(all).subspan(rank * words.size(), words.size())));
  }
  return masks;
}

/// Collective over the set-up; of the processes of this one's machine.
Neighbours meet_neighbours(JointSetup& setup, MPI_Comm here, const AffinityMask& own) {
  Neighbours neighbours;
  check_mpi(MPI_Comm_rank(here, &neighbours.index), "MPI_Comm_rank");
  neighbours.masks = gather_masks(setup, here, own);
  return neighbours;
}

std::string host_name() {
  std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
  int length = 0;
  check_mpi(MPI_Get_processor_name(name.data(), &length), "MPI_Get_processor_name");
  return name.data();
}

/// Visits every process's rank in MPI_COMM_WORLD, in the order of a communicator's ranks, as long
/// as `visit` returns true. Some at a time, so that nothing goes with all of them.
template <class Visit>
void for_each_world_rank(MPI_Comm communicator, const Visit& visit) {
  constexpr int kAtOnce = 256;
  MPI_Group here = MPI_GROUP_NULL;
  MPI_Group world = MPI_GROUP_NULL;
  int size = 0;
  check_mpi(MPI_Comm_group(communicator, &here), "MPI_Comm_group");
  check_mpi(MPI_Comm_group(MPI_COMM_WORLD, &world), "MPI_Comm_group");
  check_mpi(MPI_Group_size(here, &size), "MPI_Group_size");
  std::array<int, kAtOnce> ranks;
  std::array<int, kAtOnce> world_ranks;
  bool goes_on = true;
  for (int first = 0; first < size && goes_on; first += kAtOnce) {
    const int count = std::min(kAtOnce, size - first);
    std::iota(ranks.begin(), ranks.begin() + count, first);
    check_mpi(MPI_Group_translate_ranks(here, count, ranks.data(), world, world_ranks.data()),
              "MPI_Group_translate_ranks");
    for (int i = 0; i < count && goes_on; ++i) {
      goes_on = visit(world_ranks[static_cast<std::size_t>(i)]);
    }
  }
  MPI_Group_free(&here);
  MPI_Group_free(&world);
}

}  // namespace

std::vector<int> world_ranks_of(MPI_Comm communicator) {
  std::vector<int> ranks;
  for_each_world_rank(communicator, [&](int rank) {
    ranks.push_back(rank);
    return true;
  });
  return ranks;
}

bool is_of_one_world(MPI_Comm communicator) {
  bool is_one = true;
  for_each_world_rank(communicator, [&](int rank) { return is_one = rank != MPI_UNDEFINED; });
  return is_one;
}

WaitPolicy MachineShare::wait_policy(int worker_count, Options::Waiting waiting) const {
  if (waiting == Options::Waiting::spin) return WaitPolicy::own_core();
  if (waiting == Options::Waiting::yield) return WaitPolicy::oversubscribed();
  const bool is_oversubscribed = cores_are_shared || worker_count > topology.usable_core_count();
  const WaitPolicy policy =
      is_oversubscribed ? WaitPolicy::oversubscribed() : WaitPolicy::own_core();
  return waiting == Options::Waiting::sleep ? policy.with_rest(WaitPolicy::Rest::sleep) : policy;
}

/// This process among those of its machine, and what it may use. The machine is read when it is
/// first needed.
class ProcessMap::LocalShare {
 public:
  LocalShare(Neighbours neighbours, std::optional<Topology> machine)
      : neighbours_(std::move(neighbours)), machine_(std::move(machine)) {}

  int process_count() const noexcept { return static_cast<int>(neighbours_.masks.size()); }
  const AffinityMask& own_mask() const {
    return neighbours_.masks[static_cast<std::size_t>(neighbours_.index)];
  }

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

ProcessMap::ProcessMap(JointSetup& setup, MPI_Comm communicator, const AffinityMask& affinity,
                       std::optional<Topology> machine) {
  const auto here = MpiCommunicator::of_machine(setup, communicator);
  const MachineExchange exchange(setup, communicator, here->handle());
  machines_ = exchange.machines();
  hosts_ = std::make_shared<const std::vector<std::string>>(exchange.gather_texts(host_name()));
  share_ = std::make_shared<LocalShare>(meet_neighbours(setup, here->handle(), affinity),
                                        std::move(machine));
}

const ProcessMap*& ProcessMap::world() noexcept {
  static const ProcessMap* map = nullptr;
  return map;
}

void ProcessMap::explore_world() {
  if (world() != nullptr) return;
  auto map = JointSetup::run(MPI_COMM_WORLD, [](JointSetup& setup) {
    return std::unique_ptr<const ProcessMap>(
        new ProcessMap(setup, MPI_COMM_WORLD, affinity_of_this_thread(), std::nullopt));
  });
  // Kept until the process ends: communicators may be made at any time.
  world() = map.release();
}

ProcessPlace ProcessMap::place_in_world() {
  return {.host = host_name(), .cpus = world()->share_->own_mask()};
}

ProcessMap ProcessMap::of(JointSetup& setup, MPI_Comm communicator) {
  if (world() != nullptr) {
    RankMap::Builder machines;
    bool is_known = true;
    for_each_world_rank(communicator, [&](int rank) {
      is_known = rank != MPI_UNDEFINED;
      if (is_known) machines.add(world()->machines_.at(rank));
      return is_known;
    });
    if (is_known) return ProcessMap(*world(), machines.build());
  }
  Topology machine = Topology::this_machine();
  const AffinityMask affinity = machine.affinity();
  return ProcessMap(setup, communicator, affinity, std::move(machine));
}

const std::string& ProcessMap::host(int rank) const {
  return (*hosts_)[static_cast<std::size_t>(machines_.at(rank))];
}

std::string ProcessMap::name(int rank, int number) const {
  return fmt::format("process {} on host {}", number, host(rank));
}

int ProcessMap::neighbour_count() const { return share_->process_count(); }

const MachineShare& ProcessMap::share() const { return share_->get(); }

}  // namespace hycoll
