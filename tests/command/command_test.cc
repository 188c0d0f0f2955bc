// The hycoll command as users meet it: its arguments, good and bad ones, proofs, models, rings,
// the machine. HYCOLL_TEST_COMMAND names it.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "collectives/algorithms/registry.h"
#include "tests/command/command_runs.h"
#include "tests/support/temporary_directory.h"

namespace hycoll::command {
namespace {

TEST_CASE("every subcommand explains itself") {
  CHECK(contains(hycoll({"--help"}).output, "compare"));
  for (const char* subcommand : {"info", "algorithms", "plan", "verify", "bench", "compare",
                                 "report", "reproduce", "model", "ring", "calibrate", "explain"}) {
    CAPTURE(subcommand);
    const ChildResult result = hycoll({subcommand, "--help"});
    CHECK(result.status == 0);
    CHECK(contains(result.output, "--help"));
    CHECK(result.errors == "");
    if (std::string(subcommand) != "report") CHECK(contains(result.output, "--json"));
  }
  for (const char* special : {"endpoints", "limit", "overlap", "persistent", "plans"}) {
    CAPTURE(special);
    CHECK(contains(hycoll({"bench", "--help"}).output, special));
    const ChildResult result = hycoll({"bench", special, "--help"});
    CHECK(result.status == 0);
    CHECK(contains(result.output, "hycoll bench " + std::string(special)));
  }
}

TEST_CASE("--version tells versions, and what is found of other libraries") {
  const ChildResult result = hycoll({"--version"});
  CHECK(result.status == 0);
  CHECK(result.errors == "");
  for (const char* part : {"hycoll version 0.", "memory layout", "MPI library", "compiler",
                           __VERSION__, "UCX", "libnuma"}) {
    CAPTURE(part);
    CHECK(contains(result.output, part));
  }
}

TEST_CASE("info --settings tells all settings, their values, and variables that are none") {
  setenv("HYCOLL_WAIT", "spin", 1);
  setenv("HYCOLL_LANE", "2", 1);
  const Json document = json_of({"info", "--settings", "--json", "-"});
  const ChildResult text = hycoll({"info", "--settings"});
  unsetenv("HYCOLL_WAIT");
  unsetenv("HYCOLL_LANE");
  CHECK(document.at("context").at("unknown") == Json::array({"HYCOLL_LANE"}));
  for (const Json& record : document.at("records")) {
    const bool is_set = record.at("variable") == "HYCOLL_WAIT";
    CHECK(record.at("value") == (is_set ? Json("spin") : Json()));
    CHECK(contains(text.output, record.at("variable").get<std::string>()));
  }
  CHECK(document.at("records").size() > 20);
  for (const char* part :
       {"HYCOLL_WAIT=spin\n", "values:  auto, spin, yield, sleep\n      default: auto\n",
        "did you mean HYCOLL_LANES?"}) {
    CAPTURE(part);
    CHECK(contains(text.output, part));
  }
}

TEST_CASE("without a known subcommand nothing is done") {
  check_refused({}, {"subcommand"});
  check_refused({"plans"}, {"'plans'", "compare"});
}

TEST_CASE("an unknown algorithm is refused with the names of all") {
  for (const Words& arguments :
       {Words{"plan", "--algorithm", "rings"}, Words{"verify", "--algorithm", "rings"},
        Words{"bench", "allreduce", "--algorithm", "rings"},
        Words{"compare", "allreduce", "--algorithm", "rings"}}) {
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
  check_refused({"bench", "alltoallw"}, {"COLLECTIVE", "'alltoallw'", "allreduce"});
  check_refused({"verify", "alltoallw"}, {"'alltoallw'"});
  check_refused({"bench", "allreduce", "--type", "half"}, {"--type", "'half'", "double"});
  check_refused({"bench", "allreduce", "--op", "average"}, {"--op", "'average'", "sum"});
  check_refused({"bench", "allreduce", "--op", "bxor"}, {"--op", "--type", "integer"});
  check_refused({"bench", "allreduce", "--layout", "ranks"}, {"--layout", "'ranks'", "per_node"});
  check_refused({"compare", "allreduce", "--layouts", "native"}, {"--layouts", "'native'"});
  check_refused({"compare", "allreduce", "--layouts", ""}, {"--layouts ''"});
  check_refused({"compare", "allreduce", "--inputs", ""}, {"--inputs ''"});
  check_refused({"compare", ""}, {"COLLECTIVE ''"});
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
  const Json document = json_of({"algorithms", "--json", "-"});
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
  const Json one = json_of({"algorithms", "allreduce", "--json", "-"});
  CHECK(one.at("records").size() == allreduce_algorithms().size());
  CHECK_FALSE(one.at("context").contains("designs"));
  check_refused({"algorithms", "allgossip"}, {"'allgossip'"});
}

TEST_CASE("the algorithms of alltoall are listed with the design space that they come from") {
  const Json document = json_of({"algorithms", "alltoall", "--json", "-"});
  std::set<std::string> methods;
  for (const Json& design : document.at("context").at("designs")) {
    const auto method = design.at("method").get<std::string>();
    CAPTURE(method);
    methods.insert(method);
    CHECK(design.at("leaders") == true);
    if (design.at("algorithm").is_null()) continue;
    const auto here = design.at("algorithm").get<std::string>();
    const Algorithm& algorithm =
        find_algorithm(Collective::alltoall, here.substr(0, here.find(',')));
    const bool takes_many_lanes = algorithm.serves_shape(Shape::uniform(2, 2, 2));
    if (design.at("many_leaders") == true) CHECK(takes_many_lanes);
  }
  CHECK(methods.size() == 6);
  CHECK(methods.contains("ONMPML"));
  const ChildResult text = hycoll({"algorithms", "alltoall"});
  CHECK(text.status == 0);
  for (const char* part :
       {"onmpml", "SA-orig", "NUMA-aware", "bruck-2, bruck-4, bruck-8", "sh-numa-co"}) {
    CHECK(contains(text.output, part));
  }
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

TEST_CASE("model tells terms, sum and walk, as table, data and picture") {
  const TemporaryDirectory directory;
  const std::string picture = directory.file("model.svg");
  const Arguments question = {"model",   "allreduce", "--algorithm", "dpml-recursive-doubling",
                              "--nodes", "4",         "--members",   "4",
                              "--lanes", "2",         "--sizes",     "1Ki,1Mi"};
  Arguments as_data = question;
  as_data.insert(as_data.end(), {"--svg", picture, "--json", "-"});
  const Json document = json_of(as_data);
  CHECK(document.at("context").at("terms").at("T_comm") == "(4)");
  REQUIRE(document.at("records").size() == 2);
  for (const Json& record : document.at("records")) {
    double sum = 0;
    for (const auto& [name, time_us] : record.at("terms_us").items()) sum += time_us.get<double>();
    CHECK(record.at("model_us").get<double>() == doctest::Approx(sum));
    CHECK(record.at("walk_us").get<double>() > 0);
  }
  CHECK(contains(text_of(picture), "by the text"));
  const ChildResult table = hycoll(question);
  for (const char* part : {"T_copy (2)", "T_comp (3)", "model us", "walk us", "1Mi"}) {
    CHECK(contains(table.output, part));
  }
  CHECK(contains(hycoll({"model", "--list"}).output, "alltoall   onmpml"));
  check_refused({"model", "scan"}, {"'scan'", "allreduce, broadcast and alltoall"});
  check_refused({"model", "--algorithm", "lines-native"}, {"'lines-native'", "Give one of"});
  check_refused({"model", "--sizes", "1023"}, {"--sizes '1023'", "float"});
  check_refused({"model", "--visibility", "far"}, {"--visibility 'far'", "direct, staged"});
  check_refused({"model", "--price", "endpoint=0GB/s"}, {"endpoint='0GB/s'", "unlimited"});
  check_refused({"model", "--svg", "-", "--json", "-"}, {"--svg '-'", "standard output"});
}

TEST_CASE("calibrate measures a machine, and writes a file of prices that others read") {
  const TemporaryDirectory directory;
  const std::string machine = directory.file("machine.json");
  const std::string picture = directory.file("throughput.svg");
  const Json document = json_of({"calibrate", "--seconds", "0.05", "--sizes", "8,64Ki", "--output",
                                 machine, "--svg", picture, "--json", "-"});
  CHECK(document.at("context").at("ranks") == 2);
  CHECK(document.at("context").at("origins").size() == 9);
  std::set<std::string> measured;
  for (const Json& record : document.at("records")) {
    measured.insert(record.at("measured").get<std::string>());
    // Other tests may keep the cores meanwhile.
    if (record.contains("median")) CHECK(record.at("low") <= record.at("high"));
  }
  for (const char* what : {"copy", "reduce", "latency", "message", "throughput"}) {
    CHECK(measured.contains(what));
  }
  CHECK(contains(text_of(picture), "<svg"));
  // Messages between nodes were none.
  const Json plan = json_of({"plan", "--machine", machine, "--price", "gap=1us", "--json", "-"});
  const auto prices = plan.at("context").at("prices").get<std::string>();
  CHECK(contains(prices, "alpha=1.5us,bandwidth=12.5GB/s,endpoint=unlimited"));
  CHECK(contains(prices, "gap=1us"));
  check_refused({"calibrate", "--sizes", "0,8"}, {"--sizes '0,8'", "1 byte"});
  check_refused({"calibrate", "--seconds", "61"}, {"--seconds", "61"});
  check_refused({"calibrate", "--svg", "-", "--json", "-"}, {"--svg", "standard output"});
}

TEST_CASE("reproduce lists what papers say, and refuses other names") {
  const Json document = json_of({"reproduce", "--json", "-"});
  CHECK(document.at("records").size() > 20);
  CHECK(
      contains(hycoll({"reproduce"}).output, "the ring is faster than the butterfly from: 256Ki"));
  check_refused({"reproduce", "D"}, {"RESULT 'D'", "hycoll reproduce lists"});
  check_refused({"reproduce", "--html", "-"}, {"none is named"});
  check_refused({"reproduce", "slides-a", "slides-b", "--svg", "-"}, {"2 are named"});
}

TEST_CASE("ring orders hosts, proves it and counts what another order costs") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("topology.conf");
  write_file("path", path,
             "SwitchName=core Switches=leaf[1-2]\nSwitchName=leaf1 Nodes=n[1,3,5]\n"
             "SwitchName=leaf2 Nodes=n[2,4,10]\n");
  const Json document = json_of({"ring", "--topology", path, "--json", "-"});
  const Json& context = document.at("context");
  CHECK(context.at("ring") == Json::array({"n1", "n3", "n5", "n2", "n4", "n10"}));
  CHECK(context.at("natural") == Json::array({"n1", "n2", "n3", "n4", "n5", "n10"}));
  CHECK(context.at("ring_most_messages") == 1);
  CHECK(context.at("natural_most_messages") == 3);
  CHECK(context.at("natural_step_ratio") == 3);
  CHECK(document.at("records").size() == 8);
  for (const Json& record : document.at("records")) {
    CHECK(record.at("ring_up") == 1);
    CHECK(record.at("ring_down") == 1);
    CHECK(record.at("natural_up") == (record.at("upper") == "core" ? 3 : 1));
  }
  const ChildResult text = hycoll({"ring", "--topology", path, "--hosts", "n10,n1,n4"});
  CHECK(text.status == 0);
  CHECK(contains(text.output, "ring:           n10,n1,n4\n"));
  CHECK(contains(text.output, "natural order:  at most 1 message on"));
  CHECK(contains(hycoll({"ring", "--topology", path, "--svg", "-"}).output, ">Natural order: "));
  check_refused({"ring"}, {"--topology"});
  check_refused({"ring", "--topology", path, "--hosts", "n1,n6"}, {"'n6'", path});
  check_refused({"ring", "--topology", path, "--hosts", "n1,n1"}, {"'n1'", "twice"});
  check_refused({"ring", "--topology", path, "--hosts", "n["}, {"--hosts", "'n['"});
  check_refused({"ring", "--topology", path + ".no"}, {"--topology", path + ".no"});
  write_file("path", path, "SwitchName=s Nodes=a\nSwitchName=t Nodes=a\n");
  check_refused({"ring", "--topology", path}, {path + ":2: 'a'", "line 1", "expected"});
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

TEST_CASE("a picture on the standard output is alone there") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("topology.conf");
  write_file("path", path, "SwitchName=leaf Nodes=n[1-3]\n");
  for (const Arguments& arguments :
       {Arguments{"plan", "broadcast", "--nodes", "2", "--svg", "-"},
        Arguments{"model", "allreduce", "--algorithm", "ring", "--nodes", "4", "--svg", "-"},
        Arguments{"ring", "--topology", path, "--svg", "-"},
        Arguments{"simulate", "--platform", "star:hosts=2", "--xml", "-"}}) {
    CAPTURE(arguments.front());
    const ChildResult result = hycoll(arguments);
    CHECK(result.status == 0);
    CHECK(result.output.starts_with("<"));
  }
  check_refused({"plan", "--svg", "-", "--csv", "-"}, {"--svg '-' and --csv '-'"});
}

TEST_CASE("explain says why, and what else there is") {
  const Arguments question = {"explain",   "allreduce", "--nodes", "16",
                              "--members", "8",         "--bytes", "64Ki"};
  const std::string text = hycoll(question).output;
  CHECK(contains(text, "allreduce of 64Ki on 16 nodes of 8: dpml-mixed-radix with 8 lanes"));
  CHECK(contains(text, "the choice holds from"));
  CHECK(contains(text, "the next one, dpml-halving-doubling, takes"));
  CHECK(contains(text, "dpml-mixed-radix (chosen)"));
  CHECK(contains(hycoll({"explain", "barrier", "--nodes", "3", "--json", "-"}).output,
                 "\"latency_us\""));
  check_refused({"explain", "scan", "--nodes", "1"}, {"--nodes", "'1'"});
  check_refused({"explain", "--bytes", "1023"}, {"--bytes '1023'", "float"});
  check_refused({"explain", "--machine", "/none"}, {"/none"});
}

TEST_CASE("info knows the machine and draws it") {
  const TemporaryDirectory directory;
  const Json document = json_of(
      {"info", "--workers", "3", "--lanes", "2", "--svg", directory.file("a.svg"), "--json", "-"});
  const Json& context = document.at("context");
  CHECK(context.at("cores") >= 1);
  CHECK(context.at("mpi_thread_level") == "MPI_THREAD_MULTIPLE");
  CHECK(!context.at("transport").get<std::string>().empty());
  CHECK(contains(context.at("prices").get<std::string>(), "alpha=1.5us"));
  CHECK(context.at("machine_file") == "");
  CHECK(context.at("transports").at(0).at("transport") == "MPI");
  for (const Json& transport : context.at("transports")) {
    CAPTURE(transport.dump());
    CHECK(transport.at("concurrent_leaders") > 0);
    // Leaders who waited while threads did not get their cores show nothing.
    const double leaders = transport.at("leaders");
    const bool waited = transport.at("concurrent_leaders") < 1 + 0.3 * (leaders - 1);
    const bool is_busy = transport.at("threads_at_once") < 0.8 * leaders;
    CHECK(transport.at("serialises") == (waited && is_busy ? Json() : Json(waited)));
  }
  CHECK(context.at("state").at("copy_gb_per_s") > 0);
  REQUIRE(document.at("records").size() == 3);
  std::set<int> lanes;
  for (const Json& record : document.at("records")) {
    for (const Json& lane : record.at("lanes")) lanes.insert(lane.get<int>());
  }
  CHECK(lanes == std::set<int>{0, 1});
  CHECK(contains(text_of(directory.file("a.svg")), "<svg"));
  CHECK(!context.contains("memory"));
}

TEST_CASE("info tells where the pages of hycoll's memory lie") {
  const Json memory = json_of({"info", "--memory", "--json", "-"}).at("context").at("memory");
  CHECK(memory.at("processes") == 1);
  const auto pages_of = [&](const char* kind, const char* what) -> const Json& {
    return memory.at("pages").at(kind).at(what);
  };
  if (!memory.at("why_not_told").is_null()) {
    CHECK(pages_of("heap", "not_told") > 0);
    return;
  }
  std::size_t heap_pages = 0;
  for (const auto& [domain, pages] : pages_of("heap", "in_domain").items()) {
    heap_pages += pages.get<std::size_t>();
  }
  // Two blocks of 256 KiB, all of which was written.
  CHECK(heap_pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) >= 2 * 256 * 1024);
  CHECK(pages_of("heap", "not_touched") == 0);
  CHECK(pages_of("staging", "not_told") == 0);
  // A process alone exchanges nothing.
  CHECK(pages_of("exchange buffers", "in_domain").empty());
}

}  // namespace
}  // namespace hycoll::command
