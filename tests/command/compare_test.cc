// hycoll compare and report as users meet them.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fstream>
#include <map>
#include <set>
#include <string>

#include "tests/command/command_runs.h"
#include "tests/support/temporary_directory.h"

namespace hycoll::command {
namespace {

/// A short comparison.
Json compared(Arguments arguments) {
  arguments.insert(arguments.begin(), "compare");
  arguments.insert(arguments.end(), {"--workers", "2", "--rounds", "1", "--seconds", "0.001",
                                     "--at-most", "60", "--json", "-"});
  return json_of(arguments);
}

TEST_CASE("compare lets all contenders take turns, and writes data and a page by itself") {
  const TemporaryDirectory directory;
  const Json document = compared({"allreduce,bcast", "--sizes", "8,4Ki", "--html",
                                  directory.file("a.html"), "--csv", directory.file("a.csv")});
  const Json& context = document.at("context");
  CHECK(context.at("verified") == true);
  CHECK(context.at("collectives") == Json{"allreduce", "broadcast"});
  CHECK(context.contains("state_before"));
  CHECK(context.contains("state_changes"));
  CHECK(context.at("scheduling").is_string());
  // Asleep in the system: what a process uses to fall asleep and to wake.
  CHECK(context.at("asleep_share") < 0.2);
  std::set<std::string> contenders;
  for (const Json& block : context.at("blocks")) {
    contenders.insert(block.at("contender").get<std::string>());
    CHECK(block.contains("before_ns"));
    CHECK_FALSE(block.contains("refusal"));
  }
  CHECK(contenders.size() == 5);  // the library, and four layouts
  for (const Json& record : document.at("records")) {
    CHECK(record.at("verified") == true);
    CHECK(record.at("state").is_string());
    CHECK(record.contains("latency_ns"));
  }
  const std::string html = text_of(directory.file("a.html"));
  CHECK(contains(html, "</html>"));
  for (const char* external : {"src=", "href=", "@import", "url(", "http:", "https:"}) {
    CHECK_FALSE(contains(html, external));
  }
  CHECK(contains(text_of(directory.file("a.csv")), "contender"));
}

TEST_CASE("compare binds ranks with one worker to cores, and still tells the cores' distance") {
  const Json document =
      compared({"barrier", "--layouts", "threads,processes", "--bind-to", "core"});
  CHECK(document.at("context").at("verified") == true);
  for (const Json& block : document.at("context").at("blocks")) {
    CHECK(block.at("before_ns").is_number());
    CHECK(block.at("after_ns").is_number());
  }
  check_refused({"compare", "barrier", "--bind-to", "socket"}, {"--bind-to 'socket'", "core"});
}

TEST_CASE("compare takes every collective, at one pace or the other") {
  const std::map<std::string, std::set<std::string>> collectives_by_pace = {
      {"back-to-back", {"reduce", "reduce_scatter", "scan", "exscan", "allgather"}},
      {"separate", {"gather", "scatter", "alltoall", "barrier"}}};
  for (const auto& [pace, collectives] : collectives_by_pace) {
    CAPTURE(pace);
    const Json document =
        compared({fmt::format("{}", fmt::join(collectives, ",")), "--sizes", "8,4Ki", "--layouts",
                  "threads", "--inputs", "fresh", "--pace", pace});
    CHECK(document.at("context").at("verified") == true);
    std::set<std::string> measured;
    for (const Json& block : document.at("context").at("blocks")) {
      // Where the members share cores they may not begin together.
      if (pace == "back-to-back") CHECK_FALSE(block.contains("refusal"));
      measured.insert(block.at("collective").get<std::string>());
    }
    CHECK(measured == collectives);
    for (const Json& record : document.at("records")) CHECK(record.at("pace") == pace);
  }
}

TEST_CASE("compare takes a program that prints the same JSON as a reference") {
  const Json document = compared(
      {"allreduce", "--sizes", "8", "--layouts", "threads", "--inputs", "fresh",
       "--reference-program",
       R"(echo '{"context": {"mpi": "Mine"}, "records": [{"bytes": {bytes}, "min_us": 1e-6, )"
       R"("median_us": 1e-6, "p95_us": 1e-6, "verified": true}]}')"});
  bool there = false;
  for (const Json& block : document.at("context").at("blocks")) {
    there = there || contains(block.at("contender").get<std::string>(), "echo");
  }
  CHECK(there);
  // Nobody is as fast, in any state in which both were measured.
  std::size_t beside_the_program = 0;
  for (const Json& record : document.at("records")) {
    if (record.at("reference") == false && record.at("native_median_us") == 1e-6) {
      ++beside_the_program;
    }
  }
  const Json& slower = document.at("context").at("slower");
  CHECK(slower.size() >= beside_the_program);
  for (const Json& cell : slower) CHECK(cell.at("ratio") < 1);
}

TEST_CASE("compare refuses what it cannot compare") {
  check_refused({"compare", "allreduce,gatherv"}, {"'gatherv'", "reduce_scatter"});
  check_refused({"compare", "--inputs", "stale"}, {"--inputs 'stale'", "fresh"});
  check_refused({"compare", "--pace", "slow"}, {"--pace 'slow'", "separate"});
  check_refused({"compare", "--layouts", "native"}, {"--layouts 'native'"});
  check_refused({"compare", "allreduce,reduce", "--root", "9", "--workers", "2"}, {"--root '9'"});
  check_refused({"compare", "allreduce", "--root", "1"}, {"--root 1", "no root"});
}

TEST_CASE("a job of compare that takes too long is ended and named") {
  check_refused({"compare", "allreduce", "--workers", "2", "--rounds", "1", "--seconds", "1000",
                 "--sizes", "16Mi", "--timeout", "2"},
                {"did not answer within 2 s", "--layout"});
}

TEST_CASE("report puts measurements into one page and refuses other files") {
  const TemporaryDirectory directory;
  const std::string json = directory.file("a.json");
  CHECK(hycoll({"compare", "allreduce", "--workers", "2", "--rounds", "1", "--layouts", "per_node",
                "--seconds", "0.001", "--sizes", "8", "--at-most", "60", "--json", json})
            .status == 0);
  const ChildResult page = hycoll({"report", json, "--html", "-"});
  CHECK(page.status == 0);
  CHECK(contains(page.output, "</html>"));
  CHECK(contains(page.output, " of each figure"));
  std::ofstream(json) << "{\"context\": {}}";
  check_refused({"report", json, "--html", "-"}, {"hycoll compare"});
  std::ofstream(json) << "no json";
  check_refused({"report", json, "--html", "-"}, {json});
}

}  // namespace
}  // namespace hycoll::command
