#include "tools/command/pricing/plan_walks.h"

#include <algorithm>
#include <utility>

#include "core/base/collective_traits.h"

namespace hycoll::command {
namespace {

/// Schedules are given up when those that are kept have so many steps.
constexpr std::size_t kMostKeptSteps = 2'000'000;

/// Longer vectors may take a little less where other messages come first by chance.
constexpr double kShorterTakes = 0.95;

double lines_share_of(const Schedule& part) {
  double most = 0;
  for (const Buffer& buffer : part.buffers) {
    if (buffer.role == BufferRole::lines) {
      most = std::max(most, static_cast<double>(buffer.chunk_count) / vector_chunk_count(part));
    }
  }
  return most;
}

bool are_same(const WalkedPlan& a, const WalkedPlan& b) {
  return a.algorithm == b.algorithm && a.lanes == b.lanes && a.segments == b.segments &&
         a.visibility == b.visibility && a.nodes == b.nodes;
}

}  // namespace

KnownWalks::Key KnownWalks::key_of(const WalkedPlan& plan) {
  Key key{.algorithm = plan.algorithm, .visibility = plan.visibility, .numbers = {}};
  for (const EqualNodes& run : plan.nodes) {
    key.numbers.insert(key.numbers.end(), {run.node.members, run.node.workers, run.count});
  }
  key.numbers.insert(key.numbers.end(), {plan.lanes, plan.segments});
  return key;
}

const KnownWalks::Parts& KnownWalks::parts_of(const WalkedPlan& plan) {
  const Key key = key_of(plan);
  {
    const std::lock_guard lock(mutex_);
    if (const auto& parts = plans_[key].parts) return *parts;
  }
  const Shape shape = plan.shape();
  const auto part = [&](int node) {
    return plan.algorithm->generate(shape, plan.segments, 0, only_node(node));
  };
  const Schedule root = part(0);
  const Schedule middle = part(shape.node_count() / 2);
  auto made = std::make_unique<const Parts>(
      Parts{.root = LeastTime(root),
            .middle = LeastTime(middle),
            .last = plan.nodes.size() > 1 ? std::optional(LeastTime(part(shape.node_count() - 1)))
                                          : std::nullopt,
            .lines_share = std::max(lines_share_of(root), lines_share_of(middle))});
  const std::lock_guard lock(mutex_);
  auto& parts = plans_[key].parts;
  if (!parts) parts = std::move(made);  // unless another thread was faster
  return *parts;
}

KnownWalks::Time KnownWalks::find(const WalkedPlan& plan, const WalkedCall& call) {
  const Key key = key_of(plan);
  const std::lock_guard lock(mutex_);
  const auto known = plans_.find(key);
  if (known == plans_.end()) return {0, false};
  const auto& times = known->second.times;
  const auto after = times.upper_bound(call);
  if (after == times.begin()) return {0, false};
  const auto& [nearest, time] = *std::prev(after);
  if (nearest == call) return time;
  const bool is_like = nearest.lanes_per_lane == call.lanes_per_lane &&
                       nearest.last_node_lanes == call.last_node_lanes;
  return {is_like ? time.us * kShorterTakes : 0, false};
}

void KnownWalks::add(const WalkedPlan& plan, const WalkedCall& call, const Time& time) {
  const Key key = key_of(plan);
  const std::lock_guard lock(mutex_);
  plans_[key].times.insert_or_assign(call, time);
}

bool PlanWalks::can_walk(const WalkedPlan& plan) {
  std::size_t node_count = 0;
  int members = 0;
  for (const EqualNodes& run : plan.nodes) {
    node_count += static_cast<std::size_t>(run.count);
    members += run.count * run.node.members;
  }
  if (node_count <= 2) return steps_of_node(plan) * node_count <= kMostStepsOfTwoNodes;
  const std::size_t most = has_pairs(plan.algorithm->collective) ? kMostStepsOfPairs : kMostSteps;
  // Members have steps of their own: no part needs to be made to know that these are too many.
  const bool has_many_members = static_cast<std::size_t>(members) > most;
  if (has_many_members) return false;
  const std::size_t steps = steps_of_node(plan);
  return steps * node_count <= most || steps <= kMostStepsOfNode;
}

double PlanWalks::time_us(const WalkedPlan& plan, double size_bytes, const LaneScale& scale,
                          double limit_us) {
  const WalkedCall call{.lanes_per_lane = scale.lanes_per_lane,
                        .last_node_lanes = scale.last_node_lanes,
                        .size_bytes = size_bytes};
  const KnownWalks::Time known = known_->find(plan, call);
  if (known.is_exact || known.us >= limit_us) return known.us;
  const double least = least_us(plan, size_bytes, scale);
  if (least >= limit_us) return least;
  const double us = schedule_of(plan).time_us(size_bytes, prices_, scale, limit_us);
  known_->add(plan, call, {us, us < limit_us});
  return us;
}

double PlanWalks::least_us(const WalkedPlan& plan, double size_bytes, const LaneScale& scale) {
  const KnownWalks::Parts& parts = known_->parts_of(plan);
  const auto least_of = [&](const LeastTime& part) {
    return part.time_us(size_bytes, prices_, scale);
  };
  const double least = std::max(least_of(parts.root), least_of(parts.middle));
  return parts.last ? std::max(least, least_of(*parts.last)) : least;
}

std::size_t PlanWalks::steps_of_node(const WalkedPlan& plan) {
  return known_->parts_of(plan).middle.step_count();
}

double PlanWalks::lines_share(const WalkedPlan& plan) { return known_->parts_of(plan).lines_share; }

const PricedSchedule& PlanWalks::schedule_of(const WalkedPlan& plan) {
  const auto found =
      std::ranges::find_if(kept_, [&](const Kept& kept) { return are_same(kept.plan, plan); });
  if (found != kept_.end()) {
    std::rotate(found, found + 1, kept_.end());
    return *kept_.back().schedule;
  }
  kept_.push_back({plan, std::make_unique<const PricedSchedule>(
                             plan.algorithm->generate(plan.shape(), plan.segments))});
  kept_steps_ += kept_.back().schedule->step_count();
  std::size_t given_up = 0;
  while (kept_steps_ > kMostKeptSteps && given_up + 1 < kept_.size()) {
    kept_steps_ -= kept_[given_up++].schedule->step_count();
  }
  kept_.erase(kept_.begin(), kept_.begin() + static_cast<std::ptrdiff_t>(given_up));
  return *kept_.back().schedule;
}

}  // namespace hycoll::command
