// Topology::share: how the cores of a machine are divided among its processes.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "core/base/errors.h"
#include "numa/topology/topology.h"
#include "tests/numa/topology_samples.h"
#include "tests/support/sanitized.h"

namespace hycoll {
namespace topology_share_test {

using testing::NamedTopology;

std::vector<Topology> all_shares(const Topology& topology, int process_count) {
  std::vector<Topology> shares;
  for (int process = 0; process < process_count; ++process) {
    shares.push_back(topology.share(process, process_count, LauncherBinding::none));
  }
  return shares;
}

/// Changes of domain and package inside the cores [begin, end).
int straddled(const Topology& topology, int begin, int end) {
  int changes = 0;
  for (int i = begin + 1; i < end; ++i) {
    const Core& before = topology.cores()[static_cast<std::size_t>(i - 1)];
    const Core& here = topology.cores()[static_cast<std::size_t>(i)];
    changes +=
        (here.numa_domain != before.numa_domain ? 1 : 0) + (here.package != before.package ? 1 : 0);
  }
  return changes;
}

/// The least that any balanced cut of the cores from `begin` on among the processes left straddles.
int least_straddled(const Topology& topology, int begin, int processes_left, int small_size) {
  const int rest = topology.core_count() - begin;
  if (processes_left == 0) return rest == 0 ? 0 : 1000000;
  int least = 1000000;
  for (int size : {small_size, small_size + 1}) {
    if (size > rest) continue;
    least = std::min(least,
                     straddled(topology, begin, begin + size) +
                         least_straddled(topology, begin + size, processes_left - 1, small_size));
  }
  return least;
}

TEST_CASE("shares are contiguous, cover every core once and differ by at most one core") {
  tests::Sample taken;
  for (const NamedTopology& sample : testing::sample_topologies()) {
    CAPTURE(sample.name);
    const Topology& topology = sample.topology;
    const int core_count = topology.core_count();
    for (int process_count = 1; process_count <= core_count; process_count += 1 + core_count / 12) {
      if (!taken.takes_next()) continue;
      CAPTURE(process_count);
      int next_core = 0;
      AffinityMask all;
      for (const Topology& share : all_shares(topology, process_count)) {
        CHECK(share.core_count() >= core_count / process_count);
        CHECK(share.core_count() <= (core_count + process_count - 1) / process_count);
        CHECK_FALSE(share.affinity().intersects(all));
        all = all | share.affinity();
        for (const Core& core : share.cores()) {
          CHECK(topology.core_of(core.os_index) == next_core);
          const std::span<const int> own = share.processing_units(core.index);
          const std::span<const int> before = topology.processing_units(next_core);
          CHECK(std::equal(own.begin(), own.end(), before.begin(), before.end()));
          ++next_core;
        }
      }
      CHECK(next_core == core_count);
      CHECK(all == topology.affinity());
    }
  }
}

TEST_CASE("no balanced cut straddles fewer domains and packages") {
  for (const NamedTopology& sample : testing::sample_topologies()) {
    const Topology& topology = sample.topology;
    const int core_count = topology.core_count();
    if (core_count > 14) continue;
    for (int process_count = 1; process_count <= core_count; ++process_count) {
      CAPTURE(sample.name);
      CAPTURE(process_count);
      int sum = 0;
      for (const Topology& share : all_shares(topology, process_count)) {
        sum += straddled(share, 0, share.core_count());
      }
      CHECK(sum == least_straddled(topology, 0, process_count, core_count / process_count));
    }
  }
}

TEST_CASE("the larger shares go where they keep processes inside a domain") {
  // Domains of 5 and 3 cores for 3 processes: 3 + 2 | 3 rather than 3 | 3 | 2.
  const Topology topology =
      Topology::synthetic("numa:2 core:5").restricted_to({0, 1, 2, 3, 4, 5, 6, 7});
  const std::vector<Topology> shares = all_shares(topology, 3);
  CHECK(shares[0].affinity() == AffinityMask{0, 1, 2});
  CHECK(shares[1].affinity() == AffinityMask{3, 4});
  CHECK(shares[2].affinity() == AffinityMask{5, 6, 7});
}

TEST_CASE("more processes than cores: as even as it goes, sibling units in turn") {
  tests::Sample taken;
  for (const NamedTopology& sample : testing::sample_topologies()) {
    const Topology& topology = sample.topology;
    const int core_count = topology.core_count();
    if (core_count > 30) continue;
    for (int process_count : {core_count + 1, 2 * core_count, 3 * core_count + 2}) {
      if (!taken.takes_next()) continue;
      CAPTURE(sample.name);
      CAPTURE(process_count);
      std::vector<int> processes_on_core(static_cast<std::size_t>(core_count), 0);
      std::vector<std::set<int>> units_of_core(static_cast<std::size_t>(core_count));
      int last_core = 0;
      for (const Topology& share : all_shares(topology, process_count)) {
        REQUIRE(share.affinity().count() == 1);
        const int unit = share.affinity().processing_units()[0];
        const int core = topology.core_of(unit).value();
        CHECK(core >= last_core);
        last_core = core;
        ++processes_on_core[static_cast<std::size_t>(core)];
        units_of_core[static_cast<std::size_t>(core)].insert(unit);
      }
      for (int core = 0; core < core_count; ++core) {
        const int processes = processes_on_core[static_cast<std::size_t>(core)];
        CHECK(processes >= process_count / core_count);
        CHECK(processes <= process_count / core_count + 1);
        CHECK(
            units_of_core[static_cast<std::size_t>(core)].size() ==
            std::min(static_cast<std::size_t>(processes), topology.processing_units(core).size()));
      }
    }
  }
}

TEST_CASE("cores that the launcher gave out already stay as they are") {
  const Topology machine = Topology::synthetic("pack:2 numa:2 core:4 pu:2");
  for (int process = 0; process < 5; ++process) {
    const Topology share = machine.share(process, 5, LauncherBinding::disjoint);
    CHECK(share.affinity() == machine.affinity());
    CHECK(share.core_count() == 16);
  }
}

TEST_CASE("with the masks of all processes, those with equal masks divide them") {
  const Topology machine = Topology::synthetic("pack:2 numa:2 core:4");
  const Topology left = machine.restricted_to({0, 1, 2, 3, 4, 5, 6, 7});
  const Topology right = machine.restricted_to({8, 9, 10, 11, 12, 13, 14, 15});
  SUBCASE("all equal") {
    const std::vector<AffinityMask> masks(4, machine.affinity());
    for (int process = 0; process < 4; ++process) {
      CHECK(machine.share(masks, process).affinity() ==
            machine.share(process, 4, LauncherBinding::none).affinity());
    }
  }
  SUBCASE("all disjoint") {
    const std::vector<AffinityMask> masks = {right.affinity(), left.affinity()};
    CHECK(right.share(masks, 0).affinity() == right.affinity());
    CHECK(left.share(masks, 1).affinity() == left.affinity());
  }
  SUBCASE("bound by package, in turn, with unequal numbers of processes") {
    const std::vector<AffinityMask> masks = {left.affinity(), right.affinity(), left.affinity(),
                                             right.affinity(), left.affinity()};
    CHECK(left.share(masks, 0).affinity() == AffinityMask{0, 1, 2});
    CHECK(right.share(masks, 1).affinity() == AffinityMask{8, 9, 10, 11});
    CHECK(left.share(masks, 2).affinity() == AffinityMask{3, 4, 5});
    CHECK(right.share(masks, 3).affinity() == AffinityMask{12, 13, 14, 15});
    CHECK(left.share(masks, 4).affinity() == AffinityMask{6, 7});
  }
  SUBCASE("a mask that is not the topology's is refused") {
    const std::vector<AffinityMask> masks = {left.affinity(), right.affinity()};
    CHECK_THROWS_AS(left.share(masks, 1), Error);
    CHECK_THROWS_AS(left.share(masks, 2), Error);
    CHECK_THROWS_AS(left.share(masks, -1), Error);
    CHECK_THROWS_AS(left.share({}, 0), Error);
  }
}

/// By process, whether its cores are contended. `confined` is the topology of the one that asks.
std::vector<bool> contended(const Topology& confined, const std::vector<AffinityMask>& masks) {
  std::vector<bool> result;
  for (int process = 0; process < static_cast<int>(masks.size()); ++process) {
    result.push_back(confined.has_contended_cores(masks, process));
  }
  return result;
}

TEST_CASE("cores are contended where processes cannot all have one of their own") {
  const Topology machine = Topology::synthetic("core:4 pu:2");  // core c has units 2c and 2c + 1
  const Topology bound = machine.restricted_to({0, 1});
  using Masks = std::vector<AffinityMask>;
  using Answers = std::vector<bool>;
  const AffinityMask everywhere = machine.affinity();
  SUBCASE("unbound: by their number") {
    CHECK(contended(machine, Masks(4, everywhere)) == Answers(4, false));
    CHECK(contended(machine, Masks(5, everywhere)) == Answers(5, true));
  }
  SUBCASE("bound to a core each, whichever of them asks") {
    const Masks masks = {{0, 1}, {2, 3}, {4, 5}, {6, 7}};
    CHECK(contended(bound, masks) == Answers(4, false));
    CHECK(contended(machine, masks) == Answers(4, false));
  }
  SUBCASE("two on one core, a third on another") {
    CHECK(contended(bound, Masks{{0, 1}, {0, 1}, {4, 5}}) == Answers{true, true, false});
    CHECK(contended(bound, Masks{{0}, {1}, {4}}) == Answers{true, true, false});
  }
  SUBCASE("more of them than cores on a socket, fewer on the other") {
    const AffinityMask left = {0, 1, 2, 3};
    const AffinityMask right = {4, 5, 6, 7};
    CHECK(contended(bound, Masks{left, right, left, right}) == Answers(4, false));
    CHECK(contended(bound, Masks{left, right, left, left}) == Answers{true, false, true, true});
  }
  SUBCASE("masks that overlap") {
    // The third has core 2, where the first two fight for core 0.
    CHECK(contended(bound, Masks{{0}, {0}, {0, 4}}) == Answers{true, true, false});
    // Three on two cores, by masks that all differ; the fourth finds another one.
    CHECK(contended(bound, Masks{{0}, {0, 2}, {2}, {2, 4}}) == Answers{true, true, true, false});
    // The first has to make room: as late as possible.
    CHECK(contended(bound, Masks{{0, 2, 4, 6}, {0, 2, 4}, {0, 2}, {0}}) == Answers(4, false));
  }
  SUBCASE("units that the machine does not have") {
    CHECK(contended(bound, Masks{{0}, {64}}) == Answers{false, true});
  }
  SUBCASE("a CPU quota") {
    const Topology limited = machine.with_quota(2.5);
    CHECK(contended(limited, Masks{{0}, {2}}) == Answers(2, false));
    CHECK(contended(limited, Masks{{0}, {2}, {4}}) == Answers(3, true));
    CHECK(contended(machine.with_quota(0.5), Masks{everywhere}) == Answers{false});
  }
  CHECK_THROWS_AS(machine.has_contended_cores({}, 0), Error);
}

TEST_CASE("the CPU quota is divided by all processes of the machine") {
  const Topology machine = Topology::synthetic("pack:2 numa:2 core:4").with_quota(12);
  for (LauncherBinding binding : {LauncherBinding::none, LauncherBinding::disjoint}) {
    CHECK(machine.share(1, 4, binding).limits().quota_cores == 3.0);
    CHECK(machine.share(1, 4, binding).usable_core_count() == 3);
  }
  const std::vector<AffinityMask> masks = {machine.affinity(), AffinityMask{0}, machine.affinity()};
  CHECK(machine.share(masks, 2).limits().quota_cores == 4.0);
  CHECK(machine.share(masks, 2).core_count() == 8);
  CHECK(machine.share(0, 1, LauncherBinding::none).limits().quota_cores == 12.0);
}

TEST_CASE("an impossible place among the processes is refused") {
  const Topology machine = Topology::synthetic("core:4");
  for (LauncherBinding binding : {LauncherBinding::none, LauncherBinding::disjoint}) {
    CHECK_THROWS_AS(machine.share(0, 0, binding), Error);
    CHECK_THROWS_AS(machine.share(-1, 2, binding), Error);
    CHECK_THROWS_AS(machine.share(2, 2, binding), Error);
  }
}

}  // namespace topology_share_test
}  // namespace hycoll
