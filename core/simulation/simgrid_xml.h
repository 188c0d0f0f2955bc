#ifndef HYCOLL_CORE_SIMULATION_SIMGRID_XML_H_
#define HYCOLL_CORE_SIMULATION_SIMGRID_XML_H_

#include <string>

#include "core/simulation/platform.h"

namespace hycoll {

/// The platform's network as SimGrid reads it (version 4.1 of its XML). Hosts of a tree have their
/// names, and each link is two, "HOST up" and "HOST down"; hosts of other networks are "node0",
/// "node1", and so on, and their links have SimGrid's names. Pure. Requires another network than a
/// file of SimGrid's.
std::string to_simgrid_xml(const Platform& platform);

}  // namespace hycoll

#endif  // HYCOLL_CORE_SIMULATION_SIMGRID_XML_H_
