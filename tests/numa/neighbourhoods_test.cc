#include "numa/topology/neighbourhoods.h"

#include <doctest/doctest.h>

#include <numeric>
#include <string>
#include <vector>

#include "core/base/errors.h"

namespace hycoll {
namespace {

using Levels = std::vector<NeighbourhoodSizes>;

Levels filled(const std::string& description, int worker_count) {
  std::vector<int> cores(static_cast<std::size_t>(worker_count));
  std::iota(cores.begin(), cores.end(), 0);
  return neighbourhoods(Topology::synthetic(description), cores);
}

TEST_CASE("workers that fill a machine have its caches, domains and packages") {
  CHECK(filled("pack:2 numa:2 l3:2 core:2", 16) ==
        Levels{{2, 2, 2, 2, 2, 2, 2, 2}, {4, 4, 4, 4}, {8, 8}});
  CHECK(filled("pack:2 numa:2 l3:2 core:2", 11) == Levels{{2, 2, 2, 2, 2, 1}, {4, 4, 3}, {8, 3}});
}

TEST_CASE("a cache of several domains comes behind them") {
  CHECK(filled("pack:2 l3:1 numa:2 core:2", 8) == Levels{{2, 2, 2, 2}, {4, 4}, {4, 4}});
}

TEST_CASE("workers that share something without being neighbours have no such groups") {
  const Topology topology = Topology::synthetic("pack:2 numa:1 l3:2 core:2");
  const std::vector<int> in_turn = {0, 4, 1, 5};
  CHECK(neighbourhoods(topology, in_turn).empty());
  const std::vector<int> caches_in_turn = {0, 2, 1, 3, 4, 6};
  CHECK(neighbourhoods(topology, caches_in_turn) == Levels{{4, 2}, {4, 2}});
}

TEST_CASE("a core that is not there is refused") {
  const Topology topology = Topology::synthetic("core:2");
  CHECK_THROWS_AS(neighbourhoods(topology, std::vector{0, 2}), Error);
  CHECK_THROWS_AS(neighbourhoods(topology, std::vector{-1}), Error);
}

}  // namespace
}  // namespace hycoll
