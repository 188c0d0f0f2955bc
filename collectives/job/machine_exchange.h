#ifndef HYCOLL_COLLECTIVES_JOB_MACHINE_EXCHANGE_H_
#define HYCOLL_COLLECTIVES_JOB_MACHINE_EXCHANGE_H_

#include <mpi.h>

#include <memory>
#include <string>
#include <vector>

#include "collectives/job/rank_map.h"
#include "threading/transport/mpi/joint_setup.h"
#include "threading/transport/mpi/mpi_endpoint.h"

namespace hycoll {

/// How the processes of a communicator tell one another what may differ between all of them: inside
/// each machine, then between one process of each, then inside again. So a process receives as much
/// as its machine has processes, and what the machines have to say: runs of ranks. All is part of a
/// set-up of the communicator's processes.
///
/// What is sent is in setup_steps.h, too.
class MachineExchange {
 public:
  /// Collective over `communicator`. `here`: its processes on this one's machine, in the order of
  /// their ranks. All outlive the object. Throws Error (environment) if MPI fails, as all do here.
  MachineExchange(JointSetup& setup, MPI_Comm communicator, MPI_Comm here);

  /// Machines are numbered as they first occur among the ranks.
  int machine() const noexcept { return machine_; }
  int machine_count() const noexcept { return machine_count_; }

  /// Collective: every process's machine, by rank.
  RankMap machines() const;
  /// Collective: every process's number, by rank.
  RankMap gather(int value) const;
  /// Collective: by machine, what its first process says, in which there is no '\0'; of a machine
  /// that is alone, what this one says.
  std::vector<std::string> gather_texts(const std::string& text) const;

 private:
  void meet_machines(MPI_Comm communicator);
  bool is_first_here() const noexcept { return first_ones_ != nullptr; }
  /// On the first ones, by machine, what they say; elsewhere nothing. Collective over all.
  template <class Number>
  std::vector<std::vector<Number>> lists_of_first_ones(std::span<const Number> own) const;
  /// The list of the first one of this process's machine, which is equally long on all of them.
  /// Collective over all.
  template <class Number>
  void hand_on(std::vector<Number>& list) const;

  JointSetup& setup_;
  MPI_Comm here_;
  std::vector<int> ranks_here_;
  int machine_ = 0;
  int machine_count_ = 1;
  std::shared_ptr<const MpiCommunicator> first_ones_;  // of each machine; null elsewhere
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_JOB_MACHINE_EXCHANGE_H_
