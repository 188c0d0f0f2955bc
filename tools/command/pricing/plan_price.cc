#include "tools/command/pricing/plan_price.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>

#include "core/base/collective_traits.h"
#include "core/base/errors.h"

namespace hycoll::command {
namespace {

/// Schedules are given up when those that are kept have so many steps.
constexpr std::size_t kMostKeptSteps = 4'000'000;

constexpr double kInfinite = std::numeric_limits<double>::infinity();

constexpr int kLanesOfSmallerNode = 4;

int ceil_div(int a, int b) { return (a + b - 1) / b; }

/// Lanes that stand for all of them, and the nodes that are walked through for them.
struct RepresentativeLanes {
  int lanes = 1;
  int workers = 1;
  int last_workers = 1;
  LaneScale scale;

  Shape among(int node_count) const {
    return Shape(std::vector<NodeRun>{{{1, workers}, node_count - 1}, {{1, last_workers}, 1}},
                 lanes);
  }
};

/// One lane is enough, but for two things that two and a few show: that the parts of nodes lie
/// apart where a lane has a share of each, and that a worker of several lanes has others to do
/// while it waits for one.
RepresentativeLanes represent(const PriceQuestion& question, int lanes, int most_lanes) {
  const int most = question.nodes.front().node.workers;
  const int last = question.nodes.back().node.workers;
  RepresentativeLanes result;
  if (has_blocks(question.collective)) result.lanes = std::min(lanes, 2);
  if (last < most) result.lanes = std::min(lanes, kLanesOfSmallerNode);
  result.lanes = std::min(result.lanes, most_lanes);
  result.workers = result.lanes;
  result.last_workers = std::min(last, result.lanes);
  result.scale.lanes_per_lane = ceil_div(lanes, result.lanes);
  result.scale.last_node_lanes =
      ceil_div(ceil_div(lanes, last), ceil_div(result.lanes, result.last_workers));
  return result;
}

int count_of(const std::vector<NodeRun>& nodes) {
  int count = 0;
  for (const NodeRun& run : nodes) count += run.count;
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

SelectionQuery query_of(const PriceQuestion& question) {
  return {.collective = question.collective,
          .nodes = question.nodes,
          .size_bytes = question.size_bytes,
          .order = question.order,
          .requested_lanes = question.requested_lanes};
}

}  // namespace

PlanPricer::KeptPlan& PlanPricer::plan_for(const Algorithm& algorithm, const Shape& shape,
                                           int segments) {
  ShapeKey key{.algorithm = &algorithm, .runs = {}, .segments = segments};
  for (const NodeRun& run : shape.node_runs()) {
    key.runs.insert(key.runs.end(), {run.node.members, run.node.workers, run.count});
  }
  key.runs.push_back(shape.lane_count());
  if (const auto found = plans_.find(key); found != plans_.end()) return found->second;
  if (kept_steps_ > kMostKeptSteps) forget_schedules();
  KeptPlan kept;
  const auto node_count = static_cast<std::size_t>(shape.node_count());
  const Schedule one = algorithm.generate(shape, segments, 0, only_node(shape.node_count() / 2));
  kept.is_walked =
      one.step_count() * node_count <= (node_count <= 2 ? kMostStepsOfTwoNodes : kMostSteps);
  return plans_.emplace(std::move(key), std::move(kept)).first->second;
}

void PlanPricer::forget_schedules() {
  for (auto& [key, plan] : plans_) plan.schedule.reset();
  kept_steps_ = 0;
}

std::optional<double> PlanPricer::walk(const Algorithm& algorithm, const Shape& shape, int segments,
                                       double size_bytes, const LaneScale& scale) {
  KeptPlan& kept = plan_for(algorithm, shape, segments);
  if (!kept.is_walked) return {};
  const TimeKey key{size_bytes, scale.lanes_per_lane, scale.last_node_lanes};
  if (const auto found = kept.times_us.find(key); found != kept.times_us.end()) {
    return found->second;
  }
  if (!kept.schedule) {
    kept.schedule = std::make_unique<const Schedule>(algorithm.generate(shape, segments));
    kept_steps_ += kept.schedule->step_count();
  }
  const double time_us = hycoll::price_us(*kept.schedule, size_bytes, prices_, scale);
  kept.times_us.emplace(key, time_us);
  return time_us;
}

double PlanPricer::exchange_us(const Algorithm& algorithm, const PriceQuestion& question,
                               int node_count, int lanes, int segments) {
  RepresentativeLanes lane = represent(question, lanes, lanes);
  // Some algorithms' lanes are led by members.
  if (!algorithm.serves_shape(lane.among(node_count))) lane = represent(question, lanes, 1);
  const double size_bytes = static_cast<double>(question.size_bytes) * lane.lanes / lanes;
  const auto walked = [&](int nodes, double bytes) {
    return walk(algorithm, lane.among(nodes), segments, bytes, lane.scale);
  };
  if (const auto whole = walked(node_count, size_bytes)) return *whole;
  const bool sends_blocks = algorithm.exchange.messages == MessageSize::block;
  for (int more = static_cast<int>(std::bit_floor(static_cast<unsigned>(node_count - 1)));
       more >= 4; more /= 2) {
    const auto at = [&](int nodes) {
      return walked(nodes, sends_blocks ? size_bytes * nodes / node_count : size_bytes);
    };
    const auto far = at(more);
    if (!far) continue;
    const double near = *at(more / 2);
    return *far + (*far - near) * (node_count - more) / (more / 2);
  }
  return kInfinite;
}

double PlanPricer::price_us(const Algorithm& algorithm, const PriceQuestion& question, int lanes,
                            int segments) {
  return price_below(algorithm, question, lanes, segments, kInfinite);
}

double PlanPricer::price_below(const Algorithm& algorithm, const PriceQuestion& question, int lanes,
                               int segments, double limit_us) {
  const auto size_bytes = static_cast<double>(question.size_bytes);
  if (const auto whole = walk(algorithm, Shape(question.nodes, lanes), segments, size_bytes, {})) {
    return *whole;
  }
  const int node_count = count_of(question.nodes);
  if (node_count <= 2) return kInfinite;
  const std::vector<NodeRun> two = {{question.nodes.front().node, 1},
                                    {question.nodes.back().node, 1}};
  const double exchange = exchange_us(algorithm, question, node_count, lanes, segments);
  if (exchange >= limit_us) return kInfinite;
  const auto inside = walk(algorithm, Shape(two, lanes), segments, size_bytes, {});
  if (!inside) return kInfinite;
  return exchange + std::max(0.0, *inside - exchange_us(algorithm, question, 2, lanes, segments));
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
  std::optional<PricedPlan> best;
  for (const Algorithm& algorithm : algorithms_of(question.collective)) {
    const auto plan = price_with_best_lanes(algorithm, question, best ? best->time_us : limit_us);
    if (plan) best = plan;
  }
  return best;
}

}  // namespace hycoll::command
