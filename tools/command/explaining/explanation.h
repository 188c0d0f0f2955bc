#ifndef HYCOLL_TOOLS_COMMAND_EXPLAINING_EXPLANATION_H_
#define HYCOLL_TOOLS_COMMAND_EXPLAINING_EXPLANATION_H_

#include <cstddef>
#include <string>
#include <vector>

#include "core/base/machine_prices.h"
#include "tools/command/line/output.h"
#include "tools/command/pricing/plan_price.h"

namespace hycoll::command {

/// What a call would take less, in microseconds, if one thing cost nothing. What is hidden behind
/// something else saves nothing, so the parts mostly add up to less than the whole. They can add up
/// to more where messages take a card in turn, for without one thing they come in another order.
struct PriceParts {
  double latency_us;    ///< Of messages: alpha, and what of it keeps a worker busy.
  double transfer_us;   ///< Of their bytes, on cards and endpoints.
  double combining_us;  ///< Operands, by cores.
  double copying_us;
  double memory_us;   ///< What the workers of a node have of it together.
  double signals_us;  ///< Flags and lines inside nodes.

  double sum_us() const {
    return latency_us + transfer_us + combining_us + copying_us + memory_us + signals_us;
  }
};

struct ExplainedPlan {
  PricedPlan plan;
  PriceParts parts;
};

/// Sizes in bytes, between which a choice is the same: algorithm, and lanes. Segments may differ.
struct SizeRange {
  std::size_t first;
  std::size_t last;  ///< At most kMostExplainedBytes.
};

struct Explanation {
  PriceQuestion question;
  ExplainedPlan chosen;
  /// The others that serve, the cheapest first; with the lanes that are best for each.
  std::vector<ExplainedPlan> others;
  SizeRange holds;

  /// How many times as long as the chosen plan the cheapest other algorithm takes; 0: there is
  /// none.
  double runner_up_ratio() const;
};

inline constexpr std::size_t kMostExplainedBytes = std::size_t{1} << 30;

/// What `auto` takes between nodes, by what, and what it could take instead. Throws Error
/// (unsupported) if what it takes has no price. Sizes are multiples of `element_bytes`.
Explanation explain(const PriceQuestion& question, const MachinePrices& prices,
                    std::size_t element_bytes);

std::string explanation_text(const Explanation& explanation, const MachinePrices& prices);
Report explanation_report(const Explanation& explanation, const MachinePrices& prices);

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_EXPLAINING_EXPLANATION_H_
