#ifndef HYCOLL_CORE_SIMULATION_SIMGRID_NETWORK_H_
#define HYCOLL_CORE_SIMULATION_SIMGRID_NETWORK_H_

#include <memory>
#include <string>

#include "core/simulation/flow_network.h"
#include "core/simulation/platform.h"

namespace hycoll {

/// "SimGrid version 3.32"; "" where there is none.
std::string simgrid_version();

/// The platform's network in SimGrid: its model CM02, in which flows share links by max-min
/// fairness, without what it adds for TCP. Links' latencies are not part of flows (latency_us()).
///
/// At most one at a time, and all in one thread, for SimGrid has one engine in a process. Throws
/// Error: environment where the library with SimGrid cannot be loaded, or a temporary file not be
/// written; invalid_argument, which begins with `argument` (the name of an option), if SimGrid
/// does not accept the platform's file.
std::unique_ptr<FlowNetwork> make_simgrid_network(const std::string& argument,
                                                  const Platform& platform);

}  // namespace hycoll

#endif  // HYCOLL_CORE_SIMULATION_SIMGRID_NETWORK_H_
