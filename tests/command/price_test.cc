// What plans cost: large shapes against whole walks, and what `auto` chooses.

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "collectives/algorithms/registry.h"
#include "core/drawing/schedule_price.h"
#include "tests/support/sanitized.h"
#include "tools/command/pricing/plan_price.h"
#include "tools/command/pricing/plan_walks.h"
#include "tools/command/pricing/price_sweep.h"

namespace hycoll::command {
namespace price_test {

/// The whole schedule, walked through however many steps that are.
double whole_us(const Algorithm& algorithm, const PriceQuestion& question, int lanes,
                int segments) {
  return price_us(algorithm.generate(Shape(question.nodes, lanes), segments),
                  static_cast<double>(question.size_bytes), MachinePrices{});
}

TEST_CASE("what is too large to be walked through is priced by fewer nodes, members and lanes") {
  std::vector<std::vector<EqualNodes>> shapes = {{{{1, 1}, 200}}, {{{8, 8}, 32}, {{1, 1}, 1}}};
  if (!tests::kIsSanitized) {
    shapes.insert(shapes.end(), {{{{1, 1}, 300}}, {{{8, 8}, 40}}, {{{16, 16}, 16}}});
  }
  for (const auto& [collective, name] : std::vector<std::pair<Collective, const char*>>{
           {Collective::allreduce, "dpml-ring"},
           {Collective::allreduce, "dpml-halving-doubling"},
           {Collective::allreduce, "dpml-recursive-doubling"},
           {Collective::allreduce, "dpml-circulant"},
           {Collective::reduce, "dpml-pairwise"},
           {Collective::reduce_scatter, "dpml-pairwise"},
           {Collective::reduce_scatter, "dpml-halving"},
           {Collective::scan, "dpml-pairwise"},
           {Collective::scan, "dpml-recursive-doubling"},
           {Collective::broadcast, "multi-leader-scatter-ring-opt"},
           {Collective::broadcast, "multi-leader-binomial"}}) {
    const Algorithm& algorithm = find_algorithm(collective, name);
    for (const std::vector<EqualNodes>& nodes : shapes) {
      for (const std::size_t size_bytes : {std::size_t{4096}, std::size_t{4} << 20}) {
        const PriceQuestion question{
            .collective = collective, .nodes = nodes, .size_bytes = size_bytes};
        for (const int lanes : {1, std::min(nodes.front().node.workers, 4)}) {
          PlanPricer pricer(MachinePrices{});
          CAPTURE(algorithm.name);
          CAPTURE(nodes.front().count);
          CAPTURE(nodes.front().node.members);
          CAPTURE(size_bytes);
          CAPTURE(lanes);
          const double whole = whole_us(algorithm, question, lanes, 1);
          CHECK(pricer.price_us(algorithm, question, lanes, 1) ==
                doctest::Approx(whole).epsilon(0.25));
        }
      }
    }
  }
}

/// Of several segments, too, and where nodes fold before they exchange in pairs, or do not.
TEST_CASE("what is too large to be walked through with its segments is priced by fewer nodes") {
  struct Call {
    const char* algorithm;
    int nodes;
    int segments;
  };
  std::vector<Call> calls = {{"dpml-pipelined-halving-doubling", 65, 16}};
  if (!tests::kIsSanitized) {
    calls.insert(calls.end(), {{"dpml-pipelined-halving-doubling", 256, 16},
                               {"dpml-pipelined-halving-doubling", 257, 4},
                               {"dpml-pipelined-halving-doubling", 250, 16},
                               {"dpml-recursive-doubling", 511, 8},
                               {"dpml-pipelined-ring", 65, 16}});
  }
  for (const auto& [name, nodes, segments] : calls) {
    const Algorithm& algorithm = find_algorithm(Collective::allreduce, name);
    const PriceQuestion question{.collective = Collective::allreduce,
                                 .nodes = {{{1, 1}, nodes}},
                                 .size_bytes = std::size_t{4} << 20};
    PlanPricer pricer(MachinePrices{});
    CAPTURE(name);
    CAPTURE(nodes);
    CAPTURE(segments);
    const double whole = whole_us(algorithm, question, 1, segments);
    CHECK(pricer.price_us(algorithm, question, 1, segments) ==
          doctest::Approx(whole).epsilon(0.25));
  }
}

TEST_CASE("bounds without walks are none: nothing takes less") {
  for (const Algorithm* algorithm : all_algorithms()) {
    for (const std::vector<EqualNodes>& nodes :
         std::vector<std::vector<EqualNodes>>{{{{3, 3}, 5}}, {{{4, 4}, 3}, {{1, 1}, 1}}}) {
      const WalkedPlan plan{algorithm, nodes, 2, 2};
      if (!algorithm->serves_shape(plan.shape())) continue;
      if (algorithm->exchange.help != ExchangeHelp::none) continue;
      PlanWalks walks(MachinePrices{}, std::make_shared<KnownWalks>());
      for (const double size_bytes : {8.0, 65536.0}) {
        CAPTURE(algorithm->name);
        CAPTURE(size_bytes);
        const double time_us = walks.time_us(plan, size_bytes, {}, 1e9);
        CHECK(walks.least_us(plan, size_bytes, {}) <= time_us * (1 + 1e-9));
        CHECK(time_us == doctest::Approx(price_us(algorithm->generate(plan.shape(), 2), size_bytes,
                                                  MachinePrices{})));
        // Given up early, and asked again.
        PlanWalks hasty(MachinePrices{}, std::make_shared<KnownWalks>());
        const double given_up = hasty.time_us(plan, size_bytes, {}, time_us / 2);
        CHECK(given_up >= time_us / 2);
        CHECK(given_up <= time_us * (1 + 1e-9));
        CHECK(hasty.time_us(plan, size_bytes, {}, 1e9) == doctest::Approx(time_us));
      }
    }
  }
}

TEST_CASE("staged schedules have prices of their own") {
  const Algorithm& algorithm = find_algorithm(Collective::allreduce, "dpml-ring");
  PriceQuestion question{.collective = Collective::allreduce,
                         .nodes = {{{3, 3}, 4}},
                         .size_bytes = std::size_t{1} << 20};
  PlanPricer pricer(MachinePrices{});
  const double direct_us = pricer.price_us(algorithm, question, 3, 1);
  question.visibility = Visibility::staged;
  const Shape staged(question.nodes, 3, Visibility::staged);
  const double staged_us = pricer.price_us(algorithm, question, 3, 1);
  CHECK(staged_us == doctest::Approx(price_us(algorithm.generate(staged), 1 << 20, {})));
  CHECK(staged_us > direct_us);
}

TEST_CASE("the best is found without pricing all") {
  for (const Collective collective : {Collective::allreduce, Collective::broadcast}) {
    for (const std::size_t size_bytes : {std::size_t{512}, std::size_t{1} << 20}) {
      const PriceQuestion question{
          .collective = collective, .nodes = {{{4, 4}, 6}}, .size_bytes = size_bytes};
      const double best_us = PlanPricer(MachinePrices{}).price_all(question).front().time_us;
      PlanPricer pricer(MachinePrices{});
      const auto found = pricer.price_best(question, best_us * 2);
      REQUIRE(found);
      CHECK(found->time_us == doctest::Approx(best_us));
      CHECK_FALSE(pricer.price_best(question, best_us));
    }
  }
}

TEST_CASE("calls on more members than any algorithm serves have no price") {
  const PriceGrid grid{.collectives = {Collective::alltoall},
                       .node_counts = {400},
                       .member_counts = {128},
                       .sizes = {8, 16}};
  const std::vector<PricedCell> cells = price_grid(grid, MachinePrices{}, [](std::size_t) {});
  REQUIRE(cells.size() == 4);  // with the last node of one member
  for (const PricedCell& cell : cells) CHECK_FALSE(cell.is_priced());
  CHECK(steps_above(1.3, grid, cells).empty());
}

/// A part of what `hycoll verify --prices` goes over, where formulas decide.
TEST_CASE("what auto chooses is hardly dearer than the best, and does not jump") {
  PriceGrid grid{
      .collectives = {},
      .node_counts = tests::kIsSanitized ? std::vector{9, 16} : std::vector{9, 16, 17, 33},
      .member_counts = {1, 4, 16},
      .sizes = {8, 4096, std::size_t{16} << 10, std::size_t{32} << 10, std::size_t{64} << 10,
                std::size_t{1} << 20, std::size_t{32} << 20}};
  for (int c = 0; c < kCollectiveCount; ++c) {
    grid.collectives.push_back(static_cast<Collective>(c));
  }
  const std::vector<PricedCell> cells = price_grid(grid, MachinePrices{}, [](std::size_t) {});
  REQUIRE(cells.size() == cell_count(grid));
  std::size_t priced = 0;
  std::size_t good = 0;
  for (const PricedCell& cell : cells) {
    CAPTURE(name_of(cell.collective));
    CAPTURE(cell.nodes);
    CAPTURE(cell.members);
    CAPTURE(cell.has_smaller_node);
    CAPTURE(cell.size_bytes);
    if (!cell.is_priced()) {
      // Blocks without a byte.
      CHECK(cell.collective == Collective::alltoall);
      CHECK(cell.size_bytes == 8);
      continue;
    }
    ++priced;
    CAPTURE(cell.chosen.algorithm->name);
    CAPTURE(cell.best.algorithm->name);
    CHECK(cell.ratio() <= 1.5);
    good += cell.ratio() <= 1.2 ? 1 : 0;
  }
  CHECK(priced >= cells.size() - 20);
  CHECK(good * 100 >= priced * 95);
  CHECK(steps_above(1.3, grid, cells).empty());
}

}  // namespace price_test
}  // namespace hycoll::command
