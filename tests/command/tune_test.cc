// hycoll tune as users meet it.
#include <doctest/doctest.h>

#include <cstdlib>
#include <set>
#include <string>

#include "tests/command/command_runs.h"
#include "tests/support/temporary_directory.h"

namespace hycoll::command {
namespace {

TEST_CASE("what was measured is in a file, which is gone on with, joined, and taken") {
  const TemporaryDirectory folder;
  const std::string path = folder.file("tuning.json");
  const Json report = json_of({"tune", "--ranks", "2", "--collectives", "allreduce,allgather",
                               "--sizes", "8:4Ki", "--seconds", "0.2", "-o", path, "--json", "-"});
  std::set<std::string> collectives;
  for (const Json& cell : report.at("records")) {
    collectives.insert(cell.at("collective").get<std::string>());
    CHECK(cell.at("members") == 2);
    CHECK(cell.at("memory") == "staged");
    CHECK(cell.at("us").get<double>() > 0);
    CHECK(cell.at("us").get<double>() <= cell.at("auto").at("us").get<double>());
    CHECK(cell.at("mpi_us").get<double>() > 0);
  }
  CHECK(collectives == std::set<std::string>{"allreduce", "allgather"});
  const std::size_t cells = report.at("records").size();
  CHECK(parse_json(text_of(path)).at("cells").size() == cells);

  const Json more = json_of({"tune", "--ranks", "2", "--collectives", "allreduce,scan", "--sizes",
                             "8:64", "--seconds", "0.2", "-o", path, "--resume", "--json", "-"});
  for (const Json& cell : more.at("records")) CHECK(cell.at("collective") == "scan");
  const std::size_t all = cells + more.at("records").size();
  CHECK(parse_json(text_of(path)).at("cells").size() == all);

  const std::string joined = folder.file("joined.json");
  CHECK(hycoll({"tune", "--merge", path, "--merge", path, "-o", joined}).status == 0);
  CHECK(parse_json(text_of(joined)).at("cells").size() == all);

  // Something that no rule takes.
  std::string text = text_of(joined);
  const std::string taken = "\"algorithm\":\"";
  const std::size_t place =
      text.find(taken, text.find("\"collective\":\"allreduce\"")) + taken.size();
  text.replace(place, text.find('"', place) - place, "dpml-pipelined-ring");
  write_file("--output", joined, text);
  setenv("HYCOLL_TUNING", joined.c_str(), 1);
  const Json bench = json_of({"bench", "allreduce", "--ranks", "2", "--layout", "processes",
                              "--sizes", "8", "--rounds", "5", "--json", "-"});
  unsetenv("HYCOLL_TUNING");
  CHECK(bench.at("records").at(0).at("algorithm") == "dpml-pipelined-ring");
}

TEST_CASE("threads are tuned in one process") {
  const Json report =
      json_of({"tune", "--ranks", "1", "--layouts", "threads", "--workers", "2", "--collectives",
               "reduce", "--sizes", "8:1Ki", "--seconds", "0.1", "--json", "-"});
  REQUIRE(!report.at("records").empty());
  for (const Json& cell : report.at("records")) {
    CHECK(cell.at("memory") == "direct");
    CHECK(cell.at("nodes") == 1);
    CHECK(cell.at("workers") == 2);
    CHECK(!cell.contains("mpi_us"));
  }
}

TEST_CASE("bad arguments of tune are refused") {
  check_refused({"tune", "--collectives", "allreduce,barrier"},
                {"--collectives", "'barrier' is none of"});
  check_refused({"tune", "--layouts", "native"}, {"--layouts 'native'", "no choices of its own"});
  check_refused({"tune", "--sizes", "0"}, {"--sizes '0'", "1 byte or more"});
  check_refused({"tune", "--resume"}, {"--resume without --output"});
  check_refused({"tune", "--merge", "/nowhere/a.json"}, {"--merge without --output"});
  check_refused({"tune", "--merge", "/nowhere/a.json", "-o", "/tmp/never.json"},
                {"--merge", "/nowhere/a.json"});
}

}  // namespace
}  // namespace hycoll::command
