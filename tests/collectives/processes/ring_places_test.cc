// Hosts by their names in the network.

#include "collectives/job/ring_places.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "core/network/network_file.h"

namespace hycoll {
namespace ring_places_test {

NetworkTree two_leaves() {
  return read_network(
      "SwitchName=top Switches=a,b\nSwitchName=a Nodes=n[0,2,4]\n"
      "SwitchName=b Nodes=n[1,3],n5.site\n",
      "file");
}

HostPositions positions(const std::vector<std::string>& hosts) {
  return positions_in_ring(two_leaves(), hosts);
}

TEST_CASE("hosts come as in the ring, which begins with the first") {
  CHECK(positions({"n0", "n1", "n2", "n3"}).positions == std::vector<int>{0, 2, 1, 3});
  CHECK(positions({"n3", "n0", "n4", "n1"}).positions == std::vector<int>{0, 1, 2, 3});
  CHECK(positions({"n2"}).positions == std::vector<int>{0});
}

TEST_CASE("several places of a host have one position") {
  CHECK(positions({"n1", "n0", "n1", "n0"}).positions == std::vector<int>{0, 1, 0, 1});
}

TEST_CASE("hosts are found by whole names, or by what stands before the first dot") {
  CHECK(positions({"n0.site.org", "n1", "n2.site"}).positions == std::vector<int>{0, 2, 1});
  CHECK(positions({"n0", "n5.site"}).unknown.empty());
  CHECK(positions({"n0", "n5"}).unknown == "n5");
  CHECK(positions({"n0", "n5"}).positions.empty());
  CHECK(positions({"n0", "top"}).unknown == "top");
}

}  // namespace ring_places_test
}  // namespace hycoll
