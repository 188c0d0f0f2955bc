// hycoll simulate as users meet it.
#include <doctest/doctest.h>

#include <string>

#include "tests/command/command_runs.h"
#include "tests/support/temporary_directory.h"

namespace hycoll::command {
namespace {

/// Whether the command can load what it simulates with.
bool has_simgrid() {
  static const bool has =
      !contains(hycoll({"simulate", "--platform", "star:hosts=1"}).errors, "has no SimGrid");
  return has;
}

TEST_CASE("bad platforms are refused with their place") {
  check_refused({"simulate", "--platform", "star"}, {"--platform: star: hosts is missing"});
  check_refused({"simulate", "--platform", "star:hosts=2;node:copy=0GB/s"},
                {"--platform: node", "copy='0GB/s'", "12.5GB/s"});
  check_refused({"simulate", "--platform", "/nowhere/file"}, {"--platform", "/nowhere/file"});
  check_refused({"simulate", "--platform", "star:hosts=2", "--algorithm", "all", "--svg", "-"},
                {"--svg and --trace show one algorithm"});
}

TEST_CASE("the network can be had as SimGrid reads it") {
  const TemporaryDirectory folder;
  const std::string path = folder.file("star.xml");
  REQUIRE(hycoll({"simulate", "--platform", "star:hosts=2", "--xml", path}).status == 0);
  CHECK(contains(text_of(path), "<host id=\"node1\" speed=\"1Gf\"/>"));
  check_refused({"simulate", "--platform", path, "--xml", "-"}, {"--xml", path});
  if (!has_simgrid()) return;
  CHECK(json_of({"simulate", "--platform", path, "--json", "-"}).at("context").at("hosts") == 2);
}

TEST_CASE("without contention, a simulation and the price of the same plan agree") {
  if (!has_simgrid()) return;
  const TemporaryDirectory folder;
  const std::string trace = folder.file("trace.json");
  const std::string svg = folder.file("call.svg");
  const Json simulated = json_of({"simulate", "allreduce", "--platform", "star:hosts=8",
                                  "--algorithm", "recursive-doubling", "--bytes", "64Ki", "--trace",
                                  trace, "--svg", svg, "--json", "-"})
                             .at("records")
                             .at(0);
  const Json priced =
      json_of({"plan", "allreduce", "--nodes", "8", "--algorithm", "recursive-doubling", "--bytes",
               "64Ki", "--price", "default", "--json", "-"})
          .at("records")
          .at(0);
  CHECK(simulated.at("time_us").get<double>() ==
        doctest::Approx(priced.at("time_us").get<double>()).epsilon(0.02));
  CHECK(simulated.at("messages") == 24);
  CHECK(simulated.at("links").size() == 10);
  CHECK(simulated.at("path").at("message_us").get<double>() > 0);
  CHECK(parse_json(text_of(trace)).at("traceEvents").size() > 24);
  CHECK(contains(text_of(svg), "simulated time in us"));
}

TEST_CASE("an oversubscribed switch makes a call longer, and its link is the hottest") {
  if (!has_simgrid()) return;
  const auto simulated = [](const std::string& platform) {
    return json_of({"simulate", "alltoall", "--platform", platform, "--algorithm", "pairwise",
                    "--bytes", "1Mi", "--json", "-"})
        .at("records")
        .at(0);
  };
  const Json wide = simulated("tree:2x4,uplink=50GB/s");
  const Json narrow = simulated("tree:2x4,uplink=6.25GB/s");
  CHECK(narrow.at("time_us").get<double>() > 3 * wide.at("time_us").get<double>());
  const std::string hottest = narrow.at("links").at(0).at("link");
  CHECK(hottest.starts_with("switch."));
  CHECK(narrow.at("links").at(0).at("utilisation").get<double>() > 0.9);
}

TEST_CASE("the ring's break-even on the paper's Ethernet is reproduced, with picture and page") {
  if (!has_simgrid()) return;
  const TemporaryDirectory folder;
  const std::string svg = folder.file("ring.svg");
  const std::string html = folder.file("ring.html");
  const Json document =
      json_of({"reproduce", "ring-figure-6", "--svg", svg, "--html", html, "--json", "-"});
  const Json claim = document.at("records").at(0);
  CHECK(claim.at("kind") == "claim");
  CHECK(claim.at("paper") == 256 * 1024);
  CHECK(claim.at("here") == 256 * 1024);
  CHECK(document.at("records").at(1).at("kind") == "time");
  CHECK(contains(text_of(svg), "ring-figure-6"));
  CHECK(contains(text_of(html), "1 of 1 numbers are within 30 %"));
}

}  // namespace
}  // namespace hycoll::command
