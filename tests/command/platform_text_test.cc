#include "tools/command/simulating/platform_text.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <variant>

#include "core/base/errors.h"
#include "core/simulation/simgrid_xml.h"
#include "tests/support/mutated_text.h"
#include "tests/support/seed.h"
#include "tests/support/temporary_directory.h"

namespace hycoll::command {
namespace platform_text_test {

Platform parsed(std::string_view text, int usual_hosts = 0) {
  return parse_platform(text, "--platform", "", usual_hosts);
}

TEST_CASE("a description is a network and what a node is") {
  const Platform platform = parsed(
      "fat-tree:hosts=70,ports=16,oversubscription=2,link=25GB/s,latency=90ns;"
      "node:packages=2,domains=4,cores=12,memory=300GB/s,alpha=1.1us");
  CHECK(std::get<FatTree>(platform.network) == FatTree{{16, 5}, {1, 8}, {1, 1}});
  CHECK(platform.link_gb_per_s == 25);
  CHECK(platform.link_latency_us == doctest::Approx(0.09));
  CHECK(platform.host == HostMachine{.packages = 2, .domains = 4, .cores = 12});
  CHECK(platform.prices.memory_gb_per_s == 300);
  CHECK(platform.prices.alpha_us == doctest::Approx(1.1));
  CHECK(platform.prices.bandwidth_gb_per_s == MachinePrices{}.bandwidth_gb_per_s);
  CHECK(platform.name == "fat tree of 2 levels");
}

TEST_CASE("each kind of network") {
  CHECK(std::get<Torus>(parsed("torus:2x3x4").network) == Torus{{2, 3, 4}});
  CHECK(std::get<Dragonfly>(
            parsed("dragonfly:groups=4,chassis=2,routers=3,hosts=5,group-links=6").network) ==
        Dragonfly{.groups = 4, .chassis = 2, .routers = 3, .hosts = 5, .group_links = 6});
  CHECK(std::get<FatTree>(parsed("fat-tree:levels=3,ports=4,hosts=64").network) ==
        FatTree{{4, 4, 4}, {1, 4, 4}, {1, 1, 1}});
  const NetworkTree star = std::get<NetworkTree>(parsed("star", 7).network);
  CHECK(star.hosts().size() == 7);
  CHECK(star.vertices().size() == 8);
  const NetworkTree tree =
      std::get<NetworkTree>(parsed("tree:2x3,uplink=25GB/s;node:bandwidth=12.5GB/s").network);
  CHECK(tree.hosts().size() == 6);
  CHECK(tree.vertices().size() == 9);
  CHECK(tree.at(tree.at(tree.find_host("node4")).parent).capacity == 2);
  CHECK(std::get<SimGridFile>(parsed("simgrid:a.xml").network) == SimGridFile{"a.xml"});
}

TEST_CASE("a card slower than the link is what a host's link can carry") {
  const NetworkTree star =
      std::get<NetworkTree>(parsed("star:hosts=2,link=50GB/s;node:bandwidth=12.5GB/s").network);
  CHECK(star.at(star.hosts().front()).capacity == 0.25);
}

TEST_CASE("a file has a part a line, comments, and parts in several lines") {
  const TemporaryDirectory folder;
  const std::string path = folder.file("my.platform");
  std::ofstream(path) << "# mine\nname: My machine # here\n\ntorus: 2x2, latency=1us\n"
                         "torus: link=3GB/s\nnode: cores=4\nnode: alpha=2us\n";
  const Platform platform = platform_argument("--platform", path, 0);
  CHECK(platform.name == "My machine");
  CHECK(platform.link_gb_per_s == 3);
  CHECK(platform.link_latency_us == 1);
  CHECK(platform.host.cores == 4);
  CHECK(platform.prices.alpha_us == 2);
}

TEST_CASE("files of hycoll ring and of SimGrid are platforms, too") {
  const TemporaryDirectory folder;
  const std::string edges = folder.file("edges");
  std::ofstream(edges) << "top a\ntop b 2\ntop c\n";
  CHECK(host_count(platform_argument("--platform", edges, 0).network) == 3);
  CHECK(std::get<SimGridFile>(platform_argument("--platform", "x.xml", 0).network).path == "x.xml");
  const std::string by_name = folder.file("named.platform");
  std::ofstream(by_name) << "topology: edges\nnode: cores=2\n";
  CHECK(host_count(platform_argument("--platform", by_name, 0).network) == 3);
}

TEST_CASE("what cannot be understood is refused with its place and what was expected") {
  const auto check_refused = [](std::string_view text, const char* message) {
    CAPTURE(text);
    CHECK_THROWS_WITH_AS(parsed(text), message, Error);
  };
  check_refused("node:cores=4",
                "--platform: there is no network. Give one of star, tree, fat-tree, torus, "
                "dragonfly, topology, simgrid");
  check_refused("star:hosts=2;ring:4",
                "--platform: there is no 'ring'. Give one of star, tree, fat-tree, torus, "
                "dragonfly, topology, simgrid, or node or name");
  check_refused("star:hosts=2;torus:2",
                "--platform: torus: a second network; there is star before. Give one");
  check_refused("star", "--platform: star: hosts is missing. Give hosts=COUNT, or --nodes");
  check_refused("star:hosts=-3",
                "--platform: star: hosts='-3'; expected a whole number from 1 to 65536");
  check_refused("star:hosts=2,hosts=3", "--platform: star: hosts is given twice. Give it once");
  check_refused("star:hosts=2,colour=red",
                "--platform: star: there is no 'colour'. Give some of link, latency, hosts");
  check_refused("star:hosts=2,link=0GB/s",
                "--platform: star: link='0GB/s' is no rate above 0 in GB/s or MB/s. Give a rate "
                "such as 12.5GB/s, or unlimited");
  check_refused("star:hosts=2,link=5",
                "--platform: star: link='5' is no rate above 0 in GB/s or MB/s. Give a rate such "
                "as 12.5GB/s, or unlimited");
  check_refused("star:hosts=2;node:cores=0",
                "--platform: node: cores='0'; expected a whole number from 1 to 1024");
  check_refused("torus:2x0", "--platform: torus: '2x0'; expected numbers from 1 on, such as 8x8x8");
  check_refused("torus:2000x2000",
                "--platform: torus: '2000x2000' makes 4000000 hosts; expected 65536 at most");
  check_refused("fat-tree:hosts=64,ports=16,oversubscription=3",
                "--platform: fat-tree: 16 hosts below a leaf switch and oversubscription 3 make "
                "5.33333 links up; expected a whole number of them");
  check_refused("dragonfly:groups=5,routers=4",
                "--platform: dragonfly: 5 groups of 4 routers; a group has a router for each "
                "group, so that chassis x routers must be at least as many as groups");
  CHECK_THROWS_WITH_AS(parsed("star:hosts=2\nnode:speed=4"),
                       doctest::Contains("--platform:2: node, besides packages, domains and cores: "
                                         "there is no price 'speed'"),
                       Error);
  CHECK_THROWS_WITH_AS(platform_argument("--platform", "/nowhere", 0),
                       doctest::Contains("--platform '/nowhere'"), Error);
}

TEST_CASE("mutated descriptions become platforms, or are refused by name") {
  constexpr std::string_view kText =
      "name: one # 1\nfat-tree: hosts=24, ports=8, oversubscription=2, link=3GB/s, latency=50ns\n"
      "node: packages=2, domains=1, cores=14 # text\nnode: bandwidth=12.5GB/s, alpha=1us\n";
  constexpr std::string_view kOthers[] = {
      "tree:2x3,uplink=2GB/s;node:cores=4", "torus:2x3x4,link=1GB/s",
      "dragonfly:groups=4,chassis=2,routers=3,hosts=5,group-links=6"};
  tests::Random random(41 + tests::seed_offset());
  int read = 0;
  int refused = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    const std::string_view original = trial % 2 == 0 ? kText : kOthers[trial / 2 % 3];
    const std::string text = tests::mutated(std::string(original), "=:,x \t\n0.-9\"<>\xff", random);
    CAPTURE(text);
    try {
      const Platform platform = parsed(text, 3);
      ++read;
      CHECK(host_count(platform.network) > 0);
      CHECK(to_simgrid_xml(platform).ends_with("</platform>\n"));
    } catch (const Error& error) {
      ++refused;
      CHECK(error.kind() == ErrorKind::invalid_argument);
      CHECK_MESSAGE(std::string_view(error.what()).starts_with("--platform"), error.what());
    }
  }
  CHECK(read > 100);
  CHECK(refused > 1000);
}

TEST_CASE("the platforms of the documents can be read, and have cores for what papers run") {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("docs/platforms")) {
    if (entry.path().extension() != ".platform") continue;
    CAPTURE(entry.path().string());
    const Platform platform = platform_argument("--platform", entry.path(), 0);
    CHECK(host_count(platform.network) >= 16);
    CHECK(platform.host.cores > 0);
    CHECK_FALSE(platform.name.empty());
    ++count;
  }
  CHECK(count == 13);
  CHECK(platform_argument("--platform", "dpml-b", 0).name == "DPML cluster B");
}

}  // namespace platform_text_test
}  // namespace hycoll::command
