// hycoll simulate as users meet it.
#include <doctest/doctest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/command/command_runs.h"
#include "tests/support/mutated_text.h"
#include "tests/support/temporary_directory.h"
#include "tools/command/measuring/launch.h"

namespace hycoll::command {
namespace {

/// Whether the command can load what it simulates with.
bool has_simgrid() {
  static const bool has =
      !contains(hycoll({"simulate", "--platform", "star:hosts=1"}).errors, "has no SimGrid");
  return has;
}

/// The command as a job of two processes.
ChildResult hycoll_job(const Arguments& arguments) {
  Arguments program = {std::filesystem::absolute(std::getenv("HYCOLL_TEST_COMMAND")).string()};
  program.insert(program.end(), arguments.begin(), arguments.end());
  return run_child(mpiexec_command(2, RankBinding::none, program), std::chrono::seconds(60));
}

TEST_CASE("bad platforms are refused with their place") {
  check_refused({"simulate", "--platform", "star"}, {"--platform: star: hosts is missing"});
  check_refused({"simulate", "--platform", "star:hosts=2;node:copy=0GB/s"},
                {"--platform: node", "copy='0GB/s'", "12.5GB/s"});
  check_refused({"simulate", "--platform", "/nowhere/file"}, {"--platform", "/nowhere/file"});
  check_refused({"simulate", "--platform", "dmpl-b"}, {"--platform 'dmpl-b'", "dpml-b, "});
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

TEST_CASE("a network with mistakes is simulated or refused, and nothing else") {
  if (!has_simgrid()) return;
  const TemporaryDirectory folder;
  const std::string path = folder.file("network.xml");
  tests::Random random(11);
  for (const char* const platform :
       {"star:hosts=4", "fat-tree:hosts=16,ports=8,oversubscription=2", "torus:2x2"}) {
    REQUIRE(hycoll({"simulate", "--platform", platform, "--xml", path}).status == 0);
    const std::string whole = text_of(path);
    for (int round = 0; round < 60; ++round) {
      const std::string broken = tests::mutated(whole, "0<>/=\"-e.x;", random);
      write_file("--xml", path, broken);
      const ChildResult result =
          hycoll({"simulate", "broadcast", "--platform", path, "--bytes", "1Ki"});
      CAPTURE(broken);
      CAPTURE(result.errors);
      CHECK(result.end == ChildResult::End::exited);
      const bool is_refused = result.status == 2 && contains(result.errors, path);
      const bool is_simulated = result.status == 0 && contains(result.output, "us");
      CHECK((is_refused || is_simulated));
    }
  }
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

TEST_CASE("what a machine file says is what steps cost") {
  const TemporaryDirectory folder;
  const std::string path = folder.file("machine.json");
  write_file("", path, R"({"hycoll_machine": 1, "prices": {"alpha": "30us", "copy": "3GB/s"}})");
  check_refused({"simulate", "--platform", "star:hosts=2", "--machine", "/nowhere"},
                {"--machine", "/nowhere"});
  if (!has_simgrid()) return;
  const std::string prices = json_of({"simulate", "--platform", "star:hosts=2;node:copy=4GB/s",
                                      "--machine", path, "--json", "-"})
                                 .at("context")
                                 .at("prices");
  CHECK(contains(prices, "alpha=30us"));
  CHECK(contains(prices, "copy=4GB/s"));
}

TEST_CASE("a check needs a job, and takes it as it is") {
  check_refused({"simulate", "--check", "--platform", "star", "--nodes", "4"},
                {"--nodes with --check"});
  check_refused({"simulate", "--check", "--platform", "star", "--bytes", "6"}, {"--bytes", "6"});
  check_refused({"simulate", "--check", "--platform", "star", "--root", "1"},
                {"--root 1: allreduce has no root"});
  if (!has_simgrid()) return;
  check_refused({"simulate", "--check", "--platform", "star"}, {"there is one process"});
}

TEST_CASE("a check simulates what it measures") {
  if (!has_simgrid()) return;
  const TemporaryDirectory folder;
  const std::string path = folder.file("check.json");
  // Both processes are on one host, whose memory is not as slow as that.
  const ChildResult result =
      hycoll_job({"simulate", "--check", "--platform", "star;node:copy=1MB/s", "--bytes", "16Ki",
                  "--seconds", "0.01", "--json", path});
  CAPTURE(result.errors);
  CHECK(result.status == 1);
  CHECK(contains(result.output, "0 of 3 calls within 20 %"));
  const Json document = parse_json(text_of(path));
  CHECK(document.at("context").at("hosts_of_ranks").size() == 2);
  std::vector<std::string> collectives;
  for (const Json& record : document.at("records")) {
    collectives.push_back(record.at("collective"));
    CHECK(record.at("verified") == true);
    CHECK(record.at("rounds") >= 5);
    CHECK(record.at("measured_us") > 0);
  }
  CHECK(collectives == std::vector<std::string>{"allreduce", "broadcast", "alltoall"});
}

}  // namespace
}  // namespace hycoll::command
