#include "collectives/job/worker_groups.h"

#include <doctest/doctest.h>

#include <span>
#include <string>
#include <vector>

#include "core/base/errors.h"

namespace hycoll {
namespace worker_groups_test {

std::vector<CorePlace> places_of(const std::string& description) {
  const Topology topology = Topology::synthetic(description);
  std::vector<CorePlace> places;
  for (const Core& core : topology.cores()) places.push_back(place_of(core));
  return places;
}

TEST_CASE("sizes are those of every node") {
  const std::vector<EqualNodes> nodes = {{.node = {8, 8}, .count = 3},
                                         {.node = {5, 6}, .count = 1}};
  const std::vector<EqualNearness> near = groups_of_sizes(nodes, std::vector{2, 4});
  REQUIRE(near.size() == 2);
  CHECK(to_text(near[0].groups) == "2x4, 4x2");
  CHECK(near[0].shared == std::vector{Proximity::cache, Proximity::domain, Proximity::package});
  CHECK(near[0].count == 3);
  CHECK(to_text(near[1].groups) == "2x3, 4x1+2x1");
  CHECK(groups_of_sizes(nodes, std::vector{1, 4, 8}).size() == 2);
}

TEST_CASE("the machine's groups are of workers that share something") {
  const EqualNearness near = groups_of_places(places_of("pack:2 numa:1 l3:2 core:2"));
  CHECK(to_text(near.groups) == "2x4, 4x2");
  CHECK(near.shared == std::vector{Proximity::cache, Proximity::domain, Proximity::machine});
  const EqualNearness one_package = groups_of_places(places_of("pack:1 numa:1 l3:3 core:2"));
  CHECK(to_text(one_package.groups) == "2x3");
  CHECK(one_package.shared == std::vector{Proximity::cache, Proximity::domain});
}

TEST_CASE("nodes that are flat have none") {
  const std::vector<EqualNodes> nodes = {{.node = {4, 4}, .count = 1}};
  CHECK(groups_of_places(places_of("l3:1 core:4")).groups.is_flat());
  CHECK(groups_of_places({}).groups.is_flat());
  CHECK(groups_of_sizes(nodes, std::vector{1, 4, 8}).empty());
  CHECK(groups_of_sizes(nodes, {}).empty());
}

TEST_CASE("numbers tell all of a node's groups") {
  for (const char* machine : {"core:3", "l3:2 core:2", "pack:2 numa:2 l3:2 core:3"}) {
    const std::vector<CorePlace> places = places_of(machine);
    for (std::size_t count = 0; count <= places.size(); ++count) {
      const EqualNearness near = groups_of_places(std::span(places).first(count));
      CHECK(unpacked(packed(near)) == near);
    }
  }
  CHECK(packed(groups_of_places(places_of("pack:2 numa:4 l3:4 core:4"))).size() == 13);
}

TEST_CASE("what is no group is refused by its name") {
  CHECK(parse_groups("machine").is_of_machine);
  CHECK(parse_groups("flat").sizes.empty());
  CHECK(parse_groups("2,4").sizes == std::vector{2, 4});
  for (const char* text : {"", ",", "2,", "two", "2 4", "-2", "0", "2000000", "4,6", "Machine"}) {
    CAPTURE(text);
    CHECK_THROWS_WITH_AS(parse_groups(text), doctest::Contains("groups"), Error);
  }
}

}  // namespace worker_groups_test
}  // namespace hycoll
