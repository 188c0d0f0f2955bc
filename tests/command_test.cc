// The hycoll command as users meet it: the program itself is run, with good and with bad arguments.
// HYCOLL_COMMAND names it.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "collectives/registry.h"
#include "core/types.h"
#include "tests/command_runs.h"
#include "tests/temporary_directory.h"
#include "tools/command/child.h"
#include "tools/command/output.h"

namespace hycoll::command {
namespace {

TEST_CASE("every subcommand explains itself") {
  CHECK(contains(hycoll({"--help"}).output, "compare"));
  for (const char* subcommand :
       {"info", "plan", "verify", "bench", "compare", "report", "reproduce"}) {
    CAPTURE(subcommand);
    const ChildResult result = hycoll({subcommand, "--help"});
    CHECK(result.status == 0);
    CHECK(contains(result.output, "--help"));
    CHECK(result.errors == "");
    if (std::string(subcommand) != "report") CHECK(contains(result.output, "--json"));
  }
  for (const char* special : {"limit", "overlap", "persistent"}) {
    CAPTURE(special);
    CHECK(contains(hycoll({"bench", "--help"}).output, special));
    const ChildResult result = hycoll({"bench", special, "--help"});
    CHECK(result.status == 0);
    CHECK(contains(result.output, "hycoll bench " + std::string(special)));
  }
}

TEST_CASE("without a known subcommand nothing is done") {
  check_refused({}, {"subcommand"});
  check_refused({"plans"}, {"'plans'", "compare"});
}

TEST_CASE("an unknown algorithm is refused with the names of all") {
  for (const Arguments& arguments :
       {Arguments{"plan", "--algorithm", "rings"}, Arguments{"verify", "--algorithm", "rings"},
        Arguments{"bench", "allreduce", "--algorithm", "rings"},
        Arguments{"compare", "allreduce", "--algorithm", "rings"}}) {
    check_refused(arguments, {"'rings'", "dpml-ring", "lines-recursive-doubling"});
  }
}

TEST_CASE("malformed sizes are refused with a remedy") {
  for (const char* subcommand : {"bench", "compare"}) {
    check_refused({subcommand, "allreduce", "--sizes", "8:"}, {"--sizes", "'8:'", "8:16Mi"});
    check_refused({subcommand, "allreduce", "--sizes", "6"}, {"--sizes", "'6'", "multiples of 4"});
  }
  check_refused({"plan", "--bytes", "64K"}, {"--bytes", "'64K'", "Give"});
  check_refused({"plan", "--bytes", "6"}, {"--bytes", "'6'", "multiples of 4"});
}

TEST_CASE("impossible numbers of lanes are refused") {
  check_refused({"plan", "--lanes", "0"}, {"--lanes", "'0'", "from 1"});
  check_refused({"plan", "--lanes", "100000"}, {"--lanes", "'100000'"});
  check_refused({"verify", "--lanes", "0:2"}, {"--lanes", "'0:2'"});
  check_refused({"bench", "allreduce", "--lanes", "0"}, {"--lanes", "'0'"});
  check_refused(
      {"bench", "allreduce", "--ranks", "2", "--lanes", "200", "--workers", "1", "--sizes", "8"},
      {"lanes", "200"});
}

TEST_CASE("what does not exist or fit is refused by its name") {
  check_refused({"bench", "alltoall"}, {"COLLECTIVE", "'alltoall'", "allreduce"});
  check_refused({"verify", "alltoall"}, {"'alltoall'"});
  check_refused({"bench", "allreduce", "--type", "half"}, {"--type", "'half'", "double"});
  check_refused({"bench", "allreduce", "--op", "average"}, {"--op", "'average'", "sum"});
  check_refused({"bench", "allreduce", "--op", "bxor"}, {"--op", "--type", "integer"});
  check_refused({"bench", "allreduce", "--layout", "ranks"}, {"--layout", "'ranks'", "per_node"});
  check_refused({"compare", "allreduce", "--layouts", "native"}, {"--layouts", "'native'"});
  check_refused({"verify", "--nodes", "3:1"}, {"--nodes", "'3:1'"});
  check_refused({"info", "--placement", "anywhere"}, {"anywhere", "spread"});
  check_refused({"plan", "--csv", "-", "--json", "-"}, {"--csv", "--json"});
  check_refused({"report", "no-such-file", "--html", "-"}, {"no-such-file"});
}

TEST_CASE("a root that is not there and sizes of a barrier are refused") {
  for (const char* subcommand : {"bench", "compare", "plan"}) {
    check_refused({subcommand, "allreduce", "--root", "1"}, {"--root 1", "allreduce"});
  }
  check_refused({"plan", "reduce", "--nodes", "2", "--members", "3", "--root", "6"},
                {"--root '6'", "0 to 5"});
  check_refused(
      {"bench", "reduce", "--ranks", "2", "--workers", "1", "--root", "2", "--sizes", "8"},
      {"--root '2'", "0 to 1"});
  check_refused({"compare", "reduce", "--workers", "2", "--root", "-1"}, {"--root", "'-1'"});
  check_refused({"bench", "barrier", "--sizes", "8"}, {"--sizes '8'", "barrier"});
  check_refused({"plan", "reduce_scatter", "--nodes", "3", "--bytes", "16"},
                {"--bytes '16'", "multiple of 12"});
}

TEST_CASE("a file that cannot be written is refused by its name") {
  const ChildResult result = hycoll({"plan", "--json", "/no-such-directory/plan.json"});
  CHECK(result.status == 2);
  CHECK(contains(result.errors, "/no-such-directory/plan.json"));
}

TEST_CASE("an algorithm that does not serve the shape is refused") {
  check_refused({"plan", "--algorithm", "ring", "--members", "2"}, {"'ring'", "1 member"});
  check_refused({"verify", "--algorithm", "ring", "--lanes", "2:3"}, {"'ring'", "serves"});
}

TEST_CASE("the algorithms of all collectives are listed with their constraints and sources") {
  const Json document = json_of({"plan", "--list-algorithms", "--json", "-"});
  std::set<std::string> names;
  for (const Json& record : document.at("records")) {
    names.insert(record.at("collective").get<std::string>() + " " +
                 record.at("algorithm").get<std::string>());
    for (const char* key : {"source", "serves", "order", "segments_cut"}) {
      CAPTURE(key);
      CHECK_FALSE(record.at(key).get<std::string>().empty());
    }
  }
  std::set<std::string> expected;
  for (const Algorithm* algorithm : all_algorithms()) {
    expected.insert(std::string(name_of(algorithm->collective)) + " " +
                    std::string(algorithm->name));
  }
  CHECK(names == expected);
  const Json one = json_of({"plan", "allreduce", "--algorithms", "--json", "-"});
  CHECK(one.at("records").size() == allreduce_algorithms().size());
}

TEST_CASE("every collective has a plan that says what it needs") {
  for (const std::string collective :
       {"allreduce", "reduce", "reduce_scatter", "scan", "exscan", "broadcast", "barrier"}) {
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

TEST_CASE("a small sweep is proved, and the report says what") {
  const Json document =
      json_of({"verify", "--nodes", "1:4", "--members", "1:3", "--lanes", "1:3", "--json", "-"});
  CHECK(document.at("context").at("verified") == true);
  CHECK(document.at("records").size() == all_algorithms().size());
  for (const Json& record : document.at("records")) {
    CHECK(record.at("schedules") > 0);
    CHECK(record.at("steps") > record.at("schedules"));
  }
  const ChildResult text = hycoll({"verify", "allreduce", "--nodes", "2", "--members", "2",
                                   "--lanes", "2", "--algorithm", "dpml-ring"});
  CHECK(text.status == 0);
  CHECK(contains(text.output, "proved"));
}

TEST_CASE("reproduce counts the benchmarks that it is asked for") {
  const Json document = json_of({"reproduce", "B", "C", "--json", "-"});
  CHECK(document.at("records").size() == 5 * 3 + 9);
  for (const Json& record : document.at("records")) {
    CHECK(record.at("saved_messages") == record.at("surplus_after_scatter"));
    CHECK(record.at("saved_messages") > 0);
    CHECK(record.at("optimised_bytes") < record.at("native_bytes"));
  }
  const ChildResult table = hycoll({"reproduce", "B"});
  CHECK(contains(table.output, "524287"));
  CHECK_FALSE(contains(table.output, "16777216"));
  check_refused({"reproduce", "D"}, {"'D'", "A, B, C"});
}

TEST_CASE("CSV has a line for each record, and people read the standard error meanwhile") {
  const ChildResult result =
      hycoll({"verify", "--nodes", "1:2", "--members", "2", "--lanes", "1", "--csv", "-"});
  CHECK(result.status == 0);
  CHECK(result.output.starts_with("collective,algorithm,schedules,steps,verified\n"));
  const Json document =
      json_of({"verify", "--nodes", "1:2", "--members", "2", "--lanes", "1", "--json", "-"});
  CHECK(std::count(result.output.begin(), result.output.end(), '\n') ==
        static_cast<std::ptrdiff_t>(document.at("records").size()) + 1);
  CHECK(contains(result.errors, "proved"));
}

TEST_CASE("info knows the machine and draws it") {
  const TemporaryDirectory directory;
  const Json document = json_of(
      {"info", "--workers", "3", "--lanes", "2", "--svg", directory.file("a.svg"), "--json", "-"});
  const Json& context = document.at("context");
  CHECK(context.at("cores") >= 1);
  CHECK(context.at("mpi_thread_level") == "MPI_THREAD_MULTIPLE");
  CHECK(context.at("concurrent_leaders") > 0);
  CHECK(context.at("state").at("copy_gb_per_s") > 0);
  REQUIRE(document.at("records").size() == 3);
  std::set<int> lanes;
  for (const Json& record : document.at("records")) {
    for (const Json& lane : record.at("lanes")) lanes.insert(lane.get<int>());
  }
  CHECK(lanes == std::set<int>{0, 1});
  CHECK(contains(text_of(directory.file("a.svg")), "<svg"));
}

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
  const Json document = json_of({"bench", "allreduce", "--ranks", "2", "--aggregators", "1",
                                 "--algorithm", "all", "--workers", "1", "--sizes", "8,64Ki",
                                 "--rounds", "2", "--emulate-nodes", "2", "--json", "-"});
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
  const Json document = json_of(
      {"bench", "allreduce",   "--ranks",  "1",       "--layout",       "threads", "--workers",
       "3",     "--algorithm", "all",      "--sizes", "8,40Ki",         "--type",  "int32",
       "--op",  "bxor",        "--rounds", "2",       "--fresh-inputs", "--json",  "-"});
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

TEST_CASE("bench measures every collective in every layout, checked") {
  for (const std::string collective :
       {"allreduce", "reduce", "reduce_scatter", "scan", "exscan", "barrier"}) {
    for (const std::string layout : {"threads", "per_node", "processes", "native"}) {
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
}

TEST_CASE("bench processes runs every algorithm, on shared and on own buffers") {
  for (const std::string layout : {"processes", "processes_heap"}) {
    CAPTURE(layout);
    const Json document =
        json_of({"bench", "allreduce", "--ranks", "2", "--layout", layout, "--sizes", "8,200Ki",
                 "--rounds", "1", "--algorithm", "all", "--json", "-"});
    std::set<std::string> names;
    for (const Json& record : document.at("records")) {
      check_benchmark_record(record);
      CHECK(record.at("layout") == layout);
      CHECK(record.at("nodes") == 1);
      CHECK(record.at("members") == 2);
      CHECK(record.at("native_verified") == true);
      names.insert(record.at("algorithm").get<std::string>());
    }
    CHECK(names.contains("dpml-ring"));
    CHECK(names.contains("lines-recursive-doubling"));
  }
}

TEST_CASE("bench processes emulates nodes") {
  const Json document =
      json_of({"bench", "allreduce", "--ranks", "4", "--layout", "processes", "--sizes", "8,40Ki",
               "--rounds", "1", "--emulate-nodes", "2", "--json", "-"});
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

TEST_CASE("bench takes every element type") {
  for (int value = 0; value < kDataTypeCount; ++value) {
    const std::string type(name_of(static_cast<DataType>(value)));
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
                 "--sizes", "8,1Ki,72Ki", "--rounds", "2", "--json", "-"});
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
                                 "8,256Ki", "--rounds", "3", "--json", "-"});
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

TEST_CASE("compare runs all contenders and writes data and a page without external resources") {
  const TemporaryDirectory directory;
  const Json document =
      json_of({"compare", "allreduce", "--workers", "2", "--rounds", "1", "--seconds", "0.001",
               "--sizes", "8,4Ki", "--html", directory.file("a.html"), "--csv",
               directory.file("a.csv"), "--json", "-"});
  const Json& context = document.at("context");
  CHECK(context.at("verified") == true);
  CHECK(context.at("runs").size() == 5);  // the library, and four layouts
  CHECK(context.contains("state_before"));
  CHECK(context.contains("state_changed"));
  for (const Json& record : document.at("records")) CHECK(record.at("verified") == true);
  const std::string html = text_of(directory.file("a.html"));
  CHECK(contains(html, "</html>"));
  for (const char* external : {"src=", "href=", "@import", "url(", "http:", "https:"}) {
    CHECK_FALSE(contains(html, external));
  }
  CHECK(contains(text_of(directory.file("a.csv")), "contender"));
}

TEST_CASE("compare takes every collective") {
  for (const std::string collective : {"reduce", "reduce_scatter", "scan", "exscan", "barrier"}) {
    CAPTURE(collective);
    Arguments arguments = {"compare",   collective, "--workers", "2",       "--rounds", "1",
                           "--seconds", "0.001",    "--layouts", "threads", "--json",   "-"};
    const bool barrier = collective == "barrier";
    if (!barrier) arguments.insert(arguments.end(), {"--sizes", "8,4Ki"});
    const Json document = json_of(arguments);
    CHECK(document.at("context").at("verified") == true);
    CHECK(document.at("context").at("collective") == collective);
    // One run of each of two contenders; without those in which the machine changed its state.
    const std::size_t left_out = document.at("context").at("runs_left_out");
    REQUIRE(document.at("records").size() == (barrier ? 1 : 2) * (2 - left_out));
    for (const Json& record : document.at("records")) CHECK(record.at("collective") == collective);
  }
}

TEST_CASE("a run of compare that takes too long is ended and named") {
  check_refused({"compare", "allreduce", "--workers", "2", "--rounds", "1", "--seconds", "1000",
                 "--sizes", "16Mi", "--timeout", "2"},
                {"did not end within 2 s", "--layout"});
}

TEST_CASE("report puts measurements into one page and refuses other files") {
  const TemporaryDirectory directory;
  const std::string json = directory.file("a.json");
  CHECK(hycoll({"compare", "allreduce", "--workers", "2", "--rounds", "1", "--layouts", "per_node",
                "--seconds", "0.001", "--sizes", "8", "--json", json})
            .status == 0);
  const ChildResult page = hycoll({"report", json, "--html", "-"});
  CHECK(page.status == 0);
  CHECK(contains(page.output, "</html>"));
  std::ofstream(json) << "{\"context\": {}}";
  check_refused({"report", json, "--html", "-"}, {"hycoll compare"});
  std::ofstream(json) << "no json";
  check_refused({"report", json, "--html", "-"}, {json});
}

}  // namespace
}  // namespace hycoll::command
