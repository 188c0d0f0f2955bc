// hycoll bench as users meet it: measurements of jobs that it starts.
#include <doctest/doctest.h>

#include <bit>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "tests/command/command_runs.h"

namespace hycoll::command {
namespace {

TEST_CASE("bench per_node measures every size beside the MPI library, checked") {
  const Json document = json_of({"bench", "allreduce", "--ranks", "2", "--layout", "per_node",
                                 "--workers", "1", "--sizes", "0,8:32,1Ki,64Ki", "--seconds",
                                 "0.001", "--emulate-nodes", "2", "--json", "-"});
  CHECK(document.at("context").at("ranks") == 2);
  CHECK(document.at("context").contains("state_before"));
  CHECK(document.at("context").contains("state_after"));
  REQUIRE(document.at("records").size() == 6);
  for (const Json& record : document.at("records")) {
    if (record.at("bytes") == 0) continue;
    check_benchmark_record(record);
    CHECK(record.at("nodes") == 2);
    CHECK(record.at("members") == 1);
    CHECK(record.at("native_median_us") > 0);
    CHECK(record.at("ratio") > 0);
    CHECK(record.at("native_verified") == true);
  }
}

TEST_CASE("plan and bench take aggregators, which come after the nodes with members") {
  const Json plan = json_of({"plan", "--algorithm", "node-leader", "--nodes", "3", "--aggregators",
                             "2", "--bytes", "1Ki", "--json", "-"});
  CHECK(plan.at("records").at(0).at("nodes") == 3);
  CHECK(plan.at("records").at(0).at("aggregators") == 2);
  const Json document = json_of(
      {"bench",           "allreduce", "--ranks", "2", "--aggregators", "1", "--algorithm", "all",
       "--workers",       "1",         "--sizes", "8", "--rounds",      "1", "--seconds",   "0.001",
       "--emulate-nodes", "2",         "--json",  "-"});
  CHECK(document.at("context").at("ranks") == 3);
  std::set<std::string> names;
  for (const Json& record : document.at("records")) {
    check_benchmark_record(record);
    CHECK(record.at("nodes") == 2);
    CHECK(record.at("aggregators") == 1);
    CHECK(record.at("native_verified") == true);
    names.insert(record.at("algorithm").get<std::string>());
  }
  CHECK(names.contains("node-leader"));
  CHECK(names.contains("socket-leader"));
  CHECK(names.contains("dpml-ring"));
  CHECK(!names.contains("dpml-native"));
}

TEST_CASE("bench threads runs every algorithm, with fresh inputs too") {
  const Json document =
      json_of({"bench",          "allreduce", "--ranks",     "1",      "--layout", "threads",
               "--workers",      "3",         "--algorithm", "all",    "--sizes",  "8,40Ki",
               "--type",         "int32",     "--op",        "bxor",   "--rounds", "2",
               "--fresh-inputs", "--seconds", "0.001",       "--json", "-"});
  std::set<std::string> names;
  for (const Json& record : document.at("records")) {
    check_benchmark_record(record);
    CHECK(record.at("members") == 3);
    CHECK(record.at("rounds") == 2);
    CHECK(record.at("native_median_us").is_null());
    names.insert(record.at("algorithm").get<std::string>());
  }
  CHECK(names.contains("dpml-ring"));
  CHECK(names.contains("lines-recursive-doubling"));
  CHECK(names.contains("single-leader-native"));
}

TEST_CASE("bench native measures the MPI library alone") {
  const Json document =
      json_of({"bench", "allreduce", "--ranks", "2", "--layout", "native", "--sizes", "8,1Ki",
               "--type", "double", "--seconds", "0.001", "--json", "-"});
  REQUIRE(document.at("records").size() == 2);
  for (const Json& record : document.at("records")) {
    check_benchmark_record(record);
    CHECK(record.at("algorithm") == "mpi");
  }
}

TEST_CASE("bench measures every collective, each in a layout, checked") {
  const std::vector<std::string> layouts = {"threads", "per_node", "processes", "native"};
  std::size_t first_layout = 0;
  for (const std::string collective :
       {"allreduce", "reduce", "reduce_scatter", "scan", "exscan", "barrier"}) {
    const std::string& layout = layouts[++first_layout % layouts.size()];
    CAPTURE(collective);
    CAPTURE(layout);
    Arguments arguments = {"bench",     collective, "--ranks",  "2",    "--workers", "1",
                           "--seconds", "0.001",    "--layout", layout, "--type",    "int32",
                           "--op",      "bxor",     "--json",   "-"};
    const bool barrier = collective == "barrier";
    if (!barrier) arguments.insert(arguments.end(), {"--sizes", "8,1Ki,72Ki"});
    if (collective == "reduce") {
      arguments.insert(arguments.end(), {"--root", "1"});
    }
    const Json document = json_of(arguments);
    CHECK(document.at("records").size() == (barrier ? 1 : 3));
    for (const Json& record : document.at("records")) {
      check_benchmark_record(record);
      CHECK(record.at("collective") == collective);
      CHECK(record.at("type").is_null() == barrier);
      if (layout == "per_node" || layout == "processes")
        CHECK(record.at("native_verified") == true);
    }
  }
}

TEST_CASE("bench processes runs every algorithm, on own and on shared buffers") {
  for (const auto& [layout, size, one] : {std::tuple{"processes", "8", "lines-recursive-doubling"},
                                          std::tuple{"processes_heap", "200Ki", "dpml-ring"}}) {
    CAPTURE(layout);
    const Json document =
        json_of({"bench", "allreduce", "--ranks", "2", "--layout", layout, "--sizes", size,
                 "--rounds", "1", "--seconds", "0.001", "--algorithm", "all", "--json", "-"});
    std::set<std::string> names;
    for (const Json& record : document.at("records")) {
      check_benchmark_record(record);
      CHECK(record.at("layout") == layout);
      CHECK(record.at("nodes") == 1);
      CHECK(record.at("members") == 2);
      CHECK(record.at("native_verified") == true);
      names.insert(record.at("algorithm").get<std::string>());
    }
    CHECK(names.size() > 10);
    CHECK(names.contains(one));
  }
}

TEST_CASE("bench processes emulates nodes") {
  const Json document =
      json_of({"bench", "allreduce", "--ranks", "4", "--layout", "processes", "--sizes", "8,40Ki",
               "--rounds", "1", "--seconds", "0.001", "--emulate-nodes", "2", "--json", "-"});
  REQUIRE(document.at("records").size() == 2);
  for (const Json& record : document.at("records")) {
    check_benchmark_record(record);
    CHECK(record.at("nodes") == 2);
    CHECK(record.at("members") == 2);
  }
}

TEST_CASE("bench leaves out sizes of which reduce_scatter cannot make equal blocks") {
  const Arguments arguments = {
      "bench",  "reduce_scatter", "--ranks", "1",        "--layout", "threads",   "--workers",
      "3",      "--json",         "-",       "--rounds", "1",        "--seconds", "0.001",
      "--sizes"};
  Arguments some = arguments;
  some.emplace_back("8,12,1200");
  const Json document = json_of(some);
  CHECK(document.at("records").size() == 2);
  CHECK(document.at("context").at("left_out").size() == 1);
  Arguments none = arguments;
  none.emplace_back("8,16");
  check_refused(none, {"--sizes '8,16'", "3 equal blocks"});
}

TEST_CASE("bench takes element types of all sizes") {
  for (const std::string type : {"uint8", "int16", "float", "int64"}) {
    CAPTURE(type);
    const Json document =
        json_of({"bench", "--ranks", "1", "--layout", "threads", "--workers", "2", "--seconds",
                 "0.001", "--sizes", "8,5000", "--type", type, "--json", "-"});
    for (const Json& record : document.at("records")) check_benchmark_record(record);
    CHECK(document.at("records").at(0).at("type") == type);
  }
}

TEST_CASE("bench measures calls of reproducible bits") {
  const Json document =
      json_of({"bench", "--ranks", "1", "--layout", "threads", "--workers", "2", "--seconds",
               "0.001", "--sizes", "8,64Ki", "--reproducible", "--json", "-"});
  for (const Json& record : document.at("records")) {
    check_benchmark_record(record);
    CHECK(record.at("reproducible") == true);
  }
}

TEST_CASE("bench compares sums of threads with the limit, from 1 MiB on") {
  const Json document = json_of({"bench", "--ranks", "1", "--layout", "threads", "--workers", "2",
                                 "--seconds", "0.001", "--sizes", "512Ki,1Mi", "--json", "-"});
  REQUIRE(document.at("records").size() == 2);
  CHECK(document.at("records").at(0).at("of_limit").is_null());
  const Json& record = document.at("records").at(1);
  const double limit_us = record.at("limit_us").get<double>();
  CHECK(limit_us > 0);
  CHECK(record.at("of_limit").get<double>() ==
        doctest::Approx(limit_us / record.at("median_us").get<double>()));
  for (const Arguments& without : {Arguments{"--no-limit"}, Arguments{"--op", "max"}}) {
    Arguments arguments = {"bench",     "--ranks", "1",         "--layout", "threads",
                           "--workers", "2",       "--seconds", "0.001",    "--sizes",
                           "1Mi",       "--json",  "-"};
    arguments.insert(arguments.end(), without.begin(), without.end());
    CHECK(json_of(arguments).at("records").at(0).at("limit_us").is_null());
  }
}

TEST_CASE("bench limit measures its kernels for every collective, checked") {
  for (const std::string collective : {"allreduce", "reduce", "reduce_scatter", "scan", "exscan"}) {
    CAPTURE(collective);
    const Json document = json_of({"bench", "limit", collective, "--workers", "3", "--sizes",
                                   "12,3Mi", "--type", "int8", "--rounds", "2", "--json", "-"});
    std::set<std::string> kernels;
    int fastest = 0;
    for (const Json& record : document.at("records")) {
      CHECK(record.at("verified") == true);
      CHECK(record.at("gb_per_s") > 0);
      CHECK(record.at("min_us") <= record.at("median_us"));
      kernels.insert(record.at("kernel").get<std::string>());
      if (record.at("fastest") == true) ++fastest;
    }
    CHECK(kernels.contains("vectors, streaming"));
    CHECK(document.at("records").size() == 2 * kernels.size());
    CHECK(fastest == 2);
  }
  check_refused({"bench", "limit", "barrier"}, {"'barrier'", "sum"});
  check_refused({"bench", "limit", "--op", "max"}, {"'max'", "sum"});
  check_refused({"bench", "limit", "--ranks", "2", "--workers", "1"}, {"2 processes"});
}

TEST_CASE("bench persistent measures all forms of a call, checked") {
  for (const std::string layout : {"threads", "per_node"}) {
    CAPTURE(layout);
    const Json document =
        json_of({"bench", "persistent", "--ranks", "2", "--workers", "2", "--layout", layout,
                 "--sizes", "8,1Ki,72Ki", "--rounds", "2", "--seconds", "0.001", "--json", "-"});
    REQUIRE(document.at("records").size() == 3);
    for (const Json& record : document.at("records")) {
      CHECK(record.at("verified") == true);
      for (const char* key : {"blocking_us", "start_us", "start_and_wait_us", "run_us"}) {
        CAPTURE(key);
        CHECK(record.at(key) > 0);
      }
      CHECK(record.at("native_us").is_null() == (layout == "threads"));
    }
  }
  check_refused({"bench", "persistent", "--layout", "native"}, {"'native'", "per_node"});
}

TEST_CASE("bench overlap says what computation hides, of both libraries, checked") {
  const Json document = json_of({"bench", "overlap", "--ranks", "2", "--workers", "1", "--sizes",
                                 "8,256Ki", "--rounds", "3", "--seconds", "0.001", "--json", "-"});
  REQUIRE(document.at("records").size() == 4);
  for (const Json& record : document.at("records")) {
    CHECK(record.at("verified") == true);
    const double communication_us = record.at("communication_us").get<double>();
    const double compute_us = record.at("compute_us").get<double>();
    const double both_us = record.at("both_us").get<double>();
    CHECK(communication_us > 0);
    CHECK(compute_us > 0);
    CHECK(record.at("hidden").get<double>() ==
          doctest::Approx((communication_us + compute_us - both_us) / communication_us));
  }
  CHECK(document.at("records").at(0).at("library") == "hycoll");
  CHECK(document.at("records").at(1).at("library") == "mpi");
}

/// Without mpiexec, which none of the others does without.
Json plans_of(const Arguments& more) {
  Arguments arguments = {"bench", "plans", "--json", "-"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return json_of(arguments);
}

TEST_CASE("bench endpoints measures leaders, alone and together, over each transport") {
  const Json document =
      json_of({"bench", "endpoints", "--leaders", "2", "--sizes", "8,40Ki", "--json", "-"});
  const std::size_t transports = document.at("context").at("ucx").is_null() ? 1 : 3;
  const Json& records = document.at("records");
  REQUIRE(records.size() == 2 * 2 * transports);
  for (std::size_t i = 0; i < records.size(); ++i) {
    const Json& record = records[i];
    CAPTURE(record.dump());
    const int leaders = i % 2 == 0 ? 1 : 2;
    CHECK(record.at("leaders") == leaders);
    CHECK(record.at("bytes") == (i < records.size() / 2 ? 8 : 40'960));
    CHECK(record.at("latency_us").get<double>() * record.at("messages_per_s").get<double>() ==
          doctest::Approx(1e6 * leaders));
  }
  check_refused({"bench", "endpoints", "--sizes", "many"}, {"--sizes", "'many'"});
  check_refused({"bench", "endpoints", "--leaders", "0"}, {"--leaders"});
}

TEST_CASE("bench plans measures the plan of one node") {
  const Json document = plans_of({"--nodes", "2,5", "--members", "1,3", "--lanes", "1,2", "--bytes",
                                  "8,64Ki", "--seconds", "60"});
  REQUIRE(document.at("records").size() == 16);
  for (const Json& record : document.at("records")) {
    CAPTURE(record.dump());
    CHECK(record.at("collective") == "allreduce");
    CHECK(record.at("own_steps") > 0);
    CHECK(record.at("seconds") > 0);
    CHECK(record.at("schedule_seconds") <= record.at("seconds"));
    CHECK(record.at("selection_seconds") <= record.at("schedule_seconds"));
    CHECK(record.at("schedule_memory_bytes") <= record.at("memory_bytes"));
    CHECK(record.at("kept_bytes") > 0);
    CHECK(record.at("kept_bytes") < record.at("memory_bytes"));
    CHECK(record.at("of_node") == record.at("nodes").get<int>() / 2);
    CHECK(record.at("stopped").is_null());
    const bool is_within = record.at("seconds") <= record.at("seconds_limit") &&
                           record.at("memory_bytes") <= record.at("memory_limit_bytes");
    CHECK(record.at("within_limits") == is_within);
  }
}

TEST_CASE("bench plans takes every collective and algorithm, staged too") {
  for (const std::string collective :
       {"allreduce", "reduce", "reduce_scatter", "scan", "exscan", "broadcast", "barrier"}) {
    CAPTURE(collective);
    const Json document =
        plans_of({collective, "--nodes", "3", "--members", "2", "--bytes", "4Ki", "--algorithm",
                  "all", "--visibility", "staged", "--of-node", "0", "--seconds", "60"});
    std::set<std::string> names;
    for (const Json& record : document.at("records")) {
      CAPTURE(record.dump());
      CHECK(record.at("collective") == collective);
      CHECK(record.at("stopped").is_null());
      CHECK(record.at("of_node") == 0);
      names.insert(record.at("algorithm").get<std::string>());
    }
    CHECK(names.size() > 1);
    CHECK(names.size() == document.at("records").size());
  }
}

TEST_CASE("bench plans stops what takes too much, and says so") {
  const Json document =
      plans_of({"--nodes", "64,65", "--members", "2", "--bytes", "4Ki", "--algorithm", "dpml-ring",
                "--memory", "16Ki", "--seconds", "60"});
  REQUIRE(document.at("records").size() == 2);
  CHECK(document.at("records").at(0).at("stopped") == "at 16Ki");
  CHECK(document.at("records").at(1).at("stopped") == "as on fewer nodes");
  for (const Json& record : document.at("records")) {
    CHECK(record.at("within_limits") == false);
    CHECK(record.at("seconds").is_null());
  }
}

TEST_CASE("bench plans ends with a count, and leaves out what is not served") {
  const ChildResult result =
      hycoll({"bench", "plans", "--nodes", "4", "--members", "2", "--lanes", "1,2", "--bytes", "8",
              "--algorithm", "single-leader-ring", "--seconds", "60"});
  CHECK(result.status == 0);
  CHECK(contains(result.output, " of 1 plans are not within 1 ms + 0.2 us"));
  CHECK(contains(result.output, "0 more are refused for this size, 1 are not served"));
}

TEST_CASE("bench plans says what a call would refuse, and counts it for nothing") {
  const Json record = plans_of({"--nodes", "4", "--members", "2", "--bytes", "256Ki", "--algorithm",
                                "lines-recursive-doubling", "--seconds", "60"})
                          .at("records")
                          .at(0);
  CHECK(contains(record.at("refused").get<std::string>(), "lines buffer"));
  CHECK(record.at("within_limits").is_null());
  CHECK(record.at("seconds").is_null());
}

TEST_CASE("bench plans sets processes up in proportion to their machine's and to the nodes") {
  const Json document = plans_of({"--setup", "--nodes", "80,160", "--members", "64,128"});
  std::set<std::string> maps;
  REQUIRE(document.at("records").size() == 20);
  for (const Json& record : document.at("records")) {
    CAPTURE(record.dump());
    const int machines = record.at("machines");
    const int members = record.at("members");
    const std::string map = record.at("map");
    maps.insert(map);
    CHECK(record.at("nodes") == (map == "numa" ? 4 : 1) * machines);
    CHECK(record.at("processes") == machines * members - (map == "unequal" ? machines / 4 : 0));
    const int rounds = std::bit_width(record.at("processes").get<unsigned>() - 1);
    CHECK(record.at("limit_bytes") ==
          160 * (members + record.at("nodes").get<int>()) + 2048 * rounds);
    // Runs of ranks are what is told.
    CHECK(record.at("within_limits") == (map != "irregular"));
    CHECK(record.at("others_received_bytes") < record.at("received_bytes"));
    CHECK(record.at("seconds") > 0);
    if (map == "blocked" || map == "cyclic" || map == "numa") CHECK(record.at("runs") == 1);
  }
  CHECK(maps == std::set<std::string>{"blocked", "cyclic", "unequal", "numa", "irregular"});
}

TEST_CASE("bench plans refuses bad arguments") {
  check_refused({"bench", "plans", "--nodes", "0"}, {"--nodes", "'0'", "from 1 to"});
  check_refused({"bench", "plans", "--nodes", "4,9", "--of-node", "4"}, {"--of-node 4", "0 to 3"});
  check_refused({"bench", "plans", "--algorithm", "rings"}, {"'rings'", "dpml-ring"});
  check_refused({"bench", "plans", "--visibility", "none"}, {"--visibility", "'none'"});
  check_refused({"bench", "plans", "--memory", "much"}, {"--memory", "'much'"});
  check_refused({"bench", "plans", "--nodes", "4", "--lanes", "2", "--algorithm",
                 "single-leader-ring", "--bytes", "8"},
                {"single-leader-ring", "1 lane"});
}

TEST_CASE("bench refuses a number of emulated nodes that is not there") {
  check_refused({"bench", "allreduce", "--ranks", "2", "--workers", "1", "--emulate-nodes", "3",
                 "--sizes", "8"},
                {"--emulate-nodes 3", "--ranks 3"});
}

TEST_CASE("bench refuses an algorithm that serves none of the sizes") {
  check_refused({"bench", "allreduce", "--ranks", "1", "--layout", "threads", "--workers", "2",
                 "--algorithm", "ring", "--sizes", "8"},
                {"'ring'"});
}

}  // namespace
}  // namespace hycoll::command
