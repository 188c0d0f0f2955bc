#ifndef HYCOLL_CORE_NETWORK_SLURM_SWITCHES_H_
#define HYCOLL_CORE_NETWORK_SLURM_SWITCHES_H_

#include <string>
#include <vector>

#include "core/network/network_tree.h"

namespace hycoll {

/// A switch as both of Slurm's files describe it. Names that are host lists have been expanded.
struct SlurmSwitch {
  std::string name;
  std::vector<std::string> switches;  ///< Below it.
  std::vector<std::string> nodes;     ///< The hosts below it.
  int line = 0;                       ///< Where it is described.
};

/// The tree of these switches. Its root is the first one that is below no other. Pure; errors as
/// NetworkDescription's, and for a switch below another one that is not described, or with nothing
/// below it.
NetworkTree tree_of_switches(const std::vector<SlurmSwitch>& switches, const std::string& file);

}  // namespace hycoll

#endif  // HYCOLL_CORE_NETWORK_SLURM_SWITCHES_H_
