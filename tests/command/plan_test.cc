// hycoll plan as users meet it: what plans count, list and draw, and what their steps cost.
#include <doctest/doctest.h>

#include <cstddef>
#include <fstream>
#include <string>

#include "tests/command/command_runs.h"
#include "tests/support/temporary_directory.h"

namespace hycoll::command {
namespace {

TEST_CASE("a plan on a described machine counts cache lines by distance") {
  const auto plan_of = [](const std::string& algorithm) {
    return json_of({"plan", "barrier", "--algorithm", algorithm, "--nodes", "1", "--members", "128",
                    "--topology", "pack:2 numa:4 l3:4 core:4", "--json", "-"})
        .at("records")
        .at(0);
  };
  const Json flat = plan_of("lines-recursive-doubling");
  CHECK(flat.at("line_transfers") == 128 * 127);
  CHECK(flat.at("line_transfers_critical") == 1);
  const Json tree = plan_of("lines-tree-recursive-doubling");
  CHECK(tree.at("line_transfers") <= 3 * 128);
  CHECK(tree.at("line_transfers_critical") <= 12);
  CHECK(tree.at("package_crossings_critical") <= 2);
  CHECK(tree.at("package_bytes") == 64);
  CHECK(tree.at("domain_crossings") == 14);
  CHECK(tree.at("cache_crossings") == 62);
  const Json unknown = json_of({"plan", "--json", "-"}).at("records").at(0);
  CHECK(unknown.at("line_transfers").is_null());
  CHECK(unknown.at("package_bytes").is_null());
  check_refused({"plan", "--members", "5", "--topology", "core:4"}, {"--topology", "4 cores", "5"});
  check_refused({"plan", "--topology", "nonsense"}, {"nonsense"});
}

TEST_CASE("a plan counts what leaders spread over the domains spare each of these") {
  const auto plan_of = [](const std::string& placement) {
    return json_of({"plan", "alltoall", "--algorithm", "mpml", "--nodes", "3", "--members", "32",
                    "--lanes", "4", "--bytes", "24Ki", "--topology", "pack:2 numa:2 core:8",
                    "--placement", placement, "--json", "-"})
        .at("records")
        .at(0);
  };
  const Json compact = plan_of("compact");
  const Json spread = plan_of("spread");
  CHECK(compact.at("placement") == "compact");
  // Leaders of one domain pass three quarters of everything into it and out of it again.
  CHECK(spread.at("domain_bytes").get<int>() * 2 <= compact.at("domain_bytes").get<int>());
  CHECK(compact.at("messages") == spread.at("messages"));
  check_refused({"plan", "--placement", "spread"}, {"--placement", "--topology"});
  check_refused({"plan", "--topology", "core:4", "--placement", "wide"}, {"wide", "compact"});
}

TEST_CASE("every collective has a plan that says what it needs") {
  for (const std::string collective :
       {"allreduce", "reduce", "reduce_scatter", "scan", "exscan", "broadcast", "allgather",
        "gather", "scatter", "alltoall", "barrier"}) {
    CAPTURE(collective);
    const Json document = json_of(
        {"plan", collective, "--nodes", "3", "--members", "2", "--bytes", "6000", "--json", "-"});
    const Json& record = document.at("records").at(0);
    CHECK(record.at("collective") == collective);
    CHECK(record.at("verified") == true);
    CHECK(record.at("messages") > 0);
    CHECK(record.at("critical_messages") > 0);
    const double memory_bytes = record.at("node_memory_bytes").get<double>();
    CHECK(record.at("node_memory_vectors").get<double>() ==
          doctest::Approx(memory_bytes / record.at("bytes").get<double>()));
    CHECK(memory_bytes >= record.at("node_scratch_bytes").get<double>());
  }
}

TEST_CASE("a plan of reproducible bits takes a canonical algorithm, and refuses others by name") {
  const Json document = json_of({"plan", "--reproducible", "--nodes", "5", "--json", "-"});
  CHECK(document.at("records").at(0).at("order") == "canonical");
  check_refused({"plan", "--reproducible", "--algorithm", "dpml-ring"}, {"dpml-ring"});
}

TEST_CASE("a plan counts as the formulas of a ring say") {
  // 2 (N - 1) steps of n / N bytes each, with one worker per node and one lane.
  const Json document =
      json_of({"plan", "--algorithm", "ring", "--nodes", "5", "--bytes", "6400", "--json", "-"});
  const Json& record = document.at("records").at(0);
  CHECK(record.at("messages") == 5 * 2 * 4);
  CHECK(record.at("node_messages") == 8);
  CHECK(record.at("critical_messages") == 8);
  CHECK(record.at("node_sent_bytes") == 8 * 1280);
  CHECK(record.at("verified") == true);
}

TEST_CASE("plan counts what one node does, of shapes of any size") {
  const auto record_of_ring = [](Arguments more) {
    Arguments arguments = {"plan", "--algorithm", "dpml-ring", "--members", "2", "--lanes",
                           "2",    "--bytes",     "1Mi",       "--json",    "-"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return json_of(arguments).at("records").at(0);
  };
  const Json whole = record_of_ring({"--nodes", "5"});
  const Json part = record_of_ring({"--nodes", "5", "--of-node", "3"});
  CHECK(whole.at("of_node").is_null());
  CHECK(whole.at("verified") == true);
  CHECK(part.at("of_node") == 3);
  CHECK(part.at("verified") == false);
  CHECK(part.at("critical_messages").is_null());
  CHECK(part.at("messages") == whole.at("node_messages"));
  // Nodes differ by cache lines, which are not cut.
  for (const char* key : {"node_messages", "node_sent_bytes", "node_reduce_read_bytes",
                          "node_copy_written_bytes", "node_memory_bytes"}) {
    CAPTURE(key);
    CHECK(part.at(key) <= whole.at(key));
    CHECK(part.at(key).get<double>() > 0.999 * whole.at(key).get<double>());
  }
  CHECK(record_of_ring({"--nodes", "4096", "--of-node", "7"}).at("messages") == 2 * 2 * 4095);
  const ChildResult listed =
      hycoll({"plan", "--algorithm", "dpml-ring", "--nodes", "5", "--of-node", "3", "--list"});
  CHECK(contains(listed.output, "node 3"));
  CHECK(!contains(listed.output, "node 2\n"));
}

TEST_CASE("plan says what a schedule would need that does not fit the memory") {
  const Arguments huge = {"plan",      "--algorithm", "dpml-ring", "--nodes", "4096",
                          "--members", "64",          "--lanes",   "64"};
  check_refused(huge, {"--nodes 4096", "iB of memory", "available", "--of-node"});
  check_refused({"plan", "--nodes", "3", "--of-node", "3"}, {"--of-node 3", "0 to 2"});
  check_refused({"plan", "--nodes", "3", "--of-node", "1", "--svg", "-"}, {"--svg", "--of-node"});
}

TEST_CASE("a plan lists its steps and draws them") {
  const TemporaryDirectory directory;
  const ChildResult result =
      hycoll({"plan", "--algorithm", "dpml-ring", "--nodes", "2", "--members", "2", "--lanes", "2",
              "--list", "--svg", directory.file("a.svg")});
  CHECK(result.status == 0);
  CHECK(contains(result.output, "recv"));
  CHECK(contains(result.output, "critical path"));
  const std::string svg = text_of(directory.file("a.svg"));
  CHECK(contains(svg, "<svg"));
  CHECK(contains(svg, "</svg>"));
}

TEST_CASE("plans are priced: the chosen one first, then all that serve, the cheapest first") {
  const Json report = json_of({"plan", "reduce", "--nodes", "1000", "--bytes", "64Ki", "--price",
                               "alpha=1.5us,bandwidth=12.5GB/s,reduce=10GB/s", "--json", "-"});
  const Json& records = report.at("records");
  REQUIRE(records.size() > 2);
  CHECK(records[0].at("chosen") == true);
  CHECK(records[0].at("time_us") <= 1.2 * records[1].at("time_us").get<double>());
  for (std::size_t i = 2; i < records.size(); ++i) {
    CHECK(records[i].at("time_us") >= records[i - 1].at("time_us"));
  }
  const ChildResult text = hycoll({"plan", "--nodes", "4", "--price", "default"});
  CHECK(contains(text.output, "(chosen)"));
  check_refused({"plan", "--price", "alpha=fast"}, {"--price", "alpha='fast'", "1.5us"});
  check_refused({"plan", "--algorithm", "dpml-native", "--price", "default"},
                {"'dpml-native'", "has no price"});
}

TEST_CASE("a machine file says what steps cost, and by which auto chooses") {
  const TemporaryDirectory directory;
  const std::string file = directory.file("machine.json");
  std::ofstream(file) << R"({"hycoll_machine": 1, "prices": {"alpha": "100ms"}})";
  const auto chosen = [&](Arguments more) {
    Arguments arguments = {"plan", "--nodes", "4", "--bytes", "1Mi", "--json", "-"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return json_of(arguments).at("records")[0].at("algorithm").get<std::string>();
  };
  const std::string with = chosen({"--machine", file});
  CHECK(with != chosen({}));
  CHECK(with == chosen({"--machine", file, "--price", "default"}));
  CHECK(with == chosen({"--price", "alpha=100ms"}));
  CHECK(chosen({}) == chosen({"--machine", file, "--price", "alpha=1.5us"}));
  const Json prices = json_of({"verify", "--prices", "allreduce", "--nodes", "2", "--members", "1",
                               "--sizes", "8", "--machine", file, "--json", "-"});
  CHECK(contains(prices.at("context").at("prices").get<std::string>(), "alpha=100000us"));
  std::ofstream(file) << R"({"hycoll_machine": 1, "prices": {"alpha": 1.5}})";
  for (const char* command : {"plan", "model"}) {
    check_refused({command, "--machine", file},
                  {"machine.json: prices: alpha is 1.5", "\"1.5us\""});
  }
  check_refused({"plan", "--machine", "/nowhere"}, {"--machine '/nowhere' cannot be read"});
}

TEST_CASE("what auto chooses is compared with the best that there is") {
  const Json report = json_of({"verify", "--prices", "--nodes", "16,17", "--members", "1,4",
                               "--sizes", "8,4Ki,256Ki,4Mi", "--json", "-"});
  const Json& records = report.at("records");
  // An all-to-all of 8 bytes among more than 8 members has no block of a byte: six shapes.
  CHECK(report.at("context").at("calls_left_out") == 6);
  CHECK(records.size() == 10 * 2 * 3 * 4 - 6);
  for (const Json& cell : records) {
    CAPTURE(cell.dump());
    CHECK(cell.at("ratio") >= 1);
    CHECK(cell.at("ratio") < 2);
  }
}

}  // namespace
}  // namespace hycoll::command
