#ifndef HYCOLL_TOOLS_COMMAND_PRICING_PLAN_PRICE_H_
#define HYCOLL_TOOLS_COMMAND_PRICING_PLAN_PRICE_H_

#include <compare>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "collectives/algorithms/registry.h"
#include "collectives/plans/selection.h"
#include "core/base/machine_prices.h"
#include "core/drawing/schedule_price.h"

namespace hycoll::command {

/// A call that plans are priced for. Roots are member 0.
struct PriceQuestion {
  Collective collective = Collective::allreduce;
  std::vector<NodeRun> nodes;
  std::size_t size_bytes = 0;
  OperandOrder order = OperandOrder::any;
  int requested_lanes = 0;  ///< 0: any.
};

struct PricedPlan {
  const Algorithm* algorithm = nullptr;
  int lanes = 1;
  int segments = 1;
  double time_us = 0;
};

/// Prices plans by walking through their schedules (core/drawing/schedule_price.h), of which it
/// keeps the last ones, and the times. For one thread.
///
/// A schedule of more than kMostSteps steps is not walked through as a whole. Its exchange is that
/// of one lane among the same nodes with one member each, where the lane has its part of the cards,
/// and what happens inside the nodes is what two of them take longer with all of their members and
/// lanes than in that way. If that is still too long, there are as many messages as pairs of nodes:
/// then time goes in a straight line with the nodes, as long as blocks (messages of a tree, the
/// vector) stay as long as they are, and is read off it at two node counts that are not too long.
class PlanPricer {
 public:
  explicit PlanPricer(const MachinePrices& prices) : prices_(prices) {}

  /// Requires an algorithm that serves the shape, and has_price(). Infinite if two nodes are too
  /// much to be walked through.
  double price_us(const Algorithm& algorithm, const PriceQuestion& question, int lanes,
                  int segments);

  /// What a call takes that asks for an algorithm of this name, or "auto". Throws Error
  /// (unsupported) if that does not serve the shape, or has no price.
  PricedPlan price_chosen(const PriceQuestion& question, std::string_view name = "auto");

  /// Every algorithm that serves, with the lanes that are best for it among powers of two and the
  /// most workers of a node, and the segments that selection gives it; those of the MPI library and
  /// of aggregators are left out. The cheapest first.
  std::vector<PricedPlan> price_all(const PriceQuestion& question);

  /// The first of these, found without pricing all: what its exchange alone makes dearer than
  /// another one or than `limit_us` is given up. Nothing if all are.
  std::optional<PricedPlan> price_best(const PriceQuestion& question, double limit_us);

  static constexpr std::size_t kMostSteps = 30'000;
  static constexpr std::size_t kMostStepsOfTwoNodes = 1'000'000;

 private:
  struct ShapeKey {
    const Algorithm* algorithm;
    std::vector<int> runs;  // members, workers and count of each run of nodes; then the lanes
    int segments;
    auto operator<=>(const ShapeKey&) const = default;
  };
  struct TimeKey {
    double size_bytes;
    int lanes_per_lane;
    int last_node_lanes;
    auto operator<=>(const TimeKey&) const = default;
  };
  struct KeptPlan {
    bool is_walked = false;                    // it has few steps enough
    std::unique_ptr<const Schedule> schedule;  // null until needed
    std::map<TimeKey, double> times_us;
  };

  KeptPlan& plan_for(const Algorithm& algorithm, const Shape& shape, int segments);
  void forget_schedules();
  /// Nothing if that takes too many steps.
  std::optional<double> walk(const Algorithm& algorithm, const Shape& shape, int segments,
                             double size_bytes, const LaneScale& scale);
  /// The plan with the lanes that are best for it, if it takes less than `limit_us`.
  std::optional<PricedPlan> price_with_best_lanes(const Algorithm& algorithm,
                                                  const PriceQuestion& question, double limit_us);
  /// As price_us(); infinite if the exchange alone takes `limit_us`.
  double price_below(const Algorithm& algorithm, const PriceQuestion& question, int lanes,
                     int segments, double limit_us);
  /// Among so many nodes, by a lane that stands for all.
  double exchange_us(const Algorithm& algorithm, const PriceQuestion& question, int node_count,
                     int lanes, int segments);

  MachinePrices prices_;
  std::map<ShapeKey, KeptPlan> plans_;
  std::size_t kept_steps_ = 0;
};

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_PRICING_PLAN_PRICE_H_
