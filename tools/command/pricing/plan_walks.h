#ifndef HYCOLL_TOOLS_COMMAND_PRICING_PLAN_WALKS_H_
#define HYCOLL_TOOLS_COMMAND_PRICING_PLAN_WALKS_H_

#include <compare>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "collectives/algorithms/registry.h"
#include "core/base/machine_prices.h"
#include "core/drawing/schedule_price.h"

namespace hycoll::command {

/// A schedule that calls are priced with; roots are member 0.
struct WalkedPlan {
  const Algorithm* algorithm;
  std::vector<EqualNodes> nodes;
  int lanes;
  int segments;
  Visibility visibility = Visibility::direct;

  Shape shape() const { return Shape(nodes, lanes).with_visibility(visibility); }
};

/// A call with such a schedule.
struct WalkedCall {
  int lanes_per_lane;
  int last_node_lanes;
  double size_bytes;
  auto operator<=>(const WalkedCall&) const = default;
};

/// What has become known of plans and their times, for all threads.
class KnownWalks {
 public:
  /// What some nodes' parts say of a plan.
  struct Parts {
    LeastTime root;
    LeastTime middle;
    std::optional<LeastTime> last;  ///< Where nodes differ.
    double lines_share;             ///< Of the vector, in the longest lines.
  };
  /// At least so long, or just so long.
  struct Time {
    double us;
    bool is_exact;
  };

  /// The parts are made when they are first asked for, and live as long as this object.
  const Parts& parts_of(const WalkedPlan& plan);

  /// What is known of a call, or of a shorter one that is like it; nothing: 0 at least.
  Time find(const WalkedPlan& plan, const WalkedCall& call);
  void add(const WalkedPlan& plan, const WalkedCall& call, const Time& time);

 private:
  struct Key {
    const Algorithm* algorithm;
    Visibility visibility;
    std::vector<int> numbers;  // members, workers and count of each run of nodes; lanes; segments
    auto operator<=>(const Key&) const = default;
  };
  struct Known {
    std::unique_ptr<const Parts> parts;
    std::map<WalkedCall, Time> times;
  };

  static Key key_of(const WalkedPlan& plan);

  std::mutex mutex_;
  std::map<Key, Known> plans_;  // guarded by mutex_
};

/// Walks through schedules (core/drawing/schedule_price.h), and through none that it can do
/// without: it keeps the last schedules and all times, and gives up what takes too long. For one
/// thread.
class PlanWalks {
 public:
  /// Threads may share what they know.
  PlanWalks(const MachinePrices& prices, std::shared_ptr<KnownWalks> known)
      : prices_(prices), known_(std::move(known)) {}

  /// Whether the schedule has few enough steps to be walked through.
  bool can_walk(const WalkedPlan& plan);

  /// The time of a call in microseconds. If that is `limit_us` or more, something from there on
  /// that is not more than the time, found with less work. Requires can_walk().
  double time_us(const WalkedPlan& plan, double size_bytes, const LaneScale& scale,
                 double limit_us);

  /// No call takes less: what some nodes have to do.
  double least_us(const WalkedPlan& plan, double size_bytes, const LaneScale& scale);

  /// The steps of a node that is neither the first nor the last.
  std::size_t steps_of_node(const WalkedPlan& plan);

  /// The part of the vector in the longest lines that a worker writes.
  double lines_share(const WalkedPlan& plan);

  static constexpr std::size_t kMostSteps = 30'000;
  /// Of collectives with pairs, whose members have all steps of their own.
  static constexpr std::size_t kMostStepsOfPairs = 50'000;
  /// Of a node, where all nodes together have more than that.
  static constexpr std::size_t kMostStepsOfNode = 160;
  static constexpr std::size_t kMostStepsOfTwoNodes = 500'000;

 private:
  const PricedSchedule& schedule_of(const WalkedPlan& plan);

  MachinePrices prices_;
  std::shared_ptr<KnownWalks> known_;
  struct Kept {
    WalkedPlan plan;
    std::unique_ptr<const PricedSchedule> schedule;
  };
  std::vector<Kept> kept_;  // the last one used is the last
  std::size_t kept_steps_ = 0;
};

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_PRICING_PLAN_WALKS_H_
