
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <memory>

#include "core/simulation/simgrid_plugin.h"
#include "core/simulation/simgrid_xml.h"
#include "tests/core/simulation/simulated.h"
#include "tests/support/temporary_directory.h"

namespace hycoll {
namespace simgrid_network_test {

/// SimGrid has one engine in a process, so that all networks are parts of one. Each part is by
/// itself: s0 to s8 have links that nobody shares, the others hang below two switches, whose link
/// is half as fast as a host's.
constexpr std::string_view kEdges =
    "core a0\ncore a1\ncore a2\ncore a3\ncore a4\ncore a5\ncore a6\ncore a7\ncore a8\n"
    "core left 0.5\ncore right 0.5\n"
    "left x0\nleft x1\nright y0\nright y1\n";

/// Hosts by name: a0 to a8, x0, x1, y0, y1.
constexpr int kX0 = 9;
constexpr int kX1 = 10;
constexpr int kY0 = 11;
constexpr int kY1 = 12;

FlowNetwork& network() {
  static const std::unique_ptr<FlowNetwork> only = [] {
    const TemporaryDirectory folder;
    const std::string path = folder.file("platform.xml");
    std::ofstream(path) << to_simgrid_xml(platform_of_edges(kEdges));
    return std::unique_ptr<FlowNetwork>(hycoll_open_simgrid("--platform", path.c_str(), false));
  }();
  return *only;
}

/// Begins flows of 1000 bytes at once, and waits for the last one.
double time_of(std::initializer_list<std::pair<int, int>> pairs) {
  FlowNetwork& net = network();
  net.reset();
  int id = 0;
  for (const auto& [from, to] : pairs) {
    net.begin({.id = id++, .from_host = from, .to_host = to, .size_bytes = 1000}, 0);
  }
  double last = 0;
  for (; id > 0; --id) {
    last = std::max(last, net.next(std::numeric_limits<double>::infinity())->time_us);
  }
  return last;
}

TEST_CASE("hosts are in the order of their names") {
  CHECK(network().host_count() == 13);
  CHECK(network().host_name(0) == "a0");
  CHECK(network().host_name(kX0) == "x0");
}

TEST_CASE("without contention the simulation takes what the walk takes") {
  check_agreement(network());
}

TEST_CASE("two flows that share a link take twice as long") {
  CHECK(time_of({{0, 1}}) == doctest::Approx(1));
  CHECK(time_of({{0, 1}, {2, 3}}) == doctest::Approx(1));
  CHECK(time_of({{0, 1}, {0, 2}}) == doctest::Approx(2));
  CHECK(time_of({{0, 2}, {1, 2}}) == doctest::Approx(2));
  // Both directions of a link are there at once.
  CHECK(time_of({{0, 1}, {1, 0}}) == doctest::Approx(1));
}

TEST_CASE("an oversubscribed switch slows what passes it, and nothing else") {
  CHECK(time_of({{kX0, kX1}, {kY0, kY1}}) == doctest::Approx(1));
  CHECK(time_of({{kX0, kY0}}) == doctest::Approx(2));
  CHECK(time_of({{kX0, kY0}, {kX1, kY1}}) == doctest::Approx(4));
}

TEST_CASE("links tell what they have carried") {
  time_of({{kX0, kY0}, {kX1, kY1}});
  const std::vector<LinkUse> uses = network().link_uses();
  const auto up = std::ranges::find(uses, "left up", &LinkUse::link);
  REQUIRE(up != uses.end());
  CHECK(up->size_bytes == doctest::Approx(2000));
  CHECK(up->gb_per_s == doctest::Approx(0.5));
  CHECK(std::ranges::find(uses, "left down", &LinkUse::link) == uses.end());
}

TEST_CASE("times go on from where they were asked for") {
  FlowNetwork& net = network();
  net.reset();
  net.begin({.id = 7, .from_host = 0, .to_host = 1, .size_bytes = 1000}, 5);
  CHECK_FALSE(net.next(5.5));
  net.begin({.id = 8, .from_host = 0, .to_host = 2, .size_bytes = 1000}, 5.5);
  // 500 bytes are left of the first one, and both share the link.
  const auto first = net.next(100);
  REQUIRE(first);
  CHECK(first->id == 7);
  CHECK(first->time_us == doctest::Approx(6.5));
  const auto second = net.next(100);
  REQUIRE(second);
  CHECK(second->time_us == doctest::Approx(7));
  CHECK_FALSE(net.next(100));
}

}  // namespace simgrid_network_test
}  // namespace hycoll
