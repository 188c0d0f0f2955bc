#ifndef HYCOLL_CORE_DRAWING_SCHEDULE_PRICE_H_
#define HYCOLL_CORE_DRAWING_SCHEDULE_PRICE_H_

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "core/base/machine_prices.h"
#include "core/drawing/shared_resources.h"
#include "core/schedule/schedule.h"

namespace hycoll::verifier {
struct Index;
}

namespace hycoll {

/// What the lanes of a schedule stand for. All lanes of a collective do the same at the same time,
/// so that one with a part of the card is priced like many.
struct LaneScale {
  int lanes_per_lane = 1;   ///< Lanes that share the cards, for each lane of the schedule.
  int last_node_lanes = 1;  ///< Of these, as many as a worker of the last node drives.
};

/// What one step does: numbers of things, and of chunks.
struct StepWork {
  double looks = 0;    ///< Flags and lines that its worker looks at.
  double reduced = 0;  ///< Chunks, of each operand after the first.
  double copied = 0;   ///< Chunks, of each destination.
  double sends = 0;    ///< Messages,
  double sent = 0;     ///< and their chunks.
  double receives = 0;
  double received = 0;

  StepWork& operator+=(const StepWork& other) noexcept;
  friend bool operator==(const StepWork&, const StepWork&) = default;
};

/// A step of a schedule, as far as it takes time.
struct PricedStep {
  StepKind kind;
  int strand;
  int lane;                ///< Of a message.
  int partner = -1;        ///< Of a send: the step that receives it.
  std::size_t awaits_end;  ///< Where the step's awaits end, and those of the next one begin.
  StepWork work;
};

/// Instead of a step's number.
inline constexpr int kNoStep = -1;

/// When each step happened, by its number, and why then: what a walk keeps for pictures and for the
/// critical path. Times are microseconds.
struct WalkRecord {
  std::vector<double> issued;
  std::vector<double> free;       ///< Its strand may issue the next step.
  std::vector<double> completed;  ///< Of a receive: the message is there.
  /// The step that had to complete, or to leave the worker free, for this one to be issued;
  /// kNoStep if it is issued at the beginning.
  std::vector<int> cause;
};

/// What a schedule does that takes time, without what else it says: to be priced many times. Plain,
/// immutable data that outlives its schedule.
///
/// A call is walked through with a clock for every worker, who issues one step at a time and waits
/// as the schedule says, one for either direction of each node's network card, and of each
/// endpoint, which carry one message after the other, and one for each node's memory, through which
/// reductions and copies pass one after the other where its rate is limited. A message is there
/// alpha after it has been issued, its bytes' time later, and not before card and endpoint; its
/// receiver takes in one per message_us. All members begin at once.
///
/// The chunks are taken as equal parts of the vector, of fractions of bytes if need be, so that no
/// message is left out for being empty. Left out, too: that bytes may be in caches, handshakes and
/// headers of messages, what lies between the cards, noise, and what staging costs unless the
/// schedule is a staged one. A native call costs nothing, for what the MPI library does is not
/// known: ask has_price().
class PricedSchedule {
 public:
  /// Requires a whole schedule that verify() accepts.
  explicit PricedSchedule(const Schedule& schedule);

  /// The time in microseconds of one call on a vector of `size_bytes`. If that is `limit_us` or
  /// more, something from there on that is not more than the time.
  double time_us(double size_bytes, const MachinePrices& prices, const LaneScale& scale = {},
                 double limit_us = std::numeric_limits<double>::infinity()) const;

  /// The same walk where network and memory are other ones than a card, an endpoint and a memory
  /// clock for each node; of the prices, those of network and memory do not matter then. `record`
  /// is filled if it is given.
  double walk_us(double size_bytes, const MachinePrices& prices, SharedResources& shared,
                 WalkRecord* record = nullptr) const;

  std::size_t step_count() const noexcept { return steps_.size(); }
  /// By number: strand by strand, each in its order.
  std::span<const PricedStep> steps() const noexcept { return steps_; }
  int worker_of(const PricedStep& step) const {
    return worker_[static_cast<std::size_t>(step.strand)];
  }
  int node_of_worker(int worker) const { return node_[static_cast<std::size_t>(worker)]; }
  /// Into which the vector is cut.
  int chunk_count() const noexcept { return chunk_count_; }

 private:
  class Run;

  // A step that has to complete first.
  struct Await {
    int step;
    bool is_seen;  // whether its completion takes time to be seen
  };

  void add_awaits(const verifier::Index& index, int strand, const Step& step);

  int chunk_count_;
  int node_count_;
  int lane_count_;
  std::vector<PricedStep> steps_;  // strand by strand
  std::vector<Await> awaits_;      // step by step
  std::vector<int> first_step_;    // by strand; the total at the end
  std::vector<int> worker_;        // by strand
  std::vector<int> node_;          // by worker
};

/// What some nodes have to do at least, from their parts: bounds without walks. Plain data.
class LeastTime {
 public:
  /// Requires a part of a schedule that verify() accepts.
  explicit LeastTime(const Schedule& part);

  /// Of the workers and the card that have most to do; never more than the time of the whole.
  double time_us(double size_bytes, const MachinePrices& prices, const LaneScale& scale = {}) const;

  std::size_t step_count() const noexcept { return step_count_; }

 private:
  // The work of a worker, or of a node.
  struct Load {
    StepWork work;
    bool is_last_node;
    friend bool operator==(const Load&, const Load&) = default;
  };

  static void keep_distinct(std::vector<Load>& loads);

  int chunk_count_;
  std::size_t step_count_ = 0;
  std::vector<Load> workers_;
  std::vector<Load> nodes_;
};

/// The time of one call: PricedSchedule, for once.
double price_us(const Schedule& schedule, double size_bytes, const MachinePrices& prices,
                const LaneScale& scale = {});

/// Whether all that the schedule does has a price.
bool has_price(const Schedule& schedule);

}  // namespace hycoll

#endif  // HYCOLL_CORE_DRAWING_SCHEDULE_PRICE_H_
