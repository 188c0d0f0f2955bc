#include "tools/command/pricing/price_sweep.h"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <atomic>
#include <memory>

#include "core/base/collective_traits.h"

namespace hycoll::command {
namespace {

/// The cells of one collective on nodes of one kind: their plans have much in common.
struct Family {
  Collective collective;
  int members;
  bool has_smaller_node;
};

std::vector<Family> families_of(const PriceGrid& grid) {
  std::vector<Family> families;
  for (const Collective collective : grid.collectives) {
    for (const int members : grid.member_counts) {
      families.push_back({collective, members, false});
      if (members > 1) families.push_back({collective, members, true});
    }
  }
  return families;
}

std::vector<EqualNodes> nodes_of(const Family& family, int node_count) {
  const Node node{family.members, family.members};
  if (!family.has_smaller_node) return {{node, node_count}};
  return {{node, node_count - 1}, {{1, 1}, 1}};
}

/// Whether some algorithm serves so many members, and blocks of so little.
bool is_served(const PriceQuestion& question) {
  const Shape shape(question.nodes, 1);
  const auto members = static_cast<std::size_t>(shape.member_count());
  if (has_pairs(question.collective) && question.size_bytes < members) return false;
  return std::ranges::any_of(algorithms_of(question.collective), [&](const Algorithm& algorithm) {
    return algorithm.serves_shape(shape);
  });
}

PricedCell price_cell(PlanPricer& pricer, const Family& family, int node_count,
                      std::size_t size_bytes) {
  const PriceQuestion question{.collective = family.collective,
                               .nodes = nodes_of(family, node_count),
                               .size_bytes = size_bytes};
  PricedCell cell{.collective = family.collective,
                  .nodes = node_count,
                  .members = family.members,
                  .has_smaller_node = family.has_smaller_node,
                  .size_bytes = size_bytes};
  if (is_served(question)) {
    cell.chosen = pricer.price_chosen(question);
    cell.best = pricer.price_best(question, cell.chosen.time_us).value_or(cell.chosen);
  }
  return cell;
}

/// How far `later` is from lying between `earlier` and `most` times that; 1 if it does.
double factor_beyond(double earlier, double later, double most) {
  return std::max({1.0, later / (earlier * most), earlier / later});
}

bool are_neighbours(int fewer, int more) { return more == fewer + 1 || more * 10 <= fewer * 11; }

}  // namespace

std::size_t cell_count(const PriceGrid& grid) {
  return families_of(grid).size() * grid.node_counts.size() * grid.sizes.size();
}

std::vector<PricedCell> price_grid(const PriceGrid& grid, const MachinePrices& prices,
                                   const std::function<void(std::size_t)>& on_progress) {
  const std::vector<Family> families = families_of(grid);
  const std::size_t node_counts = grid.node_counts.size();
  const std::size_t families_of_one = families.size() / grid.collectives.size();
  std::vector<PricedCell> cells(cell_count(grid));
  const auto known = std::make_shared<KnownWalks>();
  // Lanes between the same nodes are priced alike whatever these have inside. Most nodes first:
  // they take longest.
  const auto price_nodes = [&](std::size_t task) {
    PlanPricer pricer(prices, known);
    const std::size_t n = node_counts - 1 - task / grid.collectives.size();
    const std::size_t first = task % grid.collectives.size() * families_of_one;
    for (std::size_t f = first; f < first + families_of_one; ++f) {
      for (std::size_t s = 0; s < grid.sizes.size(); ++s) {
        cells[(f * node_counts + n) * grid.sizes.size() + s] =
            price_cell(pricer, families[f], grid.node_counts[n], grid.sizes[s]);
        on_progress(1);
      }
    }
  };
  std::atomic<std::size_t> next{0};
  tbb::parallel_for(std::size_t{0}, node_counts * grid.collectives.size(),
                    [&](std::size_t) { price_nodes(next++); });
  return cells;
}

std::vector<PriceStep> steps_above(double limit, const PriceGrid& grid,
                                   const std::vector<PricedCell>& cells) {
  const std::size_t size_count = grid.sizes.size();
  std::vector<PriceStep> steps;
  const auto add = [&](const PricedCell& from, const PricedCell& to, double most) {
    if (!from.is_priced() || !to.is_priced()) return;
    const double factor = factor_beyond(from.chosen.time_us, to.chosen.time_us, most);
    const double best_factor = factor_beyond(from.best.time_us, to.best.time_us, most);
    if (factor > limit * best_factor) steps.push_back({&from, &to, factor, best_factor});
  };
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if ((i + 1) % size_count != 0) {
      add(cells[i], cells[i + 1],
          static_cast<double>(cells[i + 1].size_bytes) / static_cast<double>(cells[i].size_bytes));
    }
    const std::size_t next = i + size_count;
    if (next < cells.size() && are_neighbours(cells[i].nodes, cells[next].nodes) &&
        cells[next].nodes > cells[i].nodes) {
      add(cells[i], cells[next], 1);
    }
  }
  std::ranges::stable_sort(steps, std::greater<>(), &PriceStep::factor);
  return steps;
}

}  // namespace hycoll::command
