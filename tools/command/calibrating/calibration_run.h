#ifndef HYCOLL_TOOLS_COMMAND_CALIBRATING_CALIBRATION_RUN_H_
#define HYCOLL_TOOLS_COMMAND_CALIBRATING_CALIBRATION_RUN_H_

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "numa/topology/topology.h"
#include "tools/command/calibrating/calibration.h"
#include "tools/command/measuring/mpi_session.h"

namespace hycoll::command {

struct CalibrationSettings {
  double seconds = 20;             ///< In all, but for at least three rounds of everything.
  std::vector<std::size_t> sizes;  ///< Of messages, in bytes; ascending.
  int lanes = 0;                   ///< Of each process; 0: one for each of its cores, 16 at most.
};

struct CalibrationRun {
  Calibration calibration;
  int lanes = 1;          ///< Of each process.
  std::string transport;  ///< As Communicator::transport().
};

/// Measures the machine of the first process, and messages inside it and from it to the next one.
/// Everything takes turns, round by round, after a round that does not count. Collective; rank 0
/// has all results. `on_progress` is called there with the part of the time that is over. Throws
/// Error as LeaderLanes::make does.
CalibrationRun calibrate(const MpiSession& session, const Topology& machine,
                         const CalibrationSettings& settings,
                         const std::function<void(double part)>& on_progress);

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_CALIBRATING_CALIBRATION_RUN_H_
