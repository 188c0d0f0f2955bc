#ifndef HYCOLL_COLLECTIVES_PROCESSES_PROCESS_MAP_H_
#define HYCOLL_COLLECTIVES_PROCESSES_PROCESS_MAP_H_

#include <mpi.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "numa/topology/affinity_mask.h"
#include "numa/topology/topology.h"
#include "threading/memory/waiter.h"

namespace hycoll {

/// What a process may use of its machine.
struct MachineShare {
  Topology topology;
  bool cores_are_shared;  ///< With other processes, as Topology::has_contended_cores() says.

  /// How so many workers of the process wait.
  WaitPolicy wait_policy(int worker_count) const;
};

/// The ranks that the processes of a communicator have in MPI_COMM_WORLD; MPI_UNDEFINED for those
/// of other worlds. Local. Throws Error (environment) if an MPI function fails.
std::vector<int> world_ranks_of(MPI_Comm communicator);

/// Which machines the processes of a communicator run on. A value; copies share what is large. All
/// members may be called concurrently.
class ProcessMap {
 public:
  /// Of the processes of a communicator. Collective over it; local if explore_world has been called
  /// and all of its processes belong to MPI_COMM_WORLD, which is so on all of them or on none.
  static ProcessMap of(MPI_Comm communicator);

  /// Lets later calls of `of` do without messages. Collective over MPI_COMM_WORLD, by all of its
  /// processes before the first one uses hycoll; no work but a few small messages. Later calls have
  /// no effect.
  static void explore_world();

  /// By rank: a number for each machine, the rank of one of its processes in the communicator that
  /// was asked.
  const std::vector<int>& machines() const noexcept { return machines_; }

  /// By rank: "process 3 on host a". `user_ranks`: how users number them, if not by rank.
  std::vector<std::string> names(std::span<const int> user_ranks = {}) const;

  /// Whether a machine runs several of the processes.
  bool has_neighbours() const;

  /// The processes that were asked and run on this one's machine.
  int neighbour_count() const;

  /// This process's share of its machine's cores, among all processes that were asked. The first
  /// call reads the machine. Throws Error as Topology does.
  const MachineShare& share() const;

 private:
  class LocalShare;

  /// Collective over the communicator. Processes of a machine with the same `affinity` divide their
  /// cores.
  ProcessMap(MPI_Comm communicator, const AffinityMask& affinity, std::optional<Topology> machine);
  /// Of some of the processes of another one.
  ProcessMap(const ProcessMap& all, std::span<const int> ranks);

  static const ProcessMap*& world() noexcept;

  std::vector<int> machines_;
  std::vector<std::string> hosts_;
  std::shared_ptr<LocalShare> share_;
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_PROCESSES_PROCESS_MAP_H_
