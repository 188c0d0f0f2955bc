#ifndef HYCOLL_CORE_SIMULATION_SIMGRID_PLUGIN_H_
#define HYCOLL_CORE_SIMULATION_SIMGRID_PLUGIN_H_

#include "core/simulation/flow_network.h"

// What a library of its own has, which is loaded when something is simulated: SimGrid would make
// every program that is linked with it start a twelfth of a second later.

namespace hycoll {

extern "C" {

/// "SimGrid version 3.32".
const char* hycoll_simgrid_version();

/// The platform in a file, which is a user's or written by hycoll: make_simgrid_network(). The
/// caller deletes it. Throws as that.
FlowNetwork* hycoll_open_simgrid(const char* argument, const char* path, bool is_users);
}

}  // namespace hycoll

#endif  // HYCOLL_CORE_SIMULATION_SIMGRID_PLUGIN_H_
