#include "tools/command/pricing/plan_price.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>

#include "core/base/collective_traits.h"
#include "core/base/errors.h"
#include "threading/memory/node_memory.h"

namespace hycoll::command {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

constexpr int kLanesOfSmallerNode = 4;

/// Segments overlap from a few on: with fewer time does not go in a straight line with them.
constexpr int kFewestSegments = 4;
constexpr int kFewestNodes = 4;
/// For each leader, where these send whole messages.
constexpr int kFewestNodesOfLeader = 4;

/// An exchange by a lane that stands for several is not exact: it may be so much dearer than it is
/// among all.
constexpr double kExchangeMargin = 1.25;

int ceil_div(int a, int b) { return (a + b - 1) / b; }

/// Lanes that stand for all of them, and the nodes that are walked through for them.
struct RepresentativeLanes {
  int lanes = 1;
  int workers = 1;
  int last_workers = 1;
  LaneScale scale;

  std::vector<EqualNodes> among(int node_count) const {
    if (last_workers == workers) return {{{1, workers}, node_count}};
    return {{{1, workers}, node_count - 1}, {{1, last_workers}, 1}};
  }
};

/// Two lanes are enough: the card carries one's messages while the other's are under way, and the
/// parts of nodes lie apart where a lane has a share of each. A worker of several lanes has others
/// to do while it waits for one, which a few show.
RepresentativeLanes represent(const PriceQuestion& question, int lanes, int most_lanes) {
  const int most = question.nodes.front().node.workers;
  const int last = question.nodes.back().node.workers;
  RepresentativeLanes result;
  result.lanes = std::min(lanes, 2);
  if (last < most) result.lanes = std::min(lanes, kLanesOfSmallerNode);
  result.lanes = std::min(result.lanes, most_lanes);
  result.workers = result.lanes;
  result.last_workers = std::min(last, result.lanes);
  result.scale.lanes_per_lane = ceil_div(lanes, result.lanes);
  result.scale.last_node_lanes =
      ceil_div(ceil_div(lanes, last), ceil_div(result.lanes, result.last_workers));
  return result;
}

int count_of(const std::vector<EqualNodes>& nodes) {
  int count = 0;
  for (const EqualNodes& run : nodes) count += run.count;
  return count;
}

bool is_priced(const Algorithm& algorithm) {
  return algorithm.exchange.help != ExchangeHelp::mpi_library &&
         algorithm.exchange.help != ExchangeHelp::aggregators;
}

std::vector<int> lane_counts(const PriceQuestion& question) {
  if (question.requested_lanes > 0) return {question.requested_lanes};
  const int most = most_chosen_lanes(question.nodes);
  std::vector<int> lanes;
  for (int count = 1; count < most; count *= 2) lanes.push_back(count);
  lanes.push_back(most);
  return lanes;
}

/// Nodes that fold before exchanges of pairs make up as large a part of half as many.
int half_as_many(int node_count) {
  const auto partners = static_cast<int>(std::bit_floor(static_cast<unsigned>(node_count)));
  const int folding = node_count - partners;
  return partners / 2 + (folding > 0 ? std::max(1, folding / 2) : 0);
}

/// What so many further doublings of the nodes add: each as much as the last one, as in a tree, or
/// twice that, as along a chain, or something between.
double growth_of(double last, double one_before, double doublings) {
  const double ratio = one_before > 0 ? std::clamp(last / one_before, 1.0, 2.0) : 1;
  double growth = 0;
  for (double doubling = 0; doubling < doublings; ++doubling) growth += last *= ratio;
  return growth;
}

}  // namespace

SelectionQuery selection_query(const PriceQuestion& question, const MachinePrices& prices) {
  return {.collective = question.collective,
          .nodes = question.nodes,
          .size_bytes = question.size_bytes,
          .order = question.order,
          .requested_lanes = question.requested_lanes,
          .visibility = question.visibility,
          .prices = prices};
}

double PlanPricer::exchange_us(const Algorithm& algorithm, const PriceQuestion& question,
                               int node_count, int lanes, int segments, double limit_us) {
  RepresentativeLanes lane = represent(question, lanes, lanes);
  // Some algorithms' lanes are led by members.
  if (!algorithm.serves_shape(Shape(lane.among(node_count), lane.lanes))) {
    lane = represent(question, lanes, 1);
  }
  const double size_bytes = static_cast<double>(question.size_bytes) * lane.lanes / lanes;
  const auto plan_with = [&](int nodes, int cut) {
    return WalkedPlan{&algorithm, lane.among(nodes), lane.lanes, cut};
  };
  const WalkedPlan whole = plan_with(node_count, segments);
  if (walks_.can_walk(whole)) return walks_.time_us(whole, size_bytes, lane.scale, limit_us);
  const double least = walks_.least_us(whole, size_bytes, lane.scale);
  if (least >= limit_us) return least;
  const auto among = [&](int nodes) { return plan_with(nodes, segments); };
  const bool sends_blocks = algorithm.exchange.messages == MessageSize::block;
  std::optional<double> time_us;
  if (!sends_blocks) time_us = with_halved_nodes(node_count, size_bytes, lane.scale, among);
  if (!time_us) time_us = with_fewer_segments(whole, size_bytes, lane.scale);
  if (!time_us && sends_blocks) {
    time_us = with_fewer_nodes(node_count, size_bytes, lane.scale, among);
  }
  return time_us ? std::max(least, *time_us) : kInfinite;
}

template <class PlanWith>
std::optional<double> PlanPricer::with_fewer_nodes(int node_count, double size_bytes,
                                                   const LaneScale& scale,
                                                   const PlanWith& plan_with) {
  for (int more = static_cast<int>(std::bit_floor(static_cast<unsigned>(node_count - 1)));
       more >= kFewestNodes; more /= 2) {
    const WalkedPlan plan = plan_with(more);
    const bool sends_blocks = plan.algorithm->exchange.messages == MessageSize::block;
    const auto at = [&](int nodes) {
      const double bytes = sends_blocks ? size_bytes * nodes / node_count : size_bytes;
      return walk_with_fewer_segments(plan_with(nodes), bytes, scale);
    };
    const std::optional<double> far = at(more);
    if (!far) continue;
    const bool has_pairs = hycoll::has_pairs(plan.algorithm->collective);
    // With few nodes for each leader, whole messages to one are in the way of the others'.
    if (has_pairs && plan.segments == 1 && more < kFewestNodesOfLeader * plan.lanes) return {};
    int fewer = more / 2;
    // With fewer other nodes than leaders these share messages.
    if (has_pairs && plan.lanes < node_count) fewer = std::max(fewer, plan.lanes + 1);
    // Among two nodes the last one, if it is unlike the others, is all that one of them meets.
    constexpr int kFewestBesideLast = 3;
    if (plan.nodes.size() > 1 && sends_blocks) fewer = std::max(fewer, kFewestBesideLast);
    if (fewer >= more) return {};
    const std::optional<double> near = at(fewer);
    if (!near) return {};
    const double added = *far - *near;
    if (sends_blocks) return *far + added * (node_count - more) / (more - fewer);
    // Bruck's steps go with the logarithm of the nodes, and there are never fewer.
    return *far + std::max(added, 0.0) * std::log2(static_cast<double>(node_count) / more);
  }
  return {};
}

template <class PlanWith>
std::optional<PlanPricer::Halved> PlanPricer::walkable_half(int node_count, int fewest,
                                                            const PlanWith& plan_with) {
  double doublings = 1;
  for (int nodes = half_as_many(node_count); nodes >= fewest;
       nodes = half_as_many(nodes), ++doublings) {
    if (walks_.can_walk(plan_with(nodes))) return Halved{nodes, doublings};
  }
  return {};
}

template <class PlanWith>
std::optional<double> PlanPricer::with_halved_nodes(int node_count, double size_bytes,
                                                    const LaneScale& scale,
                                                    const PlanWith& plan_with) {
  const auto at = [&](int nodes) {
    return walks_.time_us(plan_with(nodes), size_bytes, scale, kInfinite);
  };
  const std::optional<Halved> most = walkable_half(node_count, kFewestNodes, plan_with);
  if (!most) return {};
  const int fewer = half_as_many(most->nodes);
  const double far = at(most->nodes);
  const double doubled = far - at(fewer);
  const double before = fewer < kFewestNodes ? 0 : far - doubled - at(half_as_many(fewer));
  return far + growth_of(doubled, before, most->doublings);
}

template <class PlanWith>
std::optional<double> PlanPricer::with_halved_blocks(int node_count, double size_bytes,
                                                     const PlanWith& plan_with) {
  const auto at = [&](int nodes) {
    return walks_.time_us(plan_with(nodes), size_bytes * nodes / node_count, {}, kInfinite);
  };
  const std::optional<Halved> most = walkable_half(node_count, 4 * kFewestNodes, plan_with);
  if (!most) return {};
  const int half = half_as_many(most->nodes);
  const int quarter = half_as_many(half);
  const double far = at(most->nodes);
  const double middle = at(half);
  const double doubled = far - middle;
  const double before = middle - at(quarter);
  const int added = most->nodes - half;
  const double of_node = std::max(0.0, (doubled - before) / (added - (half - quarter)));
  const double of_doubling = std::max(0.0, doubled - of_node * added);
  return far + of_node * (node_count - most->nodes) + of_doubling * most->doublings;
}

std::optional<double> PlanPricer::with_fewer_segments(const WalkedPlan& plan, double size_bytes,
                                                      const LaneScale& scale) {
  for (int more = plan.segments / 2; more >= kFewestSegments; more /= 2) {
    const auto cut = [&](int segments) {
      WalkedPlan fewer = plan;
      fewer.segments = segments;
      return fewer;
    };
    if (!walks_.can_walk(cut(more))) continue;
    const auto at = [&](int segments) {
      return walks_.time_us(cut(segments), size_bytes * segments / plan.segments, scale, kInfinite);
    };
    const int fewer = more / 2;
    const double far = at(more);
    return far + (far - at(fewer)) * (plan.segments - more) / (more - fewer);
  }
  return {};
}

std::optional<double> PlanPricer::walk_with_fewer_segments(const WalkedPlan& plan,
                                                           double size_bytes,
                                                           const LaneScale& scale) {
  if (walks_.can_walk(plan)) return walks_.time_us(plan, size_bytes, scale, kInfinite);
  return with_fewer_segments(plan, size_bytes, scale);
}

double PlanPricer::price_us(const Algorithm& algorithm, const PriceQuestion& question, int lanes,
                            int segments) {
  return price_below(algorithm, question, lanes, segments, kInfinite);
}

double PlanPricer::price_below(const Algorithm& algorithm, const PriceQuestion& question, int lanes,
                               int segments, double limit_us) {
  const auto size_bytes = static_cast<double>(question.size_bytes);
  const auto below = [](double time_us, double most_us) {
    return time_us < most_us ? time_us : kInfinite;
  };
  const WalkedPlan whole{&algorithm, question.nodes, lanes, segments, question.visibility};
  const int node_count = count_of(question.nodes);
  const auto walk_whole = [&] {
    return below(walks_.time_us(whole, size_bytes, {}, limit_us), limit_us);
  };
  if (node_count <= 2) return below(walk_two(whole, size_bytes, limit_us), limit_us);
  if (has_pairs(algorithm.collective)) return below(price_pairs(whole, size_bytes), limit_us);
  const bool parts_differ = has_blocks(algorithm.collective) && question.nodes.size() > 1;
  if (parts_differ && !walks_.can_walk(whole)) {
    const auto time_us = price_on_fewer_nodes(whole, size_bytes);
    if (time_us && *time_us >= limit_us) return kInfinite;
    if (time_us) {
      return below(std::max(*time_us, price_without_last(algorithm, question, lanes, segments)),
                   limit_us);
    }
  }
  const double margin_us = limit_us * kExchangeMargin;
  const double exchange = exchange_us(algorithm, question, node_count, lanes, segments, margin_us);
  if (exchange >= margin_us) return kInfinite;
  if (walks_.can_walk(whole)) return walk_whole();
  if (exchange >= limit_us) return kInfinite;
  const WalkedPlan two{&algorithm,
                       {{question.nodes.front().node, 1}, {question.nodes.back().node, 1}},
                       lanes,
                       segments,
                       question.visibility};
  const double between_two = exchange_us(algorithm, question, 2, lanes, segments, kInfinite);
  const double inside = walk_two(two, size_bytes, limit_us - exchange + between_two);
  return below(exchange + std::max(0.0, inside - between_two), limit_us);
}

double PlanPricer::price_without_last(const Algorithm& algorithm, const PriceQuestion& question,
                                      int lanes, int segments) {
  const EqualNodes& others = question.nodes.front();
  const double members = others.node.members * others.count;
  const double last = question.nodes.back().node.members;
  PriceQuestion without = question;
  without.nodes = {others};
  without.size_bytes = static_cast<std::size_t>(static_cast<double>(question.size_bytes) * members /
                                                (members + last));
  if (!algorithm.serves_shape(Shape(without.nodes, lanes))) return 0;
  const double time_us = price_us(algorithm, without, lanes, segments);
  return time_us < kInfinite ? time_us : 0;
}

double PlanPricer::price_pairs(const WalkedPlan& plan, double size_bytes) {
  if (const auto time_us = walk_with_fewer_segments(plan, size_bytes, {})) {
    return std::max(walks_.least_us(plan, size_bytes, {}), *time_us);
  }
  return price_on_fewer_nodes(plan, size_bytes).value_or(kInfinite);
}

std::optional<double> PlanPricer::price_on_fewer_nodes(const WalkedPlan& plan, double size_bytes) {
  const int node_count = count_of(plan.nodes);
  const auto among = [&](int nodes) {
    WalkedPlan fewer = plan;
    fewer.nodes = {{plan.nodes.front().node, nodes - 1}, {plan.nodes.back().node, 1}};
    return fewer;
  };
  const bool sends_blocks = plan.algorithm->exchange.messages == MessageSize::block;
  const std::optional<double> time_us = sends_blocks || has_pairs(plan.algorithm->collective)
                                            ? with_fewer_nodes(node_count, size_bytes, {}, among)
                                            : with_halved_blocks(node_count, size_bytes, among);
  if (!time_us) return {};
  return std::max(walks_.least_us(plan, size_bytes, {}), *time_us);
}

double PlanPricer::walk_two(const WalkedPlan& plan, double size_bytes, double limit_us) {
  if (walks_.can_walk(plan)) return walks_.time_us(plan, size_bytes, {}, limit_us);
  const double least = walks_.least_us(plan, size_bytes, {});
  if (least >= limit_us) return least;
  return std::max(least, with_fewer_segments(plan, size_bytes, {}).value_or(kInfinite));
}

PricedPlan PlanPricer::price_chosen(const PriceQuestion& question, std::string_view name) {
  SelectionQuery query = query_of(question);
  query.requested_algorithm = name;
  const SelectedPlan plan = select(query);
  const Algorithm& algorithm = find_algorithm(question.collective, plan.algorithm);
  if (!is_priced(algorithm)) {
    throw Error(ErrorKind::unsupported,
                fmt::format("{} algorithm '{}' has no price: it leaves the exchange to the MPI "
                            "library, or to aggregators. Choose another algorithm, or 'auto'",
                            name_of(question.collective), algorithm.name));
  }
  const Shape shape(question.nodes, plan.lanes);
  if (!algorithm.serves_shape(shape)) algorithm.generate(shape);  // throws: it does not serve
  return {.algorithm = &algorithm,
          .lanes = plan.lanes,
          .segments = plan.segments,
          .time_us = price_us(algorithm, question, plan.lanes, plan.segments)};
}

std::optional<PricedPlan> PlanPricer::price_with_best_lanes(const Algorithm& algorithm,
                                                            const PriceQuestion& question,
                                                            double limit_us) {
  if (!is_priced(algorithm) || algorithm.order < question.order) return {};
  if (!has_room_for_lines(algorithm, question)) return {};
  std::optional<PricedPlan> best;
  for (const int lanes : lane_counts(question)) {
    if (!algorithm.serves_shape(Shape(question.nodes, lanes))) continue;
    SelectionQuery query = query_of(question);
    query.requested_algorithm = algorithm.name;
    query.requested_lanes = lanes;
    const int segments = select(query).segments;
    const double time_us = price_below(algorithm, question, lanes, segments, limit_us);
    if (time_us >= limit_us) continue;
    limit_us = time_us;
    best = {.algorithm = &algorithm, .lanes = lanes, .segments = segments, .time_us = time_us};
  }
  return best;
}

bool PlanPricer::has_room_for_lines(const Algorithm& algorithm, const PriceQuestion& question) {
  if (!algorithm.name.starts_with("lines-")) return true;
  const WalkedPlan two{
      &algorithm, {{question.nodes.front().node, 1}, {question.nodes.back().node, 1}}, 1, 1};
  if (!algorithm.serves_shape(two.shape())) return false;
  return static_cast<double>(question.size_bytes) * walks_.lines_share(two) <= kMaximumLinesBytes;
}

std::vector<PricedPlan> PlanPricer::price_all(const PriceQuestion& question) {
  std::vector<PricedPlan> plans;
  for (const Algorithm& algorithm : algorithms_of(question.collective)) {
    const auto plan = price_with_best_lanes(algorithm, question, kInfinite);
    if (plan) plans.push_back(*plan);
  }
  std::ranges::stable_sort(plans, {}, &PricedPlan::time_us);
  return plans;
}

std::optional<PricedPlan> PlanPricer::price_best(const PriceQuestion& question, double limit_us) {
  // What was best for the last question makes others seem dear early.
  std::vector<const Algorithm*> algorithms;
  const bool must_cut = has_pairs(question.collective) && !leaders_may_hold_all(query_of(question));
  for (const Algorithm& algorithm : algorithms_of(question.collective)) {
    if (must_cut && algorithm.segmentation == Segmentation::none) continue;
    algorithms.push_back(&algorithm);
  }
  const auto first = std::ranges::find(algorithms, last_best_);
  if (first != algorithms.end()) std::rotate(algorithms.begin(), first, first + 1);
  std::optional<PricedPlan> best;
  for (const Algorithm* algorithm : algorithms) {
    const auto plan = price_with_best_lanes(*algorithm, question, best ? best->time_us : limit_us);
    if (plan) best = plan;
  }
  if (best) last_best_ = best->algorithm;
  return best;
}

}  // namespace hycoll::command
