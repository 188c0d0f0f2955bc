#include "core/drawing/network_svg.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "core/base/errors.h"
#include "core/network/network_file.h"
#include "core/network/ring_order.h"
#include "tests/core/drawing/svg_text.h"

namespace hycoll {
namespace network_svg_test {

using tests::count;
using tests::xml_problem;

TEST_CASE("each ring has its panel, with all links, names and arrows") {
  const NetworkTree tree = read_network(
      "SwitchName=top Switches=a,b\nSwitchName=a Nodes=n[1,3],<&>\n"
      "SwitchName=b Nodes=n[2,4]\n",
      "file");
  std::vector<int> natural;
  for (const char* name : {"n1", "n2", "n3", "n4"}) natural.push_back(tree.find_host(name));
  const std::vector<int> ring = ring_order(tree, natural);
  const NamedRing rings[] = {{.name = "one", .hosts = ring}, {.name = "a<b", .hosts = natural}};
  const std::string svg = network_svg(tree, rings);
  CHECK(xml_problem(svg) == "");
  CHECK(count(svg, "one: at most 1 message on a link") == 1);
  CHECK(count(svg, "a&lt;b: at most 2 messages on a link") == 1);
  CHECK(count(svg, "<line ") == 2 * 7);
  CHECK(count(svg, "class=\"vertex\"") == 2 * 8);
  CHECK(count(svg, ">&lt;&amp;&gt;</text>") == 2);
  CHECK(count(svg, "class=\"arrow\"") == 2 * 4);
  CHECK(count(svg, "a to top: 1 up, 1 down") == 1);
  CHECK(count(svg, "a to top: 2 up, 2 down") == 1);
  CHECK(count(svg, "class=\"number\"") == 2);
}

TEST_CASE("a host alone, and two with a link of their own") {
  for (const char* text : {"alone\n", "a b\n"}) {
    const NetworkTree tree = read_network(text, "file");
    const std::vector<int> hosts = tree.hosts();
    const NamedRing ring[] = {{.name = "ring", .hosts = hosts}};
    const std::string svg = network_svg(tree, ring);
    CHECK(xml_problem(svg) == "");
    CHECK(count(svg, "class=\"arrow\"") == (hosts.size() == 1 ? 0 : 2));
  }
}

TEST_CASE("networks too large to be looked at are refused") {
  const NetworkTree tree =
      read_network(fmt::format("SwitchName=s Nodes=n[1-{}]\n", kMostDrawnVertices), "file");
  const std::vector<int> hosts = tree.hosts();
  const NamedRing ring[] = {{.name = "ring", .hosts = hosts}};
  CHECK_THROWS_WITH_AS(network_svg(tree, ring), doctest::Contains("2001 switches and hosts"),
                       Error);
}

}  // namespace network_svg_test
}  // namespace hycoll
