// Rings over random trees are free of contention, as a plain count of messages on links says.

#include "core/network/ring_order.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/network/link_loads.h"
#include "core/network/network_file.h"
#include "tests/core/network/network_texts.h"
#include "tests/support/seed.h"

namespace hycoll {
namespace ring_order_test {

using Random = std::mt19937_64;

int drawn(Random& random, int least, int most) {
  return std::uniform_int_distribution(least, most)(random);
}

enum class Growth { anywhere, deep, wide };

/// Switches that hang below others, and hosts below any of them; some links carry more messages.
NetworkTree random_tree(Random& random, Growth growth) {
  NetworkDescription network("random");
  const int switches = drawn(random, 1, 12);
  const int hosts = drawn(random, 1, 24);
  std::vector<std::pair<int, int>> links;
  for (int number = 0; number < switches; ++number) {
    network.add(fmt::format("s{}", number), NetworkVertex::Kind::network_switch, 1);
    if (number == 0) continue;
    const int least = growth == Growth::deep ? std::max(0, number - 2) : 0;
    const int most = growth == Growth::wide ? std::min(number - 1, 2) : number - 1;
    links.emplace_back(drawn(random, least, most), number);
  }
  for (int number = 0; number < hosts; ++number) {
    const int host = network.add(fmt::format("n{}", number), NetworkVertex::Kind::host, 1);
    links.emplace_back(drawn(random, 0, switches - 1), host);
  }
  std::ranges::shuffle(links, random);
  for (const auto& [upper, lower] : links) {
    network.link(upper, lower, drawn(random, 1, 4) / 2.0, 1);
  }
  return std::move(network).tree(drawn(random, 0, switches - 1));
}

/// Messages by direction of a link: from one vertex to another.
using PlainLoads = std::map<std::pair<int, int>, int>;

/// The way between two vertices, found by looking at all that can be reached.
std::vector<int> plain_way(const NetworkTree& tree, int from, int to) {
  std::map<int, int> came_from = {{from, from}};
  for (std::vector<int> reached = {from}; !came_from.contains(to);) {
    std::vector<int> next;
    for (const int vertex : reached) {
      std::vector<int> neighbours = tree.at(vertex).children;
      if (vertex != tree.root()) neighbours.push_back(tree.at(vertex).parent);
      for (const int neighbour : neighbours) {
        if (came_from.try_emplace(neighbour, vertex).second) next.push_back(neighbour);
      }
    }
    reached = next;
  }
  std::vector<int> way = {to};
  while (way.back() != from) way.push_back(came_from.at(way.back()));
  std::ranges::reverse(way);
  return way;
}

PlainLoads plain_loads(const NetworkTree& tree, const std::vector<int>& ring) {
  PlainLoads loads;
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const std::vector<int> way = plain_way(tree, ring[i], ring[(i + 1) % ring.size()]);
    for (std::size_t hop = 1; hop < way.size(); ++hop) ++loads[{way[hop - 1], way[hop]}];
  }
  return loads;
}

void check_loads(const NetworkTree& tree, const std::vector<int>& ring) {
  PlainLoads plain = plain_loads(tree, ring);
  std::vector<LinkLoad> expected;
  int most = 0;
  for (int vertex = 0; std::cmp_less(vertex, tree.vertices().size()); ++vertex) {
    const int parent = tree.at(vertex).parent;
    expected.push_back({.up = plain[{vertex, parent}], .down = plain[{parent, vertex}]});
    most = std::max(most, expected.back().most());
  }
  const std::vector<LinkLoad> loads = ring_loads(tree, ring);
  CHECK(loads == expected);
  CHECK(most_messages(loads) == most);
}

/// Every host once, from the first one on; each link carries one message in each direction, or none
/// where all hosts are on one side of it.
void check_ring(const NetworkTree& tree, const std::vector<int>& hosts) {
  std::vector<int> ring = ring_order(tree, hosts);
  REQUIRE(ring.size() == hosts.size());
  CHECK(ring.front() == hosts.front());
  const PlainLoads loads = plain_loads(tree, ring);
  CHECK(std::ranges::all_of(loads, [](const auto& load) { return load.second == 1; }));
  check_loads(tree, ring);
  std::vector<int> sorted = hosts;
  std::ranges::sort(sorted);
  std::ranges::sort(ring);
  CHECK(ring == sorted);
}

TEST_CASE("no link of a random tree carries two messages in one direction") {
  Random random(41 + tests::seed_offset());
  for (int trial = 0; trial < 3000; ++trial) {
    CAPTURE(trial);
    const NetworkTree tree = random_tree(random, static_cast<Growth>(trial % 3));
    std::vector<int> hosts = tree.hosts();
    check_ring(tree, hosts);
    // Those of a job, in the order of its ranks.
    std::ranges::shuffle(hosts, random);
    hosts.resize(static_cast<std::size_t>(drawn(random, 1, static_cast<int>(hosts.size()))));
    check_loads(tree, hosts);
    check_ring(tree, hosts);
  }
}

std::vector<int> hosts_named(const NetworkTree& tree, const std::vector<std::string>& names) {
  std::vector<int> hosts;
  for (const std::string& name : names) hosts.push_back(tree.find_host(name));
  return hosts;
}

TEST_CASE("a ring that goes to and fro between two switches loads the links above them") {
  const NetworkTree tree = read_network(tests::kConf, "file");
  const std::vector<int> to_and_fro = hosts_named(tree, {"n1", "n4", "n2", "n5", "n3", "m01"});
  const std::vector<LinkLoad> loads = ring_loads(tree, to_and_fro);
  CHECK(most_messages(loads) == 3);
  const BusiestLink busiest = busiest_link(tree, loads);
  CHECK(tree.at(busiest.vertex).name == "leaf1");
  CHECK(busiest.messages == 3);
  CHECK(busiest.share == 3);
  CHECK(ring_order(tree, to_and_fro) == hosts_named(tree, {"n1", "n2", "n3", "n4", "n5", "m01"}));
}

TEST_CASE("what a link carries counts by its capacity") {
  const NetworkTree tree = read_network("top a 4\ntop b 4\na n1\na n2\nb n3 0.5\nb n4\n", "file");
  const std::vector<LinkLoad> loads = ring_loads(tree, hosts_named(tree, {"n1", "n3", "n2", "n4"}));
  CHECK(most_messages(loads) == 2);
  const BusiestLink busiest = busiest_link(tree, loads);
  CHECK(tree.at(busiest.vertex).name == "n3");
  CHECK(busiest.messages == 1);
  CHECK(busiest.share == 2);
}

TEST_CASE("one host sends nothing, two send to each other") {
  const NetworkTree tree = read_network("s a\ns b\n", "file");
  const std::vector<int> alone = {tree.find_host("b")};
  CHECK(ring_order(tree, alone) == alone);
  CHECK(most_messages(ring_loads(tree, alone)) == 0);
  CHECK(busiest_link(tree, ring_loads(tree, alone)).vertex == -1);
  const std::vector<int> both = hosts_named(tree, {"b", "a"});
  CHECK(ring_order(tree, both) == both);
  CHECK(most_messages(ring_loads(tree, both)) == 1);
}

TEST_CASE("trees deeper than a stack") {
  std::string chain;
  for (int depth = 0; depth < 60'000; ++depth) chain += fmt::format("s{} s{}\n", depth, depth + 1);
  chain += "s0 a\ns60000 b\n";
  const NetworkTree tree = read_network(chain, "file");
  CHECK(most_messages(ring_loads(tree, ring_order(tree, tree.hosts()))) == 1);
}

}  // namespace ring_order_test
}  // namespace hycoll
