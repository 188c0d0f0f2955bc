#include "numa/topology/neighbourhoods.h"

#include <doctest/doctest.h>

#include <numeric>
#include <string>
#include <vector>

#include "core/base/errors.h"

namespace hycoll {
namespace neighbourhoods_test {

using Levels = std::vector<Neighbourhood>;

constexpr auto kCore = Proximity::core;
constexpr auto kCache = Proximity::cache;
constexpr auto kDomain = Proximity::domain;
constexpr auto kPackage = Proximity::package;

std::vector<CorePlace> places(const std::string& description, const std::vector<int>& cores) {
  const Topology topology = Topology::synthetic(description);
  std::vector<CorePlace> found;
  for (const int core : cores) {
    found.push_back(place_of(topology.cores()[static_cast<std::size_t>(core)]));
  }
  return found;
}

Levels filled(const std::string& description, int worker_count) {
  std::vector<int> cores(static_cast<std::size_t>(worker_count));
  std::iota(cores.begin(), cores.end(), 0);
  return neighbourhoods(places(description, cores));
}

TEST_CASE("workers that fill a machine have its caches, domains and packages") {
  CHECK(filled("pack:2 numa:2 l3:2 core:2", 16) ==
        Levels{{kCache, {2, 2, 2, 2, 2, 2, 2, 2}}, {kDomain, {4, 4, 4, 4}}, {kPackage, {8, 8}}});
  CHECK(filled("pack:2 numa:2 l3:2 core:2", 11) ==
        Levels{{kCache, {2, 2, 2, 2, 2, 1}}, {kDomain, {4, 4, 3}}, {kPackage, {8, 3}}});
}

TEST_CASE("a cache of several domains comes behind them") {
  CHECK(filled("pack:2 l3:1 numa:2 core:2", 8) == Levels{{kCache, {2, 2, 2, 2}}, {kCache, {4, 4}}});
}

TEST_CASE("workers that share something without being neighbours have no such groups") {
  const std::string machine = "pack:2 numa:1 l3:2 core:2";
  CHECK(neighbourhoods(places(machine, {0, 4, 1, 5})).empty());
  CHECK(neighbourhoods(places(machine, {0, 2, 1, 3, 4, 6})) == Levels{{kDomain, {4, 2}}});
}

TEST_CASE("two workers to a core are nearest to one another") {
  CHECK(neighbourhoods(places("pack:2 l3:1 core:2", {0, 0, 1, 1, 2, 2})) ==
        Levels{{kCore, {2, 2, 2}}, {kCache, {4, 2}}, {Proximity::machine, {6}}});
}

TEST_CASE("a domain of several packages brings these no nearer") {
  CHECK(filled("pack:2 l3:2 core:2", 8) ==
        Levels{{kCache, {2, 2, 2, 2}}, {kDomain, {4, 4}}, {Proximity::machine, {8}}});
}

TEST_CASE("what two workers share is the nearest of all that they do") {
  const std::vector<CorePlace> all = places("pack:2 numa:2 l3:2 core:2", {0, 0, 1, 2, 4, 8});
  const auto from_first = [&](std::size_t other) { return proximity_of(all[0], all[other]); };
  CHECK(from_first(1) == Proximity::core);
  CHECK(from_first(2) == Proximity::cache);
  CHECK(from_first(3) == Proximity::domain);
  CHECK(from_first(4) == Proximity::package);
  CHECK(from_first(5) == Proximity::machine);
  CHECK(proximity_of({}, {}) == Proximity::machine);  // nothing that is known
}

}  // namespace neighbourhoods_test
}  // namespace hycoll
