// What `hycoll explain` says of choices, over a grid of calls.
#include <doctest/doctest.h>

#include <cstddef>
#include <string>

#include "collectives/selection/selection.h"
#include "core/base/price_text.h"
#include "tools/command/explaining/explanation.h"

namespace hycoll::command {
namespace explain_test {

PriceQuestion question_of(Collective collective, int nodes, int members, std::size_t size_bytes) {
  return {.collective = collective,
          .nodes = {{.node = {.members = members, .workers = members}, .count = nodes}},
          .size_bytes = size_bytes};
}

SelectedPlan choice(PriceQuestion question, const MachinePrices& prices, std::size_t size_bytes) {
  question.size_bytes = size_bytes;
  return select(selection_query(question, prices));
}

void check_range(const Explanation& explanation, const MachinePrices& prices,
                 std::size_t element_bytes) {
  const PricedPlan& chosen = explanation.chosen.plan;
  const auto is_same = [&](std::size_t size_bytes) {
    const SelectedPlan plan = choice(explanation.question, prices, size_bytes);
    return plan.algorithm == chosen.algorithm->name && plan.lanes == chosen.lanes;
  };
  const SizeRange& holds = explanation.holds;
  CHECK(holds.first <= explanation.question.size_bytes);
  CHECK(holds.last >= explanation.question.size_bytes);
  CHECK(is_same(holds.first));
  CHECK(is_same(holds.last));
  if (holds.first > element_bytes) CHECK(!is_same(holds.first - element_bytes));
  if (holds.last < kMostExplainedBytes) CHECK(!is_same(holds.last + element_bytes));
}

TEST_CASE("no part is more than the whole, and the choice changes where it is said to") {
  constexpr std::size_t kElementBytes = 4;
  for (const char* const text :
       {"default", "alpha=10us,memory=20GB/s", "bandwidth=50GB/s,endpoint=6GB/s"}) {
    const MachinePrices prices = parse_prices("--price", text);
    for (const Collective collective :
         {Collective::allreduce, Collective::broadcast, Collective::allgather, Collective::alltoall,
          Collective::scan}) {
      for (const int nodes : {2, 5, 16}) {
        for (const std::size_t size_bytes :
             {std::size_t{3840}, std::size_t{38400}, std::size_t{3840000}}) {
          const int members = 4;
          CAPTURE(std::string(name_of(collective)));
          CAPTURE(nodes);
          CAPTURE(size_bytes);
          const Explanation explanation =
              explain(question_of(collective, nodes, members, size_bytes), prices, kElementBytes);
          const auto check_parts = [](const ExplainedPlan& explained) {
            CHECK(explained.plan.time_us > 0);
            for (const double part : {explained.parts.latency_us, explained.parts.transfer_us,
                                      explained.parts.combining_us, explained.parts.copying_us,
                                      explained.parts.memory_us, explained.parts.signals_us}) {
              CHECK(part >= 0);
              CHECK(part <= explained.plan.time_us);
            }
          };
          check_parts(explanation.chosen);
          for (const ExplainedPlan& other : explanation.others) {
            check_parts(other);
            CHECK(other.plan.algorithm != explanation.chosen.plan.algorithm);
          }
          check_range(explanation, prices, kElementBytes);
        }
      }
    }
  }
}

TEST_CASE("what costs nothing is no part") {
  const PriceQuestion question = question_of(Collective::broadcast, 8, 1, 1 << 20);
  const MachinePrices prices;
  const Explanation explanation = explain(question, prices, 1);
  // One member on each node, and nothing is combined.
  CHECK(explanation.chosen.parts.combining_us == 0);
  CHECK(explanation.chosen.parts.signals_us == 0);
  CHECK(explanation.chosen.parts.transfer_us > explanation.chosen.parts.latency_us);
  const std::string text = explanation_text(explanation, prices);
  CHECK(text.find("is the bytes on the network") != std::string::npos);
}

}  // namespace explain_test
}  // namespace hycoll::command
