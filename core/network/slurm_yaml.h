#ifndef HYCOLL_CORE_NETWORK_SLURM_YAML_H_
#define HYCOLL_CORE_NETWORK_SLURM_YAML_H_

#include <string>
#include <string_view>

#include "core/network/network_tree.h"

namespace hycoll {

/// Reads the network from Slurm's topology.yaml: of its topologies the first one with
/// `cluster_default: true`, else the first one that is a tree. Host lists are as in topology.conf
/// (expand_host_list); a list of YAML's may hold several.
///
///     - topology: fabric
///       cluster_default: true
///       tree:
///         switches:
///           - switch: core
///             children: leaf[1-2]
///           - switch: leaf1
///             nodes: n[1-4]
///           - switch: leaf2
///             nodes: n[5-8]
///
/// Pure. `file` is what messages call the text. Errors: as parse_yaml_subset() and
/// tree_of_switches(), and for keys that are not Slurm's, or no tree to be taken.
NetworkTree read_slurm_yaml(std::string_view text, const std::string& file);

}  // namespace hycoll

#endif  // HYCOLL_CORE_NETWORK_SLURM_YAML_H_
