// The papers' results as data, and what their claims make of times.
#include "tools/command/reproducing/paper_results.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <string>
#include <utility>

#include "collectives/algorithms/registry.h"
#include "tools/command/reproducing/claims.h"

namespace hycoll::command {
namespace paper_results_test {

/// Three sizes, two challengers and a defender.
PaperResult result_of_three() {
  PaperResult result{.name = "test",
                     .paper = "",
                     .title = "",
                     .collective = Collective::allreduce,
                     .platform = "",
                     .nodes = 1,
                     .members = 1,
                     .sizes_bytes = {1000, 2000, 4000},
                     .curves = {},
                     .claims = {},
                     .note = ""};
  result.curves = {{.name = "a", .algorithm = "", .lanes = 2},
                   {.name = "b", .algorithm = "", .lanes = 8},
                   {.name = "c", .algorithm = ""}};
  return result;
}

const CurveTimes kTimes = {{2, 2, 4}, {4, 1, 2}, {1, 4, 4}};

double value(Measure measure, std::size_t size_bytes = 0) {
  const Claim claim{.what = "",
                    .measure = measure,
                    .challengers = {0, 1},
                    .defenders = {2},
                    .size_bytes = size_bytes};
  return value_of(claim, result_of_three(), kTimes);
}

TEST_CASE("a claim's value is what its measure says, of the best challenger at each size") {
  CHECK(value(Measure::speedup, 1000) == 0.5);
  CHECK(value(Measure::speedup, 4000) == 2);
  CHECK(value(Measure::best_speedup) == 4);
  CHECK(value(Measure::mean_speedup) == doctest::Approx((0.5 + 4 + 2) / 3));
  CHECK(value(Measure::break_even) == 2000);
  CHECK(value(Measure::fastest_lanes, 1000) == 2);
  CHECK(value(Measure::fastest_lanes, 4000) == 8);
  CHECK(value(Measure::throughput, 4000) == 2000);
  CHECK(value(Measure::best_throughput) == 2000);
}

TEST_CASE("a break-even that a longer size takes back is none") {
  const Claim claim{
      .what = "", .measure = Measure::break_even, .challengers = {2}, .defenders = {0}};
  const double none = value_of(claim, result_of_three(), {{2, 2, 4}, {}, {1, 1, 4}});
  CHECK(std::isinf(none));
  CHECK(value_text(Measure::break_even, none) == "none");
  CHECK(deviates(none, 1000));
}

TEST_CASE("deviations begin at 30 percent") {
  CHECK_FALSE(deviates(1.29, 1));
  CHECK_FALSE(deviates(0.71, 1));
  CHECK(deviates(1.31, 1));
  CHECK(deviates(0.69, 1));
}

TEST_CASE("every result names what exists, and its claims are of its curves and sizes") {
  std::set<std::string_view> names;
  for (const PaperResult& result : paper_results()) {
    CAPTURE(result.name);
    CHECK(names.insert(result.name).second);
    CHECK(std::filesystem::exists("docs/platforms/" + std::string(result.platform) + ".platform"));
    CHECK(std::ranges::is_sorted(result.sizes_bytes));
    CHECK_FALSE(result.claims.empty());
    for (const Curve& curve : result.curves) {
      CAPTURE(curve.algorithm);
      const Algorithm* algorithm = algorithm_named(result.collective, curve.algorithm);
      REQUIRE(algorithm != nullptr);
      const int nodes = curve.flat ? result.nodes * result.members : result.nodes;
      CHECK(algorithm->serves_shape(
          Shape::uniform(nodes, curve.flat ? 1 : result.members, curve.lanes)));
      CHECK(curve.processes <= result.nodes * result.members);
    }
    for (const Claim& claim : result.claims) {
      CAPTURE(claim.what);
      CHECK(claim.paper > 0);
      CHECK_FALSE(claim.challengers.empty());
      for (const auto* group : {&claim.challengers, &claim.defenders}) {
        for (const std::size_t i : *group) CHECK(i < result.curves.size());
      }
      const bool is_at_a_size = claim.measure == Measure::speedup ||
                                claim.measure == Measure::fastest_lanes ||
                                claim.measure == Measure::throughput;
      CHECK(is_at_a_size == (claim.size_bytes > 0));
      if (is_at_a_size) {
        CHECK(std::ranges::find(result.sizes_bytes, claim.size_bytes) != result.sizes_bytes.end());
      }
    }
  }
}

}  // namespace paper_results_test
}  // namespace hycoll::command
