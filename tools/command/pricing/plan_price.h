#ifndef HYCOLL_TOOLS_COMMAND_PRICING_PLAN_PRICE_H_
#define HYCOLL_TOOLS_COMMAND_PRICING_PLAN_PRICE_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "collectives/algorithms/registry.h"
#include "collectives/selection/selection.h"
#include "core/base/machine_prices.h"
#include "tools/command/pricing/plan_walks.h"

namespace hycoll::command {

/// A call that plans are priced for. Roots are member 0.
struct PriceQuestion {
  Collective collective = Collective::allreduce;
  std::vector<EqualNodes> nodes;
  std::size_t size_bytes = 0;
  OperandOrder order = OperandOrder::any;
  int requested_lanes = 0;  ///< 0: any.
  Visibility visibility = Visibility::direct;
};

/// As selection is asked for a plan.
SelectionQuery selection_query(const PriceQuestion& question, const MachinePrices& prices);

struct PricedPlan {
  const Algorithm* algorithm = nullptr;
  int lanes = 1;
  int segments = 1;
  double time_us = 0;
};

/// Prices plans by walking through their schedules (plan_walks.h). For one thread.
///
/// A schedule of too many steps is not walked through as a whole. Its exchange is that of one lane
/// among the same nodes with one member each, where the lane has its part of the cards, and what
/// happens inside the nodes is what two of them take longer with all of their members and lanes
/// than in that way. If that is still too long, fewer nodes and fewer segments tell. Blocks: time
/// goes in a straight line with the segments, and where one segment is too many, with the nodes, as
/// long as segments and blocks are as long as they are. Whole vectors, and halves: what the last
/// doubling of the nodes added, or twice that, as the one before tells, is added by each further
/// one. What a node sends in a collective with pairs goes with its members, so that no member can
/// stand for all: such plans are walked through whole, or on fewer nodes. So are those with blocks
/// where a node has fewer members than others, as far as they can be.
class PlanPricer {
 public:
  /// Pricers of several threads may share what they know.
  explicit PlanPricer(const MachinePrices& prices,
                      std::shared_ptr<KnownWalks> known = std::make_shared<KnownWalks>())
      : prices_(prices), walks_(prices, std::move(known)) {}

  /// Requires an algorithm that serves the shape, and has_price(). Infinite if two nodes are too
  /// much to be walked through.
  double price_us(const Algorithm& algorithm, const PriceQuestion& question, int lanes,
                  int segments);

  /// What a call takes that asks for an algorithm of this name, or "auto". Throws Error
  /// (unsupported) if that does not serve the shape, or has no price.
  PricedPlan price_chosen(const PriceQuestion& question, std::string_view name = "auto");

  /// Every algorithm that serves, with the lanes that are best for it among powers of two and the
  /// most workers of a node, and the segments that selection gives it; those of the MPI library and
  /// of aggregators are left out, and lines that would be longer than there is room for. The
  /// cheapest first.
  std::vector<PricedPlan> price_all(const PriceQuestion& question);

  /// The first of these that may be chosen (leaders_may_hold_all()), found without pricing all:
  /// what is seen to be dearer than another one or than `limit_us` is given up. Nothing if all are.
  std::optional<PricedPlan> price_best(const PriceQuestion& question, double limit_us);

 private:
  /// The plan with the lanes that are best for it, if it takes less than `limit_us`.
  std::optional<PricedPlan> price_with_best_lanes(const Algorithm& algorithm,
                                                  const PriceQuestion& question, double limit_us);
  bool has_room_for_lines(const Algorithm& algorithm, const PriceQuestion& question);
  /// As price_us(); infinite if it takes `limit_us`.
  double price_below(const Algorithm& algorithm, const PriceQuestion& question, int lanes,
                     int segments, double limit_us);
  /// Among so many nodes, by a lane that stands for all. From `limit_us` on, something that is not
  /// more.
  double exchange_us(const Algorithm& algorithm, const PriceQuestion& question, int node_count,
                     int lanes, int segments, double limit_us);
  /// On a straight line with the segments; nothing if even few of them are too many.
  std::optional<double> with_fewer_segments(const WalkedPlan& plan, double size_bytes,
                                            const LaneScale& scale);
  /// The walk, or if that is too long the same.
  std::optional<double> walk_with_fewer_segments(const WalkedPlan& plan, double size_bytes,
                                                 const LaneScale& scale);
  /// On a straight line with the nodes, for blocks; `plan_with(nodes)` is the plan on so many.
  template <class PlanWith>
  std::optional<double> with_fewer_nodes(int node_count, double size_bytes, const LaneScale& scale,
                                         const PlanWith& plan_with);
  /// Fewer nodes, and how often they are doubled until they are all.
  struct Halved {
    int nodes;
    double doublings;
  };
  /// The most nodes, halved again and again, but not below `fewest`, whose plan can be walked
  /// through.
  template <class PlanWith>
  std::optional<Halved> walkable_half(int node_count, int fewest, const PlanWith& plan_with);
  /// For whole vectors and halves, doubling by doubling.
  template <class PlanWith>
  std::optional<double> with_halved_nodes(int node_count, double size_bytes, const LaneScale& scale,
                                          const PlanWith& plan_with);
  /// For halves of all blocks: on a straight line with the nodes and with their logarithm.
  template <class PlanWith>
  std::optional<double> with_halved_blocks(int node_count, double size_bytes,
                                           const PlanWith& plan_with);
  /// Of more than two nodes, with all their members and lanes; infinite if that is too much.
  double price_pairs(const WalkedPlan& plan, double size_bytes);
  /// The same, of fewer nodes; nothing if even few of them are too many.
  std::optional<double> price_on_fewer_nodes(const WalkedPlan& plan, double size_bytes);
  /// Of the nodes before the last one, which is unlike them: what they take by themselves the whole
  /// takes too. 0 if they do not have the algorithm, or that is too much.
  double price_without_last(const Algorithm& algorithm, const PriceQuestion& question, int lanes,
                            int segments);
  /// Of two nodes. From `limit_us` on, something that is not more; infinite if that is too much.
  double walk_two(const WalkedPlan& plan, double size_bytes, double limit_us);

  SelectionQuery query_of(const PriceQuestion& question) const {
    return selection_query(question, prices_);
  }

  MachinePrices prices_;
  PlanWalks walks_;
  const Algorithm* last_best_ = nullptr;
};

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_PRICING_PLAN_PRICE_H_
