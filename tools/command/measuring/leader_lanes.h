#ifndef HYCOLL_TOOLS_COMMAND_MEASURING_LEADER_LANES_H_
#define HYCOLL_TOOLS_COMMAND_MEASURING_LEADER_LANES_H_

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "collectives/api/hycoll.h"
#include "collectives/job/lane_transport.h"
#include "collectives/job/process_group.h"
#include "numa/topology/topology.h"
#include "threading/transport/endpoint.h"
#include "tools/measure/leader_concurrency.h"

namespace hycoll::command {

/// The cores that communicators over `comm` give this process: those that its launcher has bound it
/// to, or its share of the machine. Collective.
Topology core_share(MPI_Comm comm);

/// The lanes of some leaders over one transport, as communicators make them.
class LeaderLanes {
 public:
  /// Collective over `comm`. Throws Error on all processes if one of them cannot use the transport.
  static std::unique_ptr<LeaderLanes> make(MPI_Comm comm, Options::Transport transport,
                                           Options::Puts puts, int leader_count);

  /// For messages between the processes of `comm`. Once for each leader; local.
  std::unique_ptr<Endpoint> open(int leader) const;

  /// "MPI", "UCX 1.13.1", "UCX 1.13.1 with puts".
  std::string name() const;
  bool takes_puts() const noexcept { return transport_.takes_puts(); }
  /// As Communicator::transport().
  const std::string& description() const noexcept { return transport_.description(); }

 private:
  LeaderLanes(JointSetup& setup, MPI_Comm comm, const Options& options, int leader_count);

  ProcessGroup group_;
  LaneTransport transport_;
  LaneCommunicators communicators_;
};

/// What leaders exchange over one transport.
struct TransportRate {
  std::string transport;
  measure::LeaderConcurrency leaders;
};

/// Over MPI, and over UCX if all processes can use it, without puts and with:
/// measure::measure_leader_concurrency. Collective.
std::vector<TransportRate> measure_transports(MPI_Comm comm, const Topology& topology,
                                              std::span<const Core> cores, std::size_t size_bytes);

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_MEASURING_LEADER_LANES_H_
