#ifndef HYCOLL_CORE_NETWORK_NETWORK_FILE_H_
#define HYCOLL_CORE_NETWORK_NETWORK_FILE_H_

#include <string>
#include <string_view>

#include "core/network/network_tree.h"

namespace hycoll {

/// Reads a network in any of three formats, which the first line tells that is neither empty nor a
/// comment: with "---" or a dash it is Slurm's topology.yaml (read_slurm_yaml), with an '=' in it
/// Slurm's topology.conf (read_slurm_conf), else a list of links (read_edge_list). Pure; errors as
/// of these.
NetworkTree read_network(std::string_view text, const std::string& file);

/// The same of a file. Throws Error (invalid_argument), whose message begins with `argument` (the
/// name of an option or variable), if it cannot be read or has more than 256 MiB.
NetworkTree read_network_file(const std::string& argument, const std::string& path);

}  // namespace hycoll

#endif  // HYCOLL_CORE_NETWORK_NETWORK_FILE_H_
