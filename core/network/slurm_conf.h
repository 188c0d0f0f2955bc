#ifndef HYCOLL_CORE_NETWORK_SLURM_CONF_H_
#define HYCOLL_CORE_NETWORK_SLURM_CONF_H_

#include <string>
#include <string_view>

#include "core/network/network_tree.h"

namespace hycoll {

/// Reads the network from Slurm's topology.conf, as the plugin topology/tree takes it: lines of
/// SwitchName=NAME with Switches=LIST, Nodes=LIST or both, whose lists are host lists
/// (expand_host_list). LinkSpeed is read over, as Slurm does. Keys may be in any case; a '#' begins
/// a comment, and a line that ends in '\' goes on in the next one.
///
///     SwitchName=core Switches=leaf[1-2]
///     SwitchName=leaf1 Nodes=n[1-4]
///     SwitchName=leaf2 Nodes=n[5-8]
///
/// Pure. `file` is what messages call the text. Errors: as tree_of_switches(), and for lines that
/// are none of these, such as those of topology/block.
NetworkTree read_slurm_conf(std::string_view text, const std::string& file);

}  // namespace hycoll

#endif  // HYCOLL_CORE_NETWORK_SLURM_CONF_H_
