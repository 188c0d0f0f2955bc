// Takes the place of lane_transport.cc where UCX's headers are missing (CMake): lanes go over MPI.

#include <utility>

#include "collectives/job/lane_transport.h"
#include "core/base/errors.h"

namespace hycoll {

struct LaneTransport::Ucx {};

LaneTransport LaneTransport::agreed(const ProcessGroup& group, int /*led_lanes*/) {
  LaneTransport transport;
  if (group.options().transport == Options::Transport::ucx) {
    throw Error(ErrorKind::environment,
                "HYCOLL_TRANSPORT=ucx (Options::Transport::ucx): " + ucx_presence().why_not +
                    ". Do without, HYCOLL_TRANSPORT=mpi, or build it where UCX's headers are "
                    "(Debian: libucx-dev)");
  }
  if (group.options().transport == Options::Transport::automatic) {
    transport.description_ = "MPI (" + ucx_presence().why_not + ")";
  }
  return transport;
}

std::unique_ptr<Endpoint> LaneTransport::open(std::shared_ptr<const MpiCommunicator> messages,
                                              std::shared_ptr<const MpiCommunicator> leaders,
                                              int lane, int lane_count, const PeerNames& names,
                                              Leading /*leading*/) const {
  return std::make_unique<MpiEndpoint>(std::move(messages), std::move(leaders), lane, lane_count,
                                       names);
}

UcxPresence ucx_presence() { return {.version = "", .why_not = "hycoll was built without UCX"}; }

}  // namespace hycoll
