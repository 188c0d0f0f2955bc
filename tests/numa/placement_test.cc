#include "numa/placement/placement.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "core/base/errors.h"
#include "tests/numa/topology_samples.h"

namespace hycoll {
namespace placement_test {

using testing::NamedTopology;

/// How many of `cores` have each value of a member.
std::map<int, int> counts_of(std::span<const Core> cores, int Core::*member) {
  std::map<int, int> counts;
  for (const Core& core : cores) ++counts[core.*member];
  return counts;
}

int count_in(const std::map<int, int>& counts, int key) {
  const auto found = counts.find(key);
  return found == counts.end() ? 0 : found->second;
}

std::vector<Core> leaders_of(std::span<const Core> workers, std::span<const int> worker_of_lane) {
  std::vector<Core> leaders;
  for (int worker : worker_of_lane) leaders.push_back(workers[static_cast<std::size_t>(worker)]);
  return leaders;
}

/// That no group got two more than another which had room left.
void check_balanced(std::span<const Core> chosen, std::span<const Core> available,
                    int Core::*member) {
  const std::map<int, int> room = counts_of(available, member);
  const std::map<int, int> taken = counts_of(chosen, member);
  for (const auto& [less, less_room] : room) {
    for (const auto& [more, more_room] : room) {
      if (count_in(taken, less) == less_room) continue;
      CHECK(count_in(taken, more) <= count_in(taken, less) + 1);
    }
  }
}

/// That at most one group is partly taken, and that those before it are full and those after it
/// empty.
void check_filled_in_order(std::span<const Core> chosen, std::span<const Core> available,
                           int Core::*member) {
  const std::map<int, int> room = counts_of(available, member);
  const std::map<int, int> taken = counts_of(chosen, member);
  bool all_full_so_far = true;
  for (const auto& [group, group_room] : room) {
    const int count = count_in(taken, group);
    if (!all_full_so_far) CHECK(count == 0);
    all_full_so_far = all_full_so_far && count == group_room;
  }
}

/// The workers that are the first on their cores.
std::vector<Core> first_on_each_core(std::span<const Core> workers) {
  std::vector<Core> firsts;
  std::set<int> seen;
  for (const Core& worker : workers) {
    if (seen.insert(worker.index).second) firsts.push_back(worker);
  }
  return firsts;
}

std::vector<int> interesting_counts(int core_count, int unit_count) {
  std::set<int> counts;
  for (int base : {0, core_count / 2, core_count, unit_count, 2 * unit_count}) {
    for (int offset : {-1, 0, 1, 3}) {
      if (base + offset >= 1) counts.insert(base + offset);
    }
  }
  return {counts.begin(), counts.end()};
}

void check_worker(const Topology& topology, const Core& worker) {
  REQUIRE(worker.index >= 0);
  REQUIRE(worker.index < topology.core_count());
  const Core& core = topology.cores()[static_cast<std::size_t>(worker.index)];
  CHECK(worker.package == core.package);
  CHECK(worker.numa_domain == core.numa_domain);
  CHECK(worker.last_level_cache == core.last_level_cache);
  const std::span<const int> units = topology.processing_units(worker.index);
  CHECK(std::count(units.begin(), units.end(), worker.os_index) == 1);
}

TEST_CASE(
    "place_workers: every core before any second time, then sibling units, in order of the cores") {
  for (const NamedTopology& sample : testing::sample_topologies()) {
    CAPTURE(sample.name);
    const Topology& topology = sample.topology;
    for (int count : interesting_counts(topology.core_count(), topology.affinity().count())) {
      for (Placement placement : {Placement::compact, Placement::spread}) {
        CAPTURE(count);
        CAPTURE(placement_name(placement));
        const std::vector<Core> workers = place_workers(topology, count, placement);
        REQUIRE(workers.size() == static_cast<std::size_t>(count));
        std::map<int, int> workers_on_unit;
        for (const Core& worker : workers) {
          check_worker(topology, worker);
          ++workers_on_unit[worker.os_index];
        }
        CHECK(std::is_sorted(
            workers.begin(), workers.end(),
            [](const Core& left, const Core& right) { return left.index < right.index; }));
        const std::map<int, int> on_core = counts_of(workers, &Core::index);
        if (count <= topology.core_count()) {
          CHECK(on_core.size() == static_cast<std::size_t>(count));
        } else {
          CHECK(on_core.size() == topology.cores().size());
        }
        // No unit is taken twice before all are taken once.
        if (count <= topology.affinity().count()) {
          CHECK(workers_on_unit.size() == static_cast<std::size_t>(count));
        } else {
          CHECK(workers_on_unit.size() == static_cast<std::size_t>(topology.affinity().count()));
        }
      }
    }
  }
}

TEST_CASE("place_workers: compact fills domain after domain, spread differs by at most one") {
  for (const NamedTopology& sample : testing::sample_topologies()) {
    CAPTURE(sample.name);
    const Topology& topology = sample.topology;
    for (int count = 1; count <= topology.core_count(); ++count) {
      CAPTURE(count);
      const std::vector<Core> compact = place_workers(topology, count, Placement::compact);
      check_filled_in_order(compact, topology.cores(), &Core::numa_domain);
      check_filled_in_order(compact, topology.cores(), &Core::package);
      const std::vector<Core> spread = place_workers(topology, count, Placement::spread);
      check_balanced(spread, topology.cores(), &Core::numa_domain);
      for (const NumaDomain& domain : topology.numa_domains()) {
        const auto in_domain = [&](std::span<const Core> cores) {
          std::vector<Core> some;
          for (const Core& core : cores) {
            if (core.numa_domain == domain.index) some.push_back(core);
          }
          return some;
        };
        check_balanced(in_domain(spread), in_domain(topology.cores()), &Core::last_level_cache);
      }
      const std::size_t most_packages =
          std::min(topology.packages().size(), static_cast<std::size_t>(count));
      if (count <= static_cast<int>(topology.numa_domains().size()) ||
          topology.numa_domains().size() == 1) {
        CHECK(counts_of(spread, &Core::package).size() == most_packages);
      }
    }
  }
}

TEST_CASE("place_workers: one_per_package takes the first core of each, and no more") {
  for (const NamedTopology& sample : testing::sample_topologies()) {
    CAPTURE(sample.name);
    const Topology& topology = sample.topology;
    const int package_count = static_cast<int>(topology.packages().size());
    for (int count = 1; count <= package_count; ++count) {
      const std::vector<Core> workers = place_workers(topology, count, Placement::one_per_package);
      REQUIRE(workers.size() == static_cast<std::size_t>(count));
      for (int i = 0; i < count; ++i) {
        const Package& package = topology.packages()[static_cast<std::size_t>(i)];
        CHECK(workers[static_cast<std::size_t>(i)] ==
              topology.cores()[static_cast<std::size_t>(package.cores.front())]);
      }
    }
    CHECK_THROWS_AS(place_workers(topology, package_count + 1, Placement::one_per_package), Error);
  }
}

/// Worker cores as programs have them: placed, in any order, and more than one on a core.
std::vector<std::vector<Core>> worker_sets(const Topology& topology, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::vector<Core>> sets;
  for (int count : {1, topology.core_count(), topology.core_count() + 3}) {
    for (Placement placement : {Placement::compact, Placement::spread}) {
      sets.push_back(place_workers(topology, count, placement));
      std::shuffle(sets.back().begin(), sets.back().end(), random);
      if (seed % 2 == 0)
        std::sort(sets.back().begin(), sets.back().end(),
                  [](auto& l, auto& r) { return l.index < r.index; });
    }
  }
  return sets;
}

TEST_CASE("lane_workers: leaders are distinct, on cores of their own, and placed as asked") {
  unsigned seed = 0;
  for (const NamedTopology& sample : testing::sample_topologies()) {
    for (const std::vector<Core>& workers : worker_sets(sample.topology, ++seed)) {
      CAPTURE(sample.name);
      CAPTURE(seed);
      const int worker_count = static_cast<int>(workers.size());
      const std::vector<Core> firsts = first_on_each_core(workers);
      for (int lane_count = 1; lane_count <= worker_count; lane_count += 1 + worker_count / 16) {
        CAPTURE(lane_count);
        for (Placement placement : {Placement::compact, Placement::spread}) {
          const std::vector<int> lanes = lane_workers(workers, lane_count, placement);
          REQUIRE(lanes.size() == static_cast<std::size_t>(lane_count));
          CHECK(std::set<int>(lanes.begin(), lanes.end()).size() == lanes.size());
          for (int worker : lanes) CHECK((worker >= 0 && worker < worker_count));
          const std::vector<Core> leaders = leaders_of(workers, lanes);
          CHECK(counts_of(leaders, &Core::index).size() ==
                std::min(firsts.size(), static_cast<std::size_t>(lane_count)));
          if (lane_count > static_cast<int>(firsts.size())) continue;
          if (placement == Placement::spread) check_balanced(leaders, firsts, &Core::numa_domain);
          if (placement == Placement::compact) {
            check_filled_in_order(leaders, firsts, &Core::numa_domain);
          }
        }
      }
    }
  }
}

TEST_CASE("lane_workers: more lanes than workers are dealt to all in turn") {
  unsigned seed = 1000;
  for (const NamedTopology& sample : testing::sample_topologies()) {
    for (const std::vector<Core>& workers : worker_sets(sample.topology, ++seed)) {
      CAPTURE(sample.name);
      CAPTURE(seed);
      const std::size_t worker_count = workers.size();
      for (std::size_t lane_count : {worker_count + 1, 2 * worker_count, 3 * worker_count + 2}) {
        for (Placement placement : {Placement::compact, Placement::spread}) {
          const std::vector<int> lanes =
              lane_workers(workers, static_cast<int>(lane_count), placement);
          std::vector<std::size_t> lanes_of_worker(worker_count, 0);
          for (std::size_t lane = 0; lane < lane_count; ++lane) {
            ++lanes_of_worker.at(static_cast<std::size_t>(lanes[lane]));
            if (lane >= worker_count) CHECK(lanes[lane] == lanes[lane - worker_count]);
          }
          for (std::size_t count : lanes_of_worker) {
            CHECK(count >= lane_count / worker_count);
            CHECK(count <= lane_count / worker_count + 1);
          }
          // The first lanes go where fewer lanes would go.
          const std::vector<int> fewer =
              lane_workers(workers, static_cast<int>(worker_count), placement);
          CHECK(std::equal(fewer.begin(), fewer.end(), lanes.begin()));
        }
      }
    }
  }
}

TEST_CASE("lane_workers: one_per_package leads with one worker of each package") {
  unsigned seed = 2000;
  for (const NamedTopology& sample : testing::sample_topologies()) {
    for (const std::vector<Core>& workers : worker_sets(sample.topology, ++seed)) {
      CAPTURE(sample.name);
      CAPTURE(seed);
      const std::map<int, int> packages = counts_of(workers, &Core::package);
      for (std::size_t lane_count = 1; lane_count <= packages.size(); ++lane_count) {
        const std::vector<int> lanes =
            lane_workers(workers, static_cast<int>(lane_count), Placement::one_per_package);
        auto package = packages.begin();
        for (const Core& leader : leaders_of(workers, lanes)) {
          CHECK(leader.package == (package++)->first);
          for (const Core& other : workers) {
            if (other.package == leader.package) CHECK(leader.index <= other.index);
          }
        }
      }
      CHECK_THROWS_AS(
          lane_workers(workers, static_cast<int>(packages.size()) + 1, Placement::one_per_package),
          Error);
    }
  }
}

TEST_CASE("two packages of two domains of 14 cores, in figures") {
  const Topology topology = Topology::synthetic("pack:2 numa:2 core:14");
  const std::vector<Core> workers = place_workers(topology, 56, Placement::compact);
  CHECK(lane_workers(workers, 4, Placement::compact) == std::vector<int>{0, 1, 2, 3});
  CHECK(lane_workers(workers, 4, Placement::spread) == std::vector<int>{0, 28, 14, 42});
  CHECK(lane_workers(workers, 6, Placement::spread) == std::vector<int>{0, 28, 14, 42, 1, 29});
  CHECK(lane_workers(workers, 2, Placement::one_per_package) == std::vector<int>{0, 28});
  CHECK(place_workers(topology, 2, Placement::spread)[1].index == 28);
}

/// Algorithm 4 of the ONMPML paper: the leaders among `process_count` processes.
std::set<int> leaders_of_algorithm_4(int process_count, int leader_count) {
  const int stride = std::max(process_count / leader_count, 1);
  std::set<int> leaders;
  for (int rank = 0; rank < process_count; ++rank) {
    if (rank % stride == 0 && rank / stride < leader_count) leaders.insert(rank);
  }
  return leaders;
}

TEST_CASE(
    "spread serves the domains that the paper's algorithm 4 serves where its stride is even") {
  for (const char* description :
       {"pack:1 numa:4 core:4", "pack:2 numa:2 core:14", "numa:8 core:8"}) {
    const Topology topology = Topology::synthetic(description);
    const int core_count = topology.core_count();
    const int domain_count = static_cast<int>(topology.numa_domains().size());
    const std::vector<Core> workers = place_workers(topology, core_count, Placement::compact);
    for (int leader_count = domain_count; leader_count <= core_count;
         leader_count += domain_count) {
      if (core_count % leader_count != 0) continue;
      std::vector<Core> by_paper;
      for (int rank : leaders_of_algorithm_4(core_count, leader_count)) {
        by_paper.push_back(workers[static_cast<std::size_t>(rank)]);
      }
      const std::vector<Core> leaders =
          leaders_of(workers, lane_workers(workers, leader_count, Placement::spread));
      CHECK(counts_of(leaders, &Core::numa_domain) == counts_of(by_paper, &Core::numa_domain));
    }
  }
}

TEST_CASE("names of placements") {
  for (Placement placement : {Placement::compact, Placement::spread, Placement::one_per_package}) {
    CHECK(parse_placement(placement_name(placement)) == placement);
  }
  CHECK(placement_name(Placement::one_per_package) == "one_per_package");
  for (const char* wrong : {"", "Compact", "spread ", "one-per-package"}) {
    CHECK_THROWS_AS(parse_placement(wrong), Error);
  }
  CHECK_THROWS_AS(placement_name(static_cast<Placement>(77)), Error);
}

TEST_CASE("errors say what to do") {
  const Topology topology = Topology::synthetic("pack:2 core:4");
  const std::vector<Core> workers = place_workers(topology, 8, Placement::compact);
  const auto message = [](auto call) {
    try {
      call();
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  CHECK(message([&] { lane_workers(workers, 3, Placement::one_per_package); }) ==
        "lane_count is 3 with placement one_per_package, but there are 2 packages to use: ask for "
        "at most 2, or use "
        "placement spread");
  CHECK(message([&] { place_workers(topology, 0, Placement::spread); }) ==
        "worker_count is 0: expected 1 or more");
  CHECK(message([&] { lane_workers(workers, -1, Placement::spread); }) ==
        "lane_count is -1: expected 1 or more");
  CHECK(message([&] { lane_workers({}, 1, Placement::spread); }).find("workers is empty") == 0);
  CHECK(message([&] { parse_placement("near"); }) ==
        "placement is \"near\": expected one of compact, spread, one_per_package");
}

TEST_CASE("this machine: a worker on each core, a lane for each worker") {
  const Topology topology = Topology::this_machine();
  const int count = topology.core_count();
  for (Placement placement : {Placement::compact, Placement::spread}) {
    const std::vector<Core> workers = place_workers(topology, count, placement);
    REQUIRE(workers.size() == topology.cores().size());
    CHECK(std::equal(workers.begin(), workers.end(), topology.cores().begin()));
    const std::vector<int> lanes = lane_workers(workers, count, placement);
    CHECK(std::set<int>(lanes.begin(), lanes.end()).size() == lanes.size());
  }
}

}  // namespace placement_test
}  // namespace hycoll
