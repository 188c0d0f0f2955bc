#ifndef HYCOLL_CORE_NETWORK_SLURM_ADDRESS_H_
#define HYCOLL_CORE_NETWORK_SLURM_ADDRESS_H_

#include <string>
#include <string_view>
#include <vector>

namespace hycoll {

/// What is above a host in a network, as Slurm tells a task of it, by level from the top down, and
/// at last the host: "core", "core.leaf1", "core.leaf1.n3" of the address "core.leaf1.n3"
/// (SLURM_TOPOLOGY_ADDR) with the pattern "switch.switch.node" (SLURM_TOPOLOGY_ADDR_PATTERN). Hosts
/// below one switch agree up to it.
///
/// Empty if the two are of different lengths, the pattern is not of switches and a node, or the
/// node is not `host`, of which what stands before the first dot may be enough: launchers pass the
/// variables of one host on to others. Pure.
std::vector<std::string> slurm_levels(std::string_view address, std::string_view pattern,
                                      std::string_view host);

}  // namespace hycoll

#endif  // HYCOLL_CORE_NETWORK_SLURM_ADDRESS_H_
