#ifndef HYCOLL_COLLECTIVES_JOB_LANE_TRANSPORT_H_
#define HYCOLL_COLLECTIVES_JOB_LANE_TRANSPORT_H_

#include <memory>
#include <string>

#include "collectives/job/process_group.h"
#include "threading/transport/endpoint.h"
#include "threading/transport/mpi/mpi_endpoint.h"

namespace hycoll {

/// Whether this process drives a lane.
enum class Leading { here, elsewhere };

/// What the messages of a communicator's lanes go through, the same on all of its processes.
class LaneTransport {
 public:
  /// Collective over the group, whose set-up it is a part of: what its options ask for, for lanes
  /// of which this process drives `led_lanes`. Options::Transport::automatic takes UCX if all
  /// processes have it and it has been measured to be faster than MPI, without puts or with them,
  /// once in a process's life; Options::puts, those where all processes can make lanes that do.
  /// Throws Error (environment) if UCX is asked for and this process cannot use it: there is none,
  /// this library has been built without its headers, it may not use what the machine has, a lane's
  /// worker cannot be made, or no message comes.
  static LaneTransport agreed(const ProcessGroup& group, int led_lanes);

  /// As the constructor of MpiEndpoint, over this transport, with all that calls need.
  std::unique_ptr<Endpoint> open(std::shared_ptr<const MpiCommunicator> messages,
                                 std::shared_ptr<const MpiCommunicator> leaders, int lane,
                                 int lane_count, const PeerNames& names, Leading leading) const;

  /// Which it is, and why, e.g. "UCX 1.13.1 (8 B in ...)".
  const std::string& description() const noexcept { return description_; }
  /// Whether long messages are put where that is possible.
  bool takes_puts() const noexcept { return takes_puts_; }

 private:
  struct Ucx;
  std::shared_ptr<const Ucx> ucx_;  // null: MPI
  bool takes_puts_ = false;
  std::string description_ = "MPI";
};

/// What this process finds of UCX: its version; if it cannot be used, none, and why not.
struct UcxPresence {
  std::string version;
  std::string why_not;
};
UcxPresence ucx_presence();

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_JOB_LANE_TRANSPORT_H_
