#include "collectives/selection/costs.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "collectives/algorithms/registry.h"
#include "collectives/selection/lanes.h"
#include "core/base/line_sizes.h"

namespace hycoll {
namespace {

/// Handing a call to a worker of the process's pool, and hearing that it is done
/// (docs/measurements.md, "Sixteen cores").
constexpr double kHelperUs = 0.3;

constexpr double us_of(double bytes, double gb_per_s) { return bytes / (gb_per_s * 1000); }

double total_members(std::span<const EqualNodes> nodes) {
  double total = 0;
  for (const auto& [node, count] : nodes) total += static_cast<double>(count) * node.members;
  return total;
}

int workers_of_root(const SelectionQuery& query) {
  int members = 0;
  for (const auto& [node, count] : query.nodes) {
    members += node.members * count;
    if (query.root < members) return node.workers;
  }
  return fewest_workers(query.nodes);
}

bool serves(const Algorithm& algorithm, const SelectionQuery& query, const Shape& shape) {
  return algorithm.order >= query.order &&
         (!algorithm.passes_in_lines || query.size_bytes <= kMaximumLinesBytes) &&
         // A node does not know how long the blocks of other nodes' pairs are.
         !(algorithm.exchange.passes_on_blocks && query.has_unequal_pairs) &&
         algorithm.serves_shape(shape);
}

}  // namespace

double overlapped(double one, double other, double segments) {
  return std::max(one, other) + std::min(one, other) / segments;
}

double received_and_combined(const LaneCosts& costs, double part, double segments) {
  return overlapped(part * costs.card, part * costs.combine,
                    std::max(segments, costs.lanes_of_worker));
}

double time_of(const LaneCosts& costs, const Rounds& rounds) {
  const double worker_lanes =
      rounds.lanes_of_worker > 0 ? rounds.lanes_of_worker : costs.lanes_of_worker;
  const double pieces = costs.overlapping_lanes * rounds.segments;
  double time = 0;
  double staggered = 0;
  double part = rounds.part;
  // Equal rounds at once.
  const double equal = rounds.ratio == 1 ? rounds.count : 1;
  for (double round = 0; round < rounds.count; round += equal) {
    const double card = part * costs.card;
    const double combine = rounds.combined * part * costs.own_combine;
    const double messages = rounds.segments * costs.message_of_lane;
    const double worker = worker_lanes * (combine + messages);
    // Who has waited for a worker of several lanes keeps it waiting in turn.
    const bool waits_in_turn = rounds.sender == Rounds::Sender::has_waited && worker_lanes > 1;
    const double message =
        costs.own_alpha + combine / rounds.segments + (waits_in_turn ? worker_lanes * messages : 0);
    const double first_piece = std::max(card / pieces, part * costs.endpoint / rounds.segments);
    time += equal * std::max({card, worker, message + first_piece});
    // What the last lane is behind the first one.
    staggered =
        std::max(staggered,
                 std::min(message, std::max(card - card / pieces, worker - worker / worker_lanes)));
    part *= rounds.ratio;
  }
  return time + staggered;
}

Rounds halving(double count, double blocks) {
  const double sum = 2 * (1 - std::exp2(-count));
  return {.count = count, .part = (1 - 1 / blocks) / sum, .ratio = 0.5, .combined = 1};
}

Rounds doubling(double count, double blocks) {
  Rounds rounds = halving(count, blocks);
  rounds.combined = 0;
  rounds.part *= std::exp2(1 - count);
  rounds.ratio = 2;
  return rounds;
}

LaneCosts::LaneCosts(const SelectionQuery& query, int lane_count)
    : nodes(static_cast<double>(query.node_count())),
      steps(std::bit_width(query.node_count() - 1)),
      full_steps(std::bit_width(query.node_count()) - 1),
      partners(static_cast<double>(std::bit_floor(query.node_count()))),
      folds(!std::has_single_bit(query.node_count())),
      members(most_members(query.nodes)),
      elsewhere(1 - members / total_members(query.nodes)),
      lanes(lane_count),
      lane_bytes(query.size_bytes / static_cast<std::size_t>(lane_count)) {
  const int fewest = fewest_workers(query.nodes);
  const auto lanes_of = [&](int workers) { return (lanes + workers - 1) / workers; };
  lanes_of_worker = lanes_of(fewest);
  lanes_of_root_worker = lanes_of(workers_of_root(query));
  overlapping_lanes = std::min(lanes, 2);
  const auto vector_bytes = static_cast<double>(query.size_bytes);
  const double part_bytes = vector_bytes / lanes;
  const MachinePrices& prices = query.prices;
  message_of_lane = prices.message_us;
  message = message_of_lane * lanes_of_worker;
  own_alpha = prices.alpha_us;
  alpha = prices.alpha_us + message - message_of_lane;
  endpoint = us_of(part_bytes, prices.endpoint_gb_per_s);
  card = std::max(us_of(vector_bytes, prices.bandwidth_gb_per_s), endpoint);
  // Leaders combine, and members copy, at the same time.
  own_combine = us_of(part_bytes, std::min(prices.reduce_gb_per_s,
                                           prices.memory_gb_per_s / std::min(lanes, fewest)));
  combine = own_combine * lanes_of_worker;
  vector_copy =
      us_of(vector_bytes, std::min(prices.copy_gb_per_s, prices.memory_gb_per_s / members));
  gap = prices.gap_us;
  combined = query.collective == Collective::scan && members == 1 ? 1 : 2;
  // But for the first and the last node.
  const bool is_output = query.collective == Collective::exscan && members == 1 && nodes > 2;
  handed_on = is_output ? vector_copy / lanes * lanes_of_worker : 0;
  if (members == 1) {
    // All workers but one are the pool's.
    hearing_of_lanes = (std::min(lanes, fewest) - 1) * kHelperUs;
    outputs = prefixes = hearing_of_lanes;
    inputs = hearing_of_members = 0;
    return;
  }
  hearing_of_lanes = prices.wait_us + lanes * prices.gap_us;
  hearing_of_members = prices.wait_us + members * prices.gap_us;
  inputs = hearing_of_members + (members - 1) * own_combine;
  // With as many lanes as members each leader writes to all outputs; otherwise each member reads.
  outputs = hearing_of_lanes + vector_copy * (lanes >= members ? (members - 1) / lanes : 1.0);
  // Those of an exscan among up to 8 members are computed from the inputs, others in small groups.
  const double exscan_operands = members <= 8 ? members / 2 : 2;
  const double operands = query.collective == Collective::exscan ? exscan_operands : 1;
  prefixes = hearing_of_lanes + members * operands * own_combine;
}

SelectedPlan cheapest(const SelectionQuery& query, std::span<const Candidate> candidates) {
  std::vector<const Algorithm*> algorithms;
  for (const Candidate& candidate : candidates) {
    algorithms.push_back(&find_algorithm(query.collective, candidate.algorithm));
  }
  SelectedPlan plan;
  double least = std::numeric_limits<double>::infinity();
  const auto consider = [&](int lanes) {
    const LaneCosts costs(query, lanes);
    const Shape shape(query.nodes, lanes);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const int segments = segments_of(query, *algorithms[i], lanes);
      const double cost = candidates[i].cost(costs, segments);
      if (cost >= least) continue;
      if (!serves(*algorithms[i], query, shape)) continue;
      least = cost;
      plan.algorithm = candidates[i].algorithm;
      plan.lanes = lanes;
      plan.segments = segments;
    }
  };
  if (query.requested_lanes > 0) {
    consider(query.requested_lanes);
  } else {
    const int most = most_chosen_lanes(query.nodes);
    for (int lanes = 1; lanes < most; lanes *= 2) consider(lanes);
    consider(most);
  }
  plan.workers_per_node = std::max(most_members(query.nodes), plan.lanes);
  return plan;
}

}  // namespace hycoll
