#include "tools/command/comparing/comparison.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "core/base/errors.h"
#include "tools/command/comparing/comparison_text.h"
#include "tools/command/comparing/html_report.h"

namespace hycoll::command {
namespace comparison_test {

constexpr double kNearNs = 28;
constexpr double kFarNs = 170;

const std::vector<Contender> kContenders = {{.name = "MPI", .is_reference = true},
                                            {.name = "other MPI", .is_reference = true},
                                            {.name = "threads", .is_reference = false}};
const std::vector<ComparedTask> kOneTask = {
    {.collective = "allreduce", .inputs = "fresh", .size_bytes = 8}};

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

ComparedBlock block_of(std::size_t contender, double latency_ns, double median_us,
                       std::size_t task = 0) {
  return {.contender = contender,
          .task = task,
          .latency = {latency_ns, latency_ns},
          .sample = sample_from(record_json(8, median_us))};
}

ComparedBlock wrong_block(std::size_t contender, double median_us) {
  ComparedBlock block = block_of(contender, kNearNs, median_us);
  block.sample.verified = false;
  return block;
}

Comparison compare(const std::vector<ComparedBlock>& blocks,
                   const std::vector<ComparedTask>& tasks = kOneTask) {
  std::vector<double> latencies_ns;
  for (const ComparedBlock& block : blocks) {
    latencies_ns.insert(latencies_ns.end(), {*block.latency.before_ns, *block.latency.after_ns});
  }
  return compare_blocks(kContenders, tasks, blocks, latencies_ns);
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("a record is read as it was written") {
  Json record = record_json(16, 3);
  record["root"] = 3;
  const SizeSample sample = sample_from(record);
  CHECK(sample.median_us == 3);
  CHECK(sample.minimum_us == 1.5);
  CHECK(sample.p95_us == 6);
  CHECK(sample.verified);
  CHECK_FALSE(sample.limit_us.has_value());
  CHECK(sample.description.at("algorithm") == "dpml-ring");
  CHECK(sample.description.at("root") == 3);
  CHECK(sample.description.at("reproducible").is_null());
}

TEST_CASE("a program's record needs no more than times and a verdict") {
  const SizeSample sample =
      sample_from({{"min_us", 1.0}, {"median_us", 2.0}, {"p95_us", 3.0}, {"verified", true}});
  CHECK(sample.median_us == 2);
  for (const char* key : {"min_us", "median_us", "p95_us", "verified"}) {
    Json record = record_json(8, 1);
    record.erase(key);
    CHECK_THROWS_AS(sample_from(record), Error);
  }
}

TEST_CASE("the share of the limit is of each block, and reports show it where there is one") {
  const std::vector<ComparedTask> tasks = {
      {.collective = "allreduce", .inputs = "fresh", .size_bytes = 4},
      {.collective = "allreduce", .inputs = "fresh", .size_bytes = 8}};
  std::vector<ComparedBlock> blocks = {block_of(0, kNearNs, 4, 1), block_of(2, kNearNs, 1, 0)};
  for (const double limit_us : {1.0, 3.0, 1.2}) {
    blocks.push_back(block_of(2, kNearNs, 2 * limit_us, 1));
    blocks.back().sample.limit_us = 1.8 * limit_us;
  }
  const Comparison comparison = compare(blocks, tasks);
  const ComparedState& state = comparison.states.at(0);
  CHECK(state.cells[2][1].value().of_limit.value() == doctest::Approx(0.9));
  CHECK(state.cells[2][1].value().limit_us.value() == doctest::Approx(2.16));
  CHECK_FALSE(state.cells[2][0].value().of_limit.has_value());
  CHECK_FALSE(state.cells[0][1].value().of_limit.has_value());
  const std::string text = to_text(comparison);
  CHECK(contains(text.substr(0, text.find("mean")), "of limit"));
  CHECK(contains(text, "0.90"));
  const std::string plain = to_text(compare({block_of(2, kNearNs, 1)}));
  CHECK_FALSE(contains(plain.substr(0, plain.find("mean")), "of limit"));
}

TEST_CASE("medians, spreads and ratios are of one state, to the fastest reference") {
  const Comparison comparison =
      compare({block_of(0, kNearNs, 4), block_of(1, kNearNs, 6), block_of(2, kNearNs, 1),
               block_of(2, kNearNs, 2), block_of(2, kNearNs, 4), block_of(0, kFarNs, 100),
               block_of(1, kFarNs, 90), block_of(2, kFarNs, 10)});
  CHECK(comparison.verified);
  CHECK(comparison.blocks_in_between == 0);
  CHECK(comparison.state_changes == 1);
  REQUIRE(comparison.states.size() == 2);

  const ComparedState& near = comparison.states[0];
  CHECK(near.state.name == "near");
  CHECK(near.blocks == 5);
  const ComparedCell& threads = near.cells[2][0].value();
  CHECK(threads.blocks == 3);
  CHECK(threads.median_us == 2);
  CHECK(threads.lowest_median_us == 1);
  CHECK(threads.highest_median_us == 4);
  CHECK(threads.minimum_us == 0.5);
  CHECK(threads.p95_us == 4);
  CHECK(near.reference(kContenders, 0) == 0);
  CHECK(near.ratio(kContenders, 2, 0) == 2);

  const ComparedState& far = comparison.states[1];
  CHECK(far.reference(kContenders, 0) == 1);
  CHECK(far.ratio(kContenders, 2, 0) == 9);
}

TEST_CASE("blocks on whose state the looks do not agree are left out, and counted") {
  std::vector<ComparedBlock> blocks = {block_of(0, kNearNs, 4), block_of(2, kNearNs, 1),
                                       block_of(2, kNearNs, 1000)};
  blocks[2].latency.after_ns = kFarNs;
  const Comparison comparison = compare(blocks);
  CHECK(comparison.blocks_in_between == 1);
  CHECK(comparison.state_changes == 1);
  REQUIRE(comparison.states.size() == 1);
  CHECK(comparison.states[0].cells[2][0].value().blocks == 1);
  CHECK(comparison.states[0].ratio(kContenders, 2, 0) == 4);
  CHECK(contains(to_text(comparison), "1 change of the machine's state; 1 block left out"));
}

TEST_CASE("there is no ratio where a state lacks a side, and the report says what it lacks") {
  const Comparison comparison = compare({block_of(0, kNearNs, 4), block_of(2, kFarNs, 1)});
  REQUIRE(comparison.states.size() == 2);
  for (const ComparedState& state : comparison.states) {
    CHECK_FALSE(state.ratio(kContenders, 2, 0).has_value());
    CHECK_FALSE(state.mean_ratio(kContenders, 2, {0}).has_value());
  }
  CHECK(contains(missing_text(comparison), "near (28 ns), threads: all sizes"));
  CHECK(contains(missing_text(comparison), "far (170 ns), MPI: all sizes"));
  CHECK_FALSE(contains(missing_text(comparison), "near (28 ns), MPI:"));
  CHECK(contains(to_text(comparison), missing_text(comparison)));
  for (const Json& record : records_of(comparison)) {
    if (record.at("contender") == "threads") CHECK(record.at("ratio").is_null());
  }
}

TEST_CASE("the mean ratio is geometric, over the sizes that have one") {
  std::vector<ComparedTask> tasks;
  for (const std::size_t size_bytes : {8, 16, 32}) {
    tasks.push_back({.collective = "allreduce", .inputs = "fresh", .size_bytes = size_bytes});
  }
  const Comparison comparison =
      compare({block_of(0, kNearNs, 8, 0), block_of(0, kNearNs, 6, 1), block_of(2, kNearNs, 1, 0),
               block_of(2, kNearNs, 3, 1), block_of(2, kNearNs, 1, 2)},
              tasks);
  CHECK(comparison.states.at(0).mean_ratio(kContenders, 2, {0, 1, 2}).value() ==
        doctest::Approx(4));
  CHECK(comparison.states.at(0).mean_ratio(kContenders, 2, {0}).value() == doctest::Approx(8));
}

TEST_CASE("one wrong result of hycoll shows everywhere, and enters no ratio") {
  const Comparison comparison =
      compare({block_of(0, kNearNs, 4), block_of(2, kNearNs, 1), wrong_block(2, 1)});
  CHECK_FALSE(comparison.verified);
  CHECK_FALSE(comparison.states.at(0).cells[2][0].value().verified);
  CHECK(comparison.states.at(0).cells[0][0].value().verified);
  CHECK_FALSE(comparison.states.at(0).ratio(kContenders, 2, 0).has_value());
  CHECK(contains(to_text(comparison), "WRONG RESULT"));
}

TEST_CASE("a wrong result of an MPI library shows, is no failure of hycoll, and no reference") {
  const Comparison comparison =
      compare({wrong_block(0, 1), block_of(1, kNearNs, 4), block_of(2, kNearNs, 2)});
  CHECK(comparison.verified);
  CHECK(comparison.states.at(0).reference(kContenders, 0) == 1);
  CHECK(comparison.states.at(0).ratio(kContenders, 2, 0) == 2);
  CHECK(contains(to_text(comparison), "WRONG RESULT"));
}

TEST_CASE("tables are by collective and use of inputs, in the order of the tasks") {
  const std::vector<ComparedTask> tasks = {
      {.collective = "reduce", .inputs = "fresh", .size_bytes = 8},
      {.collective = "reduce", .inputs = "fresh", .size_bytes = 16},
      {.collective = "reduce", .inputs = "reused", .size_bytes = 8},
      {.collective = "scan", .inputs = "fresh", .size_bytes = 8}};
  const std::vector<ComparedTable> tables = tables_of(compare({block_of(0, kNearNs, 1)}, tasks));
  REQUIRE(tables.size() == 3);
  CHECK(tables[0].tasks == std::vector<std::size_t>{0, 1});
  CHECK(tables[1].inputs == "reused");
  CHECK(tables[2].collective == "scan");
}

TEST_CASE("the list of slower cells names the faster library, and says whether spreads meet") {
  const Comparison comparison =
      compare({block_of(0, kNearNs, 4), block_of(1, kNearNs, 2), block_of(1, kNearNs, 3),
               block_of(1, kNearNs, 2), block_of(2, kNearNs, 4), block_of(2, kNearNs, 4),
               block_of(0, kFarNs, 9), block_of(2, kFarNs, 1)});
  const std::vector<SlowerCell> slower = slower_cells(comparison);
  REQUIRE(slower.size() == 1);
  CHECK(slower[0].state == 0);
  CHECK(slower[0].contender == 2);
  CHECK(slower[0].reference == 1);
  CHECK(slower[0].ratio == 0.5);
  CHECK(slower[0].beyond_spread);
  CHECK(contains(slower_text(comparison), "other MPI"));
  const Comparison close = compare({block_of(0, kNearNs, 2), block_of(0, kNearNs, 5),
                                    block_of(0, kNearNs, 2), block_of(2, kNearNs, 4)});
  CHECK_FALSE(slower_cells(close).at(0).beyond_spread);
  const Comparison single = compare({block_of(0, kNearNs, 2), block_of(2, kNearNs, 4)});
  CHECK_FALSE(slower_cells(single).at(0).beyond_spread);  // one block has no spread
  CHECK(contains(to_text(single), "1 block "));
  const Comparison faster = compare({block_of(0, kNearNs, 2), block_of(2, kNearNs, 1)});
  CHECK(slower_cells(faster).empty());
  CHECK(contains(slower_text(faster), "nowhere slower"));
}

TEST_CASE("records carry what the issue of the command asks for") {
  const std::vector<Json> records =
      records_of(compare({block_of(0, kNearNs, 4), block_of(2, kNearNs, 1)}));
  REQUIRE(records.size() == 2);
  for (const char* key :
       {"collective", "algorithm", "layout", "nodes", "members", "lanes", "bytes", "min_us",
        "median_us", "p95_us", "native_median_us", "ratio", "verified", "contender", "inputs"}) {
    CAPTURE(key);
    CHECK(records[1].contains(key));
  }
  CHECK(records[1].at("ratio") == 4.0);
  CHECK(records[1].at("native_median_us") == 4.0);
  CHECK(records[1].at("state") == "near");
  CHECK(records[1].at("latency_ns") == kNearNs);
}

TEST_CASE("CSV quotes what needs it and leaves null empty") {
  const Report report{.context = {},
                      .records = {{{"a", 1}, {"b", "x,y"}}, {{"a", nullptr}, {"c", "say \"hi\""}}}};
  CHECK(to_csv(report) == "a,b,c\n1,\"x,y\",\n,,\"say \"\"hi\"\"\"\n");
}

/// The page about blocks, as `hycoll compare` makes it.
std::string page_of(const std::vector<ComparedBlock>& blocks) {
  const Comparison comparison = compare(blocks);
  Json states = Json::array();
  Json means = Json::array();
  for (const ComparedState& state : comparison.states) {
    states.push_back({{"name", state.state.name}, {"latency_ns", 1}, {"blocks", state.blocks}});
    means.push_back({{"collective", "allreduce"},
                     {"inputs", "fresh"},
                     {"state", state.state.name},
                     {"contender", "threads"},
                     {"ratio", state.mean_ratio(comparison.contenders, 2, {0}).value()}});
  }
  return html_report({Json{{"context",
                            {{"command", "compare"},
                             {"host", "a<b"},
                             {"date", "2026-01-31"},
                             {"states", states},
                             {"mean_ratios", means}}},
                           {"records", records_of(comparison)}}},
                     "abc123");
}

TEST_CASE("a page says first where hycoll is faster, and what proves nothing") {
  const std::string page =
      page_of({block_of(0, kNearNs, 4), block_of(0, kNearNs, 4), block_of(2, kNearNs, 1),
               block_of(2, kNearNs, 1), block_of(0, kFarNs, 3), block_of(2, kFarNs, 6)});
  CHECK(contains(page,
                 "or faster in 1 of 2 figures.</b> Slower: allreduce of 8 bytes, threads, fresh "
                 "inputs, far: 0.50. 1 of the figures rest"));
  CHECK(contains(page, "<td>allreduce, threads</td>"));
  CHECK(contains(page, "(1 block)"));
  CHECK(contains(page, "a&lt;b; 2026-01-31; commit abc123"));
  const std::string faster = page_of({block_of(0, kNearNs, 4), block_of(0, kNearNs, 4),
                                      block_of(2, kNearNs, 1), block_of(2, kNearNs, 1)});
  CHECK(contains(faster, "or faster in 1 of 1 figures.</b>"));
  CHECK_FALSE(contains(faster, "(1 block)"));
}

TEST_CASE("only documents of this project become a page") {
  CHECK_THROWS_AS(html_report({Json::object()}, ""), Error);
  CHECK_THROWS_AS(html_report({Json{{"context", {{"command", "compare"}}}}}, ""), Error);
  CHECK_THROWS_AS(html_report({Json{{"context", {{"command", "plan"}}}}}, ""), Error);
}

}  // namespace comparison_test
}  // namespace hycoll::command
