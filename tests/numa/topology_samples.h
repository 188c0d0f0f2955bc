#ifndef HYCOLL_TESTS_NUMA_TOPOLOGY_SAMPLES_H_
#define HYCOLL_TESTS_NUMA_TOPOLOGY_SAMPLES_H_

#include <string>
#include <vector>

#include "numa/topology/topology.h"

/// Machines for the tests of numa/, none of which is this one.
namespace hycoll::testing {

struct NamedTopology {
  std::string name;
  Topology topology;
};

/// Descriptions of 1 to 8 packages, 1 to 16 domains, with and without shared caches and SMT;
/// machines that tell no packages, no cores, or only one domain for several packages.
std::vector<std::string> synthetic_descriptions();

/// The machines of synthetic_descriptions(), and of each several unbalanced remainders with random
/// processing units taken out (fixed seeds, which the names tell).
std::vector<NamedTopology> sample_topologies();

/// Runs `body` in a forked child that may use only `mask`, and returns its result; false also if
/// the child cannot be confined or dies.
bool holds_in_confined_child(const AffinityMask& mask, bool (*body)(const AffinityMask& mask));

}  // namespace hycoll::testing

#endif  // HYCOLL_TESTS_NUMA_TOPOLOGY_SAMPLES_H_
