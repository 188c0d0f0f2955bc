#ifndef HYCOLL_TOOLS_COMMAND_PRICING_PRICE_SWEEP_H_
#define HYCOLL_TOOLS_COMMAND_PRICING_PRICE_SWEEP_H_

#include <cmath>
#include <cstddef>
#include <functional>
#include <vector>

#include "core/base/machine_prices.h"
#include "tools/command/pricing/plan_price.h"

namespace hycoll::command {

/// Which calls a sweep prices: all combinations, with equal nodes and, of several members, with a
/// last node of one member.
struct PriceGrid {
  std::vector<Collective> collectives;
  std::vector<int> node_counts;    ///< Ascending, from 2 on.
  std::vector<int> member_counts;  ///< Ascending.
  std::vector<std::size_t> sizes;  ///< Ascending, in bytes.
};

/// One call: what `auto` takes against the best of all. No plans if no algorithm serves so many
/// members, and infinite times if none can be walked through.
struct PricedCell {
  Collective collective;
  int nodes = 0;
  int members = 0;
  bool has_smaller_node = false;
  std::size_t size_bytes = 0;
  PricedPlan chosen = {};
  PricedPlan best = {};  ///< The chosen one if that is cheaper than all with power-of-two lanes.

  bool is_priced() const { return chosen.algorithm != nullptr && std::isfinite(chosen.time_us); }
  /// Requires is_priced().
  double ratio() const { return chosen.time_us / best.time_us; }
};

/// Prices all cells on all cores. In the order of the grid's lists, the sizes fastest, then the
/// nodes, then equal and smaller nodes. `on_progress` is called from several threads with the
/// number of cells that are done since its last call.
std::vector<PricedCell> price_grid(const PriceGrid& grid, const MachinePrices& prices,
                                   const std::function<void(std::size_t)>& on_progress);

std::size_t cell_count(const PriceGrid& grid);

/// Two neighbouring cells of which the one with more nodes or bytes takes longer than it should
/// for how much more it has, or less time than the other.
struct PriceStep {
  const PricedCell* from;
  const PricedCell* to;
  double factor;       ///< What is beyond, above 1.
  double best_factor;  ///< The same of the best plans.
};

/// The steps of more than `limit` times those of the best plans, between neighbouring sizes (time
/// should grow, by no more than the size) and node counts that differ by 1 or by a tenth (time
/// should be the same), where both have prices. The largest first. They point into the cells.
std::vector<PriceStep> steps_above(double limit, const PriceGrid& grid,
                                   const std::vector<PricedCell>& cells);

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_PRICING_PRICE_SWEEP_H_
