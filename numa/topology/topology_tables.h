#ifndef HYCOLL_NUMA_TOPOLOGY_TOPOLOGY_TABLES_H_
#define HYCOLL_NUMA_TOPOLOGY_TOPOLOGY_TABLES_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "numa/topology/hwloc_handle.h"
#include "numa/topology/topology.h"

/// What a Topology holds: hwloc's topology and the plain tables read from it once. Private to this
/// folder.
namespace hycoll::internal {

/// Of a whole machine, which a topology may be a part of.
struct WholeMachine {
  /// By processing unit: the first one of its core, or -1; and of its last level of cache.
  std::vector<int> cores;
  std::vector<int> caches;
  std::uint64_t fingerprint;
};

struct TopologyTables {
  std::shared_ptr<hwloc_topology> handle;
  bool is_this_machine;
  std::vector<Package> packages;
  std::vector<NumaDomain> numa_domains;
  std::vector<Core> cores;
  std::vector<Cache> caches;
  std::vector<std::vector<int>> processing_units;  ///< Per core.
  std::vector<std::uint64_t> distances;            ///< Row per domain; empty if not known.
  AffinityMask affinity;
  WholeMachine machine;
  CoreLimits limits;
};

/// Reads the tables; limits and what is said of the machine come from the topology itself, without
/// a quota.
/// Environment error if the topology has no processing unit or no memory.
TopologyTables read_tables(TopologyHandle topology);

/// How many cores have a processing unit in `mask`.
int count_cores(hwloc_topology_t topology, const AffinityMask& mask);

/// Of this topology, which is the whole machine.
WholeMachine describe_machine(hwloc_topology_t topology);

/// The private part of a Topology, for the other files of this folder.
struct TopologyAccess {
  static const TopologyTables& tables(const Topology& topology) { return *topology.tables_; }
  static Topology make(TopologyTables tables) {
    return Topology(std::make_shared<const TopologyTables>(std::move(tables)));
  }
};

}  // namespace hycoll::internal

#endif  // HYCOLL_NUMA_TOPOLOGY_TOPOLOGY_TABLES_H_
