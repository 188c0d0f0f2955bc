#ifndef HYCOLL_CORE_SIMULATION_PLATFORM_H_
#define HYCOLL_CORE_SIMULATION_PLATFORM_H_

#include <string>
#include <variant>
#include <vector>

#include "core/base/machine_prices.h"
#include "core/network/network_tree.h"

namespace hycoll {

/// A fat tree: of each level, from the hosts up, how many elements of the level below hang below a
/// switch, to how many switches each of these is connected, and by how many links to each. The
/// levels are equally many in all three.
struct FatTree {
  std::vector<int> below;
  std::vector<int> above;
  std::vector<int> links;
  friend bool operator==(const FatTree&, const FatTree&) = default;
};

/// A torus: hosts along each dimension.
struct Torus {
  std::vector<int> sizes;
  friend bool operator==(const Torus&, const Torus&) = default;
};

/// A dragonfly: groups of chassis of routers, each with hosts; and the links between two groups,
/// two chassis of a group, and two routers of a chassis.
struct Dragonfly {
  int groups = 1;
  int chassis = 1;
  int routers = 1;
  int hosts = 1;
  int group_links = 1;
  int chassis_links = 1;
  int router_links = 1;
  friend bool operator==(const Dragonfly&, const Dragonfly&) = default;
};

/// A file that describes a platform to SimGrid.
struct SimGridFile {
  std::string path;
  friend bool operator==(const SimGridFile&, const SimGridFile&) = default;
};

/// What connects the hosts. The links of a tree have the rate that their capacity says, in
/// multiples of Platform::link_gb_per_s.
using PlatformNetwork = std::variant<NetworkTree, FatTree, Torus, Dragonfly, SimGridFile>;

/// The cores of a host, in equal NUMA domains of equal packages.
struct HostMachine {
  int packages = 1;
  int domains = 1;  ///< Of a package.
  int cores = 0;    ///< Of a domain; 0: as many as the workers need.

  int domain_count() const noexcept { return packages * domains; }
  friend bool operator==(const HostMachine&, const HostMachine&) = default;
};

/// A described network of described hosts. Plain data.
struct Platform {
  std::string name;
  PlatformNetwork network;
  double link_gb_per_s = 0;    ///< Of a link in each direction; 0: as fast as a card.
  double link_latency_us = 0;  ///< Of each link on the way, beyond the prices' alpha.
  HostMachine host;
  /// A card is as fast as the link of a host at most. The domains of a host share its memory
  /// equally, the workers of a domain that of the domain.
  MachinePrices prices;
};

/// How many hosts there are; 0 of a file of SimGrid's, which only SimGrid can read.
int host_count(const PlatformNetwork& network);

/// "fat tree, 2 levels", "torus 8x8x8": what kind of network this is.
std::string to_text(const PlatformNetwork& network);

}  // namespace hycoll

#endif  // HYCOLL_CORE_SIMULATION_PLATFORM_H_
