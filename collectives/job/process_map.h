#ifndef HYCOLL_COLLECTIVES_JOB_PROCESS_MAP_H_
#define HYCOLL_COLLECTIVES_JOB_PROCESS_MAP_H_

#include <mpi.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collectives/api/hycoll.h"
#include "collectives/job/rank_map.h"
#include "numa/placement/process_places.h"
#include "numa/topology/affinity_mask.h"
#include "numa/topology/topology.h"
#include "threading/memory/waiter.h"
#include "threading/transport/mpi/joint_setup.h"

namespace hycoll {

/// What a process may use of its machine.
struct MachineShare {
  Topology topology;
  bool cores_are_shared;  ///< With other processes, as Topology::has_contended_cores() says.

  /// How so many workers of the process wait.
  WaitPolicy wait_policy(int worker_count, Options::Waiting waiting) const;
};

/// The ranks that the processes of a communicator have in MPI_COMM_WORLD; MPI_UNDEFINED for those
/// of other worlds. Local. Throws Error (environment) if an MPI function fails.
std::vector<int> world_ranks_of(MPI_Comm communicator);

/// Whether all of them have one. Local, and the same on all of the communicator's processes.
bool is_of_one_world(MPI_Comm communicator);

/// Which machines the processes of a communicator run on. It takes what the runs of their ranks
/// take, and the machines' names. A value; copies share what is large. All members may be called
/// concurrently.
class ProcessMap {
 public:
  /// Of the processes of a communicator, as a part of their set-up. Collective over it; without
  /// messages, in one pass through its ranks, if explore_world has been called and all of its
  /// processes belong to MPI_COMM_WORLD, which is so on all of them or on none.
  static ProcessMap of(JointSetup& setup, MPI_Comm communicator);

  /// Lets later calls of `of` do without messages. Collective over MPI_COMM_WORLD, by all of its
  /// processes before the first one uses hycoll; no work but a few small messages. Later calls have
  /// no effect. Throws Error on all processes if one cannot.
  static void explore_world();

  /// This process's own. Requires that explore_world has been called.
  static ProcessPlace place_in_world();

  /// By rank: a number for each machine.
  const RankMap& machines() const noexcept { return machines_; }

  /// The name of its machine, as the MPI library tells it.
  const std::string& host(int rank) const;
  /// "process 3 on host a". `number`: how users number the process.
  std::string name(int rank, int number) const;

  /// Whether a machine runs several of the processes.
  bool has_neighbours() const { return machines_.distinct_count() < machines_.size(); }

  /// Whether one machine runs all of them.
  bool is_one_machine() const { return machines_.is_constant(0, machines_.size()); }

  /// The processes that were asked and run on this one's machine.
  int neighbour_count() const;

  /// This process's share of its machine's cores, among all processes that were asked. The first
  /// call reads the machine. Throws Error as Topology does.
  const MachineShare& share() const;

 private:
  class LocalShare;

  /// Collective over the communicator. Processes of a machine with the same `affinity` divide their
  /// cores.
  ProcessMap(JointSetup& setup, MPI_Comm communicator, const AffinityMask& affinity,
             std::optional<Topology> machine);
  /// Of some of the processes of another one.
  ProcessMap(const ProcessMap& all, RankMap machines)
      : machines_(std::move(machines)), hosts_(all.hosts_), share_(all.share_) {}

  static const ProcessMap*& world() noexcept;

  RankMap machines_;
  std::shared_ptr<const std::vector<std::string>> hosts_;  // by machine
  std::shared_ptr<LocalShare> share_;
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_JOB_PROCESS_MAP_H_
