// Which allgather a call uses.
//
// One node: lines while a member reads no more than a few hundred bytes there, or, of four members
// and more, 2 KiB; then a lane per worker, whose leader writes its member's block to all outputs.
// Where members are few threads it reads the blocks of all instead if they are near one another,
// and writes its block to one output after the other if they are far. Several nodes: the cheapest
// (costs.h) of doubling and a circulant graph, through lines or one leader, whom the
// others follow or not, for short blocks, and of the ring, with as many lanes as are worth it, and
// of exchanges between neighbours for others.

#include <algorithm>
#include <array>
#include <limits>

#include "collectives/selection/costs.h"
#include "collectives/selection/lanes.h"
#include "collectives/selection/rules.h"

namespace hycoll {
namespace {

/// Among few threads who know how far they are from one another. Those who are near read the blocks
/// of all as long as their cores' own caches may hold the buffers: a line that is in another one's
/// is dear to write, one that is in the shared cache is not, and who writes reads less. Those who
/// are far write their blocks to one output after the other as long as caches hold them.
std::string_view between_threads(const SelectionQuery& query, std::size_t members) {
  constexpr std::size_t kOwnCacheBytes = std::size_t{1} << 20;
  if (has_many_members(query)) return "multi-leader-ring";
  const std::size_t buffers_bytes = (members + 1) * query.size_bytes;
  if (query.nearness == Nearness::near && buffers_bytes <= kOwnCacheBytes) return "direct-get";
  if (query.nearness == Nearness::far && buffers_bytes < query.streaming_threshold_bytes) {
    return "direct-put";
  }
  return "multi-leader-ring";
}

SelectedPlan select_on_one_node(const SelectionQuery& query) {
  const auto members = static_cast<std::size_t>(query.nodes.front().node.members);
  const std::size_t read_bytes = query.size_bytes / members * (members - 1);
  const bool through_lines = reads_through_lines(query, read_bytes);
  SelectedPlan plan = through_lines ? plan_lines(query) : plan_lanes(query);
  plan.algorithm = through_lines ? "lines-circulant" : between_threads(query, members);
  return plan;
}

/// The leaders copy their node's blocks before the exchange that takes so long, and all that has
/// arrived in so many parts while it goes on.
double led(const LaneCosts& costs, double exchange, double parts) {
  if (costs.members == 1) return exchange + costs.hearing_of_lanes;
  const double collected = costs.vector_copy / (costs.nodes * costs.lanes);
  const double copies = costs.vector_copy * (costs.members - 1) / costs.lanes;
  return costs.hearing_of_members + collected + overlapped(exchange, copies, parts) +
         costs.hearing_of_lanes;
}

/// The members copy all that has arrived in so many parts while the exchange goes on.
double followed(const LaneCosts& costs, double exchange, double parts) {
  if (costs.members == 1) return exchange;
  const double collected = costs.vector_copy / costs.nodes;
  return 2 * costs.hearing_of_members + collected + overlapped(exchange, costs.vector_copy, parts) +
         costs.hearing_of_lanes;
}

/// Leaders read their node's blocks in lines before the exchange, and all others what it yields.
double in_lines(const LaneCosts& costs, double exchange, double /*parts*/) {
  if (costs.members == 1) return exchange;
  const double collected = costs.vector_copy / costs.nodes;
  return costs.hearing_of_members + 2 * collected + exchange + costs.hearing_of_lanes +
         2 * costs.vector_copy;
}

using Inside = double (*)(const LaneCosts& costs, double exchange, double parts);

/// What arrives last is half of the vector.
constexpr double kDoubledParts = 2;

template <Inside inside>
double doubled(const LaneCosts& costs, double /*segments*/) {
  return inside(costs, time_of(costs, doubling(costs.steps, costs.nodes)), kDoubledParts);
}

/// Where nodes are no power of two, walks of long vectors take longer by so large a part of what
/// the card takes: nodes send messages of unequal lengths.
constexpr double kMostInTheWay = 0.5;

/// What a node sends may reach over the last block to the first one, in a message more. With one
/// node more than a power of two its own block is all that it sends in some step, for which it
/// waits for nobody.
template <Inside inside>
double circulant(const LaneCosts& costs, double /*segments*/) {
  const double in_the_way =
      costs.folds
          ? std::min(kMostInTheWay, costs.card / (2 * costs.steps * costs.own_alpha)) * costs.card
          : 0;
  const double at_once = costs.nodes == costs.partners + 1 ? costs.own_alpha : 0;
  const double exchange = time_of(costs, doubling(costs.steps, costs.nodes)) +
                          costs.steps * costs.message + in_the_way - at_once;
  return inside(costs, exchange, kDoubledParts);
}

double ring(const LaneCosts& costs, double /*segments*/) {
  const double exchange = time_of(costs, {.count = costs.nodes - 1, .part = 1 / costs.nodes});
  return led(costs, exchange, costs.nodes);
}

/// Shorter blocks than take the card as long as a message takes are better doubled.
double neighbours(const LaneCosts& costs, double /*segments*/) {
  if (costs.card < costs.nodes * costs.own_alpha) return std::numeric_limits<double>::infinity();
  const double steps = costs.nodes / 2;
  const double exchange =
      time_of(costs, {.count = steps, .part = costs.without_own(costs.nodes) / steps});
  return led(costs, exchange, kDoubledParts);
}

constexpr std::array kCandidates = {
    Candidate{"lines-circulant", circulant<in_lines>},
    Candidate{"circulant", circulant<led>},
    Candidate{"shared-address-circulant", circulant<followed>},
    Candidate{"multi-leader-ring", ring},
    Candidate{"neighbour-exchange", neighbours},
    Candidate{"lines-recursive-doubling", doubled<in_lines>},
    Candidate{"recursive-doubling", doubled<led>},
    Candidate{"shared-address-recursive-doubling", doubled<followed>},
};

}  // namespace

constinit const SelectionRule kAllgatherRule{select_on_one_node, kCandidates};

}  // namespace hycoll
