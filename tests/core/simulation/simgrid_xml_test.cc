#include "core/simulation/simgrid_xml.h"

#include <doctest/doctest.h>

#include <string>

#include "tests/core/simulation/simulated.h"

namespace hycoll {
namespace simgrid_xml_test {

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("each link of a tree is one up and one down") {
  Platform platform = platform_of_edges("s t 4\ns a\nt b\nt c&d\n");
  platform.link_gb_per_s = 2;
  platform.link_latency_us = 0.25;
  const std::string xml = to_simgrid_xml(platform);
  CHECK(has(xml, "<host id=\"a\" speed=\"1Gf\"/>"));
  CHECK(has(xml, "<host id=\"c&amp;d\""));
  CHECK(has(xml, "<router id=\"t\"/>"));
  CHECK(has(xml, "<link id=\"t up\" bandwidth=\"8GBps\" latency=\"0.25us\"/>"));
  CHECK(has(xml, "<link id=\"a down\" bandwidth=\"2GBps\" latency=\"0.25us\"/>"));
  CHECK(has(xml, "<route src=\"t\" dst=\"s\" symmetrical=\"NO\"><link_ctn id=\"t up\"/></route>"));
  CHECK(
      has(xml, "<route src=\"s\" dst=\"t\" symmetrical=\"NO\"><link_ctn id=\"t down\"/></route>"));
}

TEST_CASE("links are as fast as cards unless something else is said") {
  CHECK(has(to_simgrid_xml(star(2)), "bandwidth=\"1GBps\" latency=\"0us\""));
}

TEST_CASE("SimGrid knows clusters by their topology") {
  Platform platform;
  platform.network = FatTree{{4, 8}, {1, 2}, {1, 1}};
  CHECK(host_count(platform.network) == 32);
  CHECK(has(to_simgrid_xml(platform),
            "radical=\"0-31\" speed=\"1Gf\" bw=\"12.5GBps\" lat=\"0us\" topology=\"FAT_TREE\" "
            "topo_parameters=\"2;4,8;1,2;1,1\"/>"));
  platform.network = Torus{{2, 3, 4}};
  CHECK(host_count(platform.network) == 24);
  CHECK(has(to_simgrid_xml(platform), "topology=\"TORUS\" topo_parameters=\"2,3,4\"/>"));
  platform.network = Dragonfly{.groups = 3,
                               .chassis = 2,
                               .routers = 4,
                               .hosts = 5,
                               .group_links = 6,
                               .chassis_links = 7,
                               .router_links = 8};
  CHECK(host_count(platform.network) == 120);
  CHECK(
      has(to_simgrid_xml(platform), "topology=\"DRAGONFLY\" topo_parameters=\"3,6;2,7;4,8;5\"/>"));
}

}  // namespace simgrid_xml_test
}  // namespace hycoll
