#include "tests/numa/topology_samples.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <exception>
#include <filesystem>
#include <random>

namespace hycoll::testing {
namespace {

/// Some, but not all, of the topology's processing units; at least one.
AffinityMask random_remainder(const Topology& topology, unsigned seed) {
  std::mt19937 random(seed);
  const std::vector<int> units = topology.affinity().processing_units();
  // Sparse, half and dense remainders.
  std::bernoulli_distribution keep((1 + seed % 3) * 0.25);
  AffinityMask mask;
  for (int unit : units) {
    if (keep(random)) mask.add(unit);
  }
  if (mask.empty()) mask.add(units[random() % units.size()]);
  return mask;
}

/// All threads of this process: a sanitizer has one of its own.
bool confine(const AffinityMask& mask) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int unit : mask.processing_units()) CPU_SET(static_cast<std::size_t>(unit), &set);
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    const pid_t id = std::stoi(thread.path().filename().string());
    if (sched_setaffinity(id, sizeof(set), &set) != 0) return false;
  }
  return true;
}

}  // namespace

std::vector<std::string> synthetic_descriptions() {
  std::vector<std::string> descriptions = {
      "core:1",
      "pack:2 numa:2 core:14",
      "pack:2 numa:2 l3:1 core:14 pu:2",
      "numa:4 core:3",
      "numa:1 pack:2 core:4 pu:2",
      "pack:2 l3:1 numa:2 core:3",
      "pack:2 pu:4",
      "pack:4 core:3 pu:4",
      "pack:8 numa:2 l3:2 l2:2 core:1",
      "pack:2 numa:4 l3:2 core:8",
      "pack:3 numa:1 l2:5 l1:1 core:1",
  };
  for (int packages : {1, 2, 3}) {
    for (int domains : {1, 2, 3}) {
      for (int caches : {1, 2}) {
        for (int cores : {1, 3}) {
          for (int units : {1, 2}) {
            descriptions.push_back(fmt::format("pack:{} numa:{} l3:{} core:{} pu:{}", packages,
                                               domains, caches, cores, units));
          }
        }
      }
    }
  }
  return descriptions;
}

std::vector<NamedTopology> sample_topologies() {
  std::vector<NamedTopology> samples;
  unsigned seed = 0;
  for (const std::string& description : synthetic_descriptions()) {
    const Topology whole = Topology::synthetic(description);
    samples.push_back({description, whole});
    for (int remainder = 0; remainder < 3; ++remainder, ++seed) {
      const AffinityMask mask = random_remainder(whole, seed);
      samples.push_back({fmt::format("{} cut to {} (seed {})", description, mask.to_string(), seed),
                         whole.restricted_to(mask)});
    }
  }
  return samples;
}

bool holds_in_confined_child(const AffinityMask& mask, bool (*body)(const AffinityMask& mask)) {
  const pid_t child = fork();
  if (child < 0) return false;
  if (child == 0) {
    bool holds = false;
    try {
      holds = confine(mask) && body(mask);
    } catch (const std::exception&) {
      holds = false;
    }
    _exit(holds ? 0 : 1);
  }
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace hycoll::testing
