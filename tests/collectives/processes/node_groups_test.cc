#include "collectives/processes/node_groups.h"

#include <doctest/doctest.h>

#include <span>
#include <string>
#include <vector>

#include "core/base/errors.h"

namespace hycoll {
namespace {

std::vector<Core> cores_of(const Topology& topology) {
  return {topology.cores().begin(), topology.cores().end()};
}

TEST_CASE("sizes are those of every node") {
  const Topology topology = Topology::synthetic("core:2");
  const std::vector<NodeRun> nodes = {{.node = {8, 8}, .count = 3}, {.node = {5, 6}, .count = 1}};
  const std::vector<GroupedRun> groups = groups_of_nodes("2,4", nodes, topology, {});
  REQUIRE(groups.size() == 2);
  CHECK(to_text(groups[0].groups) == "2x4, 4x2");
  CHECK(groups[0].count == 3);
  CHECK(to_text(groups[1].groups) == "2x3, 4x1+2x1");
}

TEST_CASE("the machine's groups are those of one node whose workers are this process's") {
  const Topology topology = Topology::synthetic("pack:2 numa:1 l3:2 core:2");
  const std::vector<Core> cores = cores_of(topology);
  const std::vector<NodeRun> one = {{.node = {8, 8}, .count = 1}};
  const std::vector<GroupedRun> groups = groups_of_nodes("machine", one, topology, cores);
  REQUIRE(groups.size() == 1);
  CHECK(to_text(groups[0].groups) == "2x4, 4x2");
  const std::vector<NodeRun> two = {{.node = {8, 8}, .count = 2}};
  CHECK(groups_of_nodes("machine", two, topology, cores).empty());
  CHECK(groups_of_nodes("machine", one, topology, std::span(cores).first(4)).empty());
  CHECK(groups_of_nodes("flat", one, topology, cores).empty());
}

TEST_CASE("nodes that are flat have none") {
  const Topology topology = Topology::synthetic("l3:1 core:4");
  const std::vector<NodeRun> nodes = {{.node = {4, 4}, .count = 1}};
  CHECK(groups_of_nodes("machine", nodes, topology, cores_of(topology)).empty());
  CHECK(groups_of_nodes("1,4,8", nodes, topology, {}).empty());
}

TEST_CASE("what is no group is refused by its name") {
  const Topology topology = Topology::synthetic("core:1");
  const std::vector<NodeRun> nodes = {{.node = {8, 8}, .count = 1}};
  for (const char* text : {"", ",", "2,", "two", "2 4", "-2", "0", "2000000", "4,6", "Machine"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(groups_of_nodes(text, nodes, topology, {}), Error);
  }
}

}  // namespace
}  // namespace hycoll
