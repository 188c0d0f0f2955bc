#include "tools/command/explaining/explanation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/base/price_text.h"
#include "tools/command/line/sizes.h"
#include "tools/command/line/table.h"

namespace hycoll::command {
namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();
/// Below it, another plan is worth naming: formulas are not walks to the last digit.
constexpr double kAsGood = 0.98;

/// More than any card has: times of bytes vanish.
constexpr double kNoTransfer = 1e12;

/// The same prices without some of them.
MachinePrices without_latency(MachinePrices prices) {
  prices.alpha_us = 0;
  prices.message_us = 0;
  return prices;
}
MachinePrices without_transfer(MachinePrices prices) {
  prices.bandwidth_gb_per_s = kNoTransfer;
  prices.endpoint_gb_per_s = kUnlimited;
  return prices;
}
MachinePrices without_combining(MachinePrices prices) {
  prices.reduce_gb_per_s = kNoTransfer;
  return prices;
}
MachinePrices without_copying(MachinePrices prices) {
  prices.copy_gb_per_s = kNoTransfer;
  return prices;
}
MachinePrices with_unlimited_memory(MachinePrices prices) {
  prices.memory_gb_per_s = kUnlimited;
  return prices;
}
MachinePrices without_signals(MachinePrices prices) {
  prices.wait_us = 0;
  prices.gap_us = 0;
  return prices;
}

/// Prices plans with all prices and without each of them.
class PartsPricer {
 public:
  explicit PartsPricer(const MachinePrices& prices)
      : latency_(without_latency(prices)),
        transfer_(without_transfer(prices)),
        combining_(without_combining(prices)),
        copying_(without_copying(prices)),
        memory_(with_unlimited_memory(prices)),
        signals_(without_signals(prices)) {}

  PriceParts parts_of(const PricedPlan& plan, const PriceQuestion& question) {
    const auto saved_by = [&](PlanPricer& pricer) {
      const double rest = pricer.price_us(*plan.algorithm, question, plan.lanes, plan.segments);
      return std::max(0.0, plan.time_us - rest);
    };
    return {.latency_us = saved_by(latency_),
            .transfer_us = saved_by(transfer_),
            .combining_us = saved_by(combining_),
            .copying_us = saved_by(copying_),
            .memory_us = saved_by(memory_),
            .signals_us = saved_by(signals_)};
  }

 private:
  PlanPricer latency_;
  PlanPricer transfer_;
  PlanPricer combining_;
  PlanPricer copying_;
  PlanPricer memory_;
  PlanPricer signals_;
};

/// The elements from which, and up to which, the same is chosen as with `elements`.
class ChoiceRange {
 public:
  ChoiceRange(const PriceQuestion& question, const MachinePrices& prices, std::size_t element_bytes)
      : query_(selection_query(question, prices)), element_bytes_(element_bytes) {}

  SizeRange around(std::size_t elements) {
    const SelectedPlan chosen = choice(elements);
    const auto is_same = [&](std::size_t count) {
      const SelectedPlan other = choice(count);
      return other.algorithm == chosen.algorithm && other.lanes == chosen.lanes;
    };
    const std::size_t most = kMostExplainedBytes / element_bytes_;
    // Doublings, then halvings of what is between the last same one and the first other one.
    std::size_t first = elements;
    std::size_t below = elements / 2;
    for (; below > 0 && is_same(below); below /= 2) first = below;
    while (first - below > 1) {
      const std::size_t middle = below + (first - below) / 2;
      (is_same(middle) ? first : below) = middle;
    }
    std::size_t last = elements;
    std::size_t above = std::min(2 * elements, most);
    for (; above > last && is_same(above); above = std::min(2 * above, most)) last = above;
    while (above > last + 1) {
      const std::size_t middle = last + (above - last) / 2;
      (is_same(middle) ? last : above) = middle;
    }
    return {first * element_bytes_, last * element_bytes_};
  }

 private:
  SelectedPlan choice(std::size_t elements) {
    query_.size_bytes = elements * element_bytes_;
    return select(query_);
  }

  SelectionQuery query_;
  std::size_t element_bytes_;
};

std::string shape_text(const PriceQuestion& question) {
  std::string text;
  for (const EqualNodes& run : question.nodes) {
    text += fmt::format("{}{} node{} of {}", text.empty() ? "" : " and ", run.count,
                        run.count == 1 ? "" : "s", run.node.members);
  }
  return text;
}

void add_plan(TextTable& table, const ExplainedPlan& explained, double chosen_us, bool is_chosen) {
  const PricedPlan& plan = explained.plan;
  const PriceParts& parts = explained.parts;
  table.add_row({fmt::format("{}{}", plan.algorithm->name, is_chosen ? " (chosen)" : ""),
                 std::to_string(plan.lanes), std::to_string(plan.segments), time_text(plan.time_us),
                 ratio_text(plan.time_us / chosen_us), time_text(parts.latency_us),
                 time_text(parts.transfer_us), time_text(parts.combining_us),
                 time_text(parts.copying_us + parts.memory_us), time_text(parts.signals_us),
                 time_text(std::max(0.0, plan.time_us - parts.sum_us()))});
}

Json record_of(const ExplainedPlan& explained, bool is_chosen) {
  const PricedPlan& plan = explained.plan;
  const PriceParts& parts = explained.parts;
  return {{"algorithm", plan.algorithm->name},
          {"chosen", is_chosen},
          {"lanes", plan.lanes},
          {"segments", plan.segments},
          {"time_us", plan.time_us},
          {"latency_us", parts.latency_us},
          {"transfer_us", parts.transfer_us},
          {"combining_us", parts.combining_us},
          {"copying_us", parts.copying_us},
          {"memory_us", parts.memory_us},
          {"signals_us", parts.signals_us}};
}

/// The largest part in words, and what would make the call faster.
std::string advice(const ExplainedPlan& chosen) {
  const PriceParts& parts = chosen.parts;
  const std::pair<double, const char*> known[] = {
      {parts.latency_us,
       "the latency of messages: fewer and longer messages would help, such as one call for "
       "several"},
      {parts.transfer_us,
       "the bytes on the network: a network card that is faster, or a shorter vector"},
      {parts.combining_us,
       "combining operands: more workers would share it, up to the memory's rate"},
      {parts.copying_us + parts.memory_us, "copies inside the nodes"},
      {parts.signals_us, "signals inside the nodes: fewer members of a node"}};
  const auto* most = std::ranges::max_element(known);
  return fmt::format("most of it, {:.0f} %, is {}", 100 * most->first / chosen.plan.time_us,
                     most->second);
}

}  // namespace

double Explanation::runner_up_ratio() const {
  return others.empty() ? 0 : others.front().plan.time_us / chosen.plan.time_us;
}

Explanation explain(const PriceQuestion& question, const MachinePrices& prices,
                    std::size_t element_bytes) {
  PlanPricer pricer(prices);
  PartsPricer parts(prices);
  const PricedPlan chosen = pricer.price_chosen(question);
  Explanation explanation{
      .question = question,
      .chosen = {chosen, parts.parts_of(chosen, question)},
      .others = {},
      .holds = ChoiceRange(question, prices, element_bytes)
                   .around(std::max<std::size_t>(1, question.size_bytes / element_bytes))};
  for (const PricedPlan& plan : pricer.price_all(question)) {
    if (plan.algorithm == chosen.algorithm || !std::isfinite(plan.time_us)) continue;
    explanation.others.push_back({plan, parts.parts_of(plan, question)});
  }
  return explanation;
}

std::string explanation_text(const Explanation& explanation, const MachinePrices& prices) {
  const PricedPlan& chosen = explanation.chosen.plan;
  std::string text = fmt::format(
      "{} of {} on {}: {} with {} lane{}, {} us\n", name_of(explanation.question.collective),
      short_size(explanation.question.size_bytes), shape_text(explanation.question),
      chosen.algorithm->name, chosen.lanes, chosen.lanes == 1 ? "" : "s",
      time_text(chosen.time_us));
  text += fmt::format("  by formulas with these prices: {}\n", to_text(prices));
  text += fmt::format("  the choice holds from {} to {}{}\n", short_size(explanation.holds.first),
                      short_size(explanation.holds.last),
                      explanation.holds.last == kMostExplainedBytes ? " and beyond" : "");
  text += fmt::format("  {}\n", advice(explanation.chosen));
  const double ratio = explanation.runner_up_ratio();
  if (ratio > 0) {
    const std::string_view other = explanation.others.front().plan.algorithm->name;
    text += ratio > kAsGood
                ? fmt::format("  the next one, {}, takes {:.2f} times as long\n", other, ratio)
                : fmt::format(
                      "  the walk through its schedule finds {} cheaper: {:.2f} times as "
                      "long. --algorithm, or HYCOLL_ALGORITHM, take it\n",
                      other, ratio);
  }
  TextTable table({"algorithm", "lanes", "segments", "us", "of chosen", "latency", "transfer",
                   "combining", "copying", "signals", "at once"});
  add_plan(table, explanation.chosen, chosen.time_us, true);
  for (const ExplainedPlan& plan : explanation.others) add_plan(table, plan, chosen.time_us, false);
  return text + "\n" + table.to_text() +
         "\nlatency to signals: what would be saved if that cost nothing. at once: what several of "
         "them take "
         "together, so that none alone would save it.\n";
}

Report explanation_report(const Explanation& explanation, const MachinePrices& prices) {
  Report report{.context = {{"command", "explain"},
                            {"prices", to_text(prices)},
                            {"collective", name_of(explanation.question.collective)},
                            {"bytes", explanation.question.size_bytes},
                            {"holds_from_bytes", explanation.holds.first},
                            {"holds_to_bytes", explanation.holds.last},
                            {"runner_up_ratio", explanation.runner_up_ratio()}},
                .records = {}};
  report.records.push_back(record_of(explanation.chosen, true));
  for (const ExplainedPlan& plan : explanation.others)
    report.records.push_back(record_of(plan, false));
  return report;
}

}  // namespace hycoll::command
