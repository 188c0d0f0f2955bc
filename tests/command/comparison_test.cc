#include "tools/command/comparing/comparison.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "core/base/errors.h"
#include "tools/command/comparing/html_report.h"

namespace hycoll::command {
namespace {

constexpr double kNearNs = 28;
constexpr double kFarNs = 170;

const std::vector<Contender> kContenders = {{.name = "MPI", .is_reference = true},
                                            {.name = "other MPI", .is_reference = true},
                                            {.name = "threads", .is_reference = false}};

Json state_json(double latency_ns) { return {{"latency_ns", latency_ns}, {"copy_gb_per_s", 10.0}}; }

/// What `hycoll bench --json` writes of one size.
Json record_json(int bytes, double median_us) {
  return {{"collective", "allreduce"},
          {"algorithm", "dpml-ring"},
          {"layout", "threads"},
          {"nodes", 1},
          {"members", 2},
          {"workers", 2},
          {"lanes", 2},
          {"segments", 1},
          {"type", "float"},
          {"op", "sum"},
          {"bytes", bytes},
          {"min_us", median_us / 2},
          {"median_us", median_us},
          {"p95_us", median_us * 2},
          {"verified", true}};
}

Json run_json(double before_ns, double after_ns, const std::vector<Json>& records) {
  return {{"context",
           {{"mpi", "An MPI 1.0"},
            {"state_before", state_json(before_ns)},
            {"state_after", state_json(after_ns)}}},
          {"records", records}};
}

ComparedRun run_of(std::size_t contender, int round, double latency_ns, int bytes,
                   double median_us) {
  return parse_run(run_json(latency_ns, latency_ns, {record_json(bytes, median_us)}).dump(),
                   contender, round);
}

TEST_CASE("a run is read as it was written") {
  const ComparedRun run =
      parse_run(run_json(28, 170, {record_json(8, 2), record_json(16, 3)}).dump(), 2, 4);
  CHECK(run.contender == 2);
  CHECK(run.round == 4);
  CHECK(run.mpi == "An MPI 1.0");
  CHECK(run.state.before.latency_ns == 28);
  CHECK(run.state.after.latency_ns == 170);
  REQUIRE(run.samples.size() == 2);
  CHECK(run.samples[1].size_bytes == 16);
  CHECK(run.samples[1].median_us == 3);
  CHECK(run.samples[1].minimum_us == 1.5);
  CHECK(run.samples[1].p95_us == 6);
  CHECK(run.samples[1].verified);
  CHECK(run.samples[1].description.at("algorithm") == "dpml-ring");
  CHECK(run.samples[1].description.at("root").is_null());
}

TEST_CASE("the root and the promise of bits are part of what was run") {
  Json record = record_json(8, 2);
  record["root"] = 3;
  record["reproducible"] = true;
  const ComparedRun run = parse_run(run_json(28, 28, {record}).dump(), 0, 0);
  CHECK(run.samples.at(0).description.at("root") == 3);
  CHECK(run.samples.at(0).description.at("reproducible") == true);
}

TEST_CASE("the share of the limit is of each run, and reports show it where there is one") {
  std::vector<ComparedRun> runs = {run_of(0, 0, kNearNs, 8, 4)};
  for (const double limit_us : {1.0, 3.0, 1.2}) {
    Json record = record_json(8, 2 * limit_us);
    record["limit_us"] = 1.8 * limit_us;
    runs.push_back(parse_run(run_json(28, 28, {record, record_json(4, 1)}).dump(), 2, 0));
  }
  const Comparison comparison = compare_runs(kContenders, runs);
  const ComparedState& state = comparison.states.at(0);
  CHECK(state.cells[2][1].value().of_limit.value() == doctest::Approx(0.9));
  CHECK(state.cells[2][1].value().limit_us.value() == doctest::Approx(2.16));
  CHECK_FALSE(state.cells[2][0].value().of_limit.has_value());
  CHECK_FALSE(state.cells[0][1].value().of_limit.has_value());
  const std::string text = to_text(comparison);
  CHECK(text.substr(0, text.find("mean")).find("of limit") != std::string::npos);
  CHECK(text.find("0.90") != std::string::npos);
  const std::vector<ComparedRun> without = {run_of(2, 0, kNearNs, 8, 1)};
  const std::string plain = to_text(compare_runs(kContenders, without));
  CHECK(plain.substr(0, plain.find("mean")).find("of limit") == std::string::npos);
}

TEST_CASE("a run without latency is read") {
  Json run = run_json(1, 1, {});
  run["context"]["state_before"]["latency_ns"] = nullptr;
  CHECK_FALSE(parse_run(run.dump(), 0, 0).state.before.latency_ns.has_value());
}

TEST_CASE("what is no run is refused") {
  for (const char* text : {"", "{}", "[1]", "mpiexec: not found", "{\"context\": {}}"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(parse_run(text, 0, 0), Error);
  }
  Json record = record_json(8, 1);
  record.erase("verified");
  CHECK_THROWS_AS(parse_run(run_json(1, 1, {record}).dump(), 0, 0), Error);
}

TEST_CASE("medians, spreads and ratios are of one state, to the fastest reference") {
  const std::vector<ComparedRun> runs = {
      run_of(0, 0, kNearNs, 8, 4), run_of(1, 0, kNearNs, 8, 6), run_of(2, 0, kNearNs, 8, 1),
      run_of(2, 1, kNearNs, 8, 2), run_of(2, 2, kNearNs, 8, 4), run_of(0, 1, kFarNs, 8, 100),
      run_of(1, 1, kFarNs, 8, 90), run_of(2, 3, kFarNs, 8, 10),
  };
  const Comparison comparison = compare_runs(kContenders, runs);
  CHECK(comparison.verified);
  CHECK(comparison.changing_runs == 0);
  REQUIRE(comparison.sizes_bytes == std::vector<std::size_t>{8});
  REQUIRE(comparison.states.size() == 2);

  const ComparedState& near = comparison.states[0];
  CHECK(near.group.name == "near");
  const ComparedCell& threads = near.cells[2][0].value();
  CHECK(threads.runs == 3);
  CHECK(threads.median_us == 2);
  CHECK(threads.lowest_median_us == 1);
  CHECK(threads.highest_median_us == 4);
  CHECK(threads.minimum_us == 0.5);
  CHECK(threads.p95_us == 4);
  CHECK(near.reference_us(kContenders, 0) == 4);
  CHECK(near.ratio(kContenders, 2, 0) == 2);

  const ComparedState& far = comparison.states[1];
  CHECK(far.reference_us(kContenders, 0) == 90);
  CHECK(far.ratio(kContenders, 2, 0) == 9);
}

TEST_CASE("runs during which the state changed are left out") {
  const std::vector<ComparedRun> runs = {
      run_of(0, 0, kNearNs, 8, 4), run_of(2, 0, kNearNs, 8, 1),
      parse_run(run_json(kNearNs, kFarNs, {record_json(8, 1000)}).dump(), 2, 1)};
  const Comparison comparison = compare_runs(kContenders, runs);
  CHECK(comparison.changing_runs == 1);
  REQUIRE(comparison.states.size() == 1);
  CHECK(comparison.states[0].cells[2][0].value().runs == 1);
  CHECK(comparison.states[0].ratio(kContenders, 2, 0) == 4);
}

TEST_CASE("there is no ratio where a state lacks a side") {
  const std::vector<ComparedRun> runs = {run_of(0, 0, kNearNs, 8, 4), run_of(2, 0, kFarNs, 8, 1)};
  const Comparison comparison = compare_runs(kContenders, runs);
  REQUIRE(comparison.states.size() == 2);
  for (const ComparedState& state : comparison.states) {
    CHECK_FALSE(state.ratio(kContenders, 2, 0).has_value());
    CHECK_FALSE(state.mean_ratio(kContenders, 2).has_value());
  }
  CHECK_FALSE(to_text(comparison).empty());
  for (const Json& record : records_of(comparison)) {
    if (record.at("contender") == "threads") CHECK(record.at("ratio").is_null());
  }
}

TEST_CASE("the mean ratio is geometric, over the sizes that have one") {
  std::vector<ComparedRun> runs = {
      parse_run(run_json(28, 28, {record_json(8, 8), record_json(16, 6)}).dump(), 0, 0),
      parse_run(
          run_json(28, 28, {record_json(8, 1), record_json(16, 3), record_json(32, 1)}).dump(), 2,
          0)};
  const Comparison comparison = compare_runs(kContenders, runs);
  CHECK(comparison.states.at(0).mean_ratio(kContenders, 2).value() == doctest::Approx(4));
}

TEST_CASE("one wrong result anywhere shows") {
  Json wrong = record_json(8, 1);
  wrong["verified"] = false;
  const std::vector<ComparedRun> runs = {
      run_of(0, 0, kNearNs, 8, 4), run_of(2, 0, kNearNs, 8, 1),
      parse_run(run_json(kNearNs, kNearNs, {wrong}).dump(), 2, 1)};
  const Comparison comparison = compare_runs(kContenders, runs);
  CHECK_FALSE(comparison.verified);
  CHECK_FALSE(comparison.states.at(0).cells[2][0].value().verified);
  CHECK(comparison.states.at(0).cells[0][0].value().verified);
  CHECK(to_text(comparison).find("WRONG RESULT") != std::string::npos);
}

TEST_CASE("a wrong result of the MPI library shows, and is no failure of hycoll") {
  Json wrong = record_json(8, 4);
  wrong["verified"] = false;
  const std::vector<ComparedRun> runs = {
      parse_run(run_json(kNearNs, kNearNs, {wrong}).dump(), 0, 0), run_of(2, 0, kNearNs, 8, 1)};
  const Comparison comparison = compare_runs(kContenders, runs);
  CHECK(comparison.verified);
  CHECK(to_text(comparison).find("WRONG RESULT") != std::string::npos);
}

TEST_CASE("records carry what the issue of the command asks for") {
  const std::vector<ComparedRun> runs = {run_of(0, 0, kNearNs, 8, 4), run_of(2, 0, kNearNs, 8, 1)};
  const std::vector<Json> records = records_of(compare_runs(kContenders, runs));
  REQUIRE(records.size() == 2);
  for (const char* key :
       {"collective", "algorithm", "layout", "nodes", "members", "lanes", "bytes", "min_us",
        "median_us", "p95_us", "native_median_us", "ratio", "verified"}) {
    CAPTURE(key);
    CHECK(records[1].contains(key));
  }
  CHECK(records[1].at("ratio") == 4.0);
  CHECK(records[1].at("native_median_us") == 4.0);
}

TEST_CASE("CSV quotes what needs it and leaves null empty") {
  const Report report{.context = {},
                      .records = {{{"a", 1}, {"b", "x,y"}}, {{"a", nullptr}, {"c", "say \"hi\""}}}};
  CHECK(to_csv(report) == "a,b,c\n1,\"x,y\",\n,,\"say \"\"hi\"\"\"\n");
}

TEST_CASE("only documents of this project become a page") {
  CHECK_THROWS_AS(html_report({Json::object()}), Error);
  CHECK_THROWS_AS(html_report({Json{{"context", {{"command", "compare"}}}}}), Error);
  CHECK_THROWS_AS(html_report({Json{{"context", {{"command", "plan"}}}}}), Error);
}

}  // namespace
}  // namespace hycoll::command
