// The walk through a priced schedule, and the cards and memories that it has by itself.

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

#include "core/base/at.h"
#include "core/base/errors.h"
#include "core/drawing/call_prices.h"
#include "core/drawing/schedule_price.h"

namespace hycoll {
namespace {

constexpr double kUnknown = -1;

/// When a strand may go on.
struct Turn {
  double time;
  int strand;
  friend bool operator>(const Turn& a, const Turn& b) {
    return std::pair(a.time, a.strand) > std::pair(b.time, b.strand);
  }
};

/// A node's network card, or an endpoint: when either direction is free again.
struct Port {
  double sends_at = 0;
  double receives_at = 0;

  /// Sends, from `time` on, as soon as this is free. Returns when that begins.
  double send(double time, double busy_us) {
    const double begin = std::max(time, sends_at);
    sends_at = begin + busy_us;
    return begin;
  }
  /// Receives what has begun to come at `time`. Returns when it is there.
  double receive(double time, double busy_us) {
    return receives_at = std::max(time, receives_at) + busy_us;
  }
};

/// For each node a card, endpoints and a memory, each of which serves one after the other.
class Clocks final : public SharedResources {
 public:
  Clocks(const PricedSchedule& schedule, const CallPrices& call, int node_count, int lane_count)
      : schedule_(schedule),
        call_(call),
        lane_count_(lane_count),
        cards_(at(node_count)),
        endpoints_(at(node_count) * at(lane_count)),
        memory_free_(at(node_count), 0) {}

  std::optional<MessagePassage> carry(const SharedMessage& message, double time_us) override {
    const auto pass = [&](Port& from, Port& to, double busy_us) {
      return to.receive(from.send(time_us, busy_us) + call_.prices.alpha_us, busy_us);
    };
    const int from = schedule_.node_of_worker(message.from_worker);
    const int to = schedule_.node_of_worker(message.to_worker);
    Port& card = cards_[at(from)];
    Port& endpoint = endpoint_of(from, message.lane);
    // Endpoints fill the card together: none waits for the messages of others to be over.
    const double there = std::max(
        pass(card, cards_[at(to)], message.size_bytes * call_.card_us),
        pass(endpoint, endpoint_of(to, message.lane), message.size_bytes * call_.endpoint_us));
    return MessagePassage{std::max(card.sends_at, endpoint.sends_at), there};
  }

  std::optional<double> move(const SharedMove& move, double time_us) override {
    const double memory_us = move.size_bytes * call_.memory_us;
    if (memory_us == 0) return time_us;
    double& free = memory_free_[at(schedule_.node_of_worker(move.worker))];
    free = std::max(time_us, free) + memory_us;
    return free;
  }

  std::optional<SharedCompletion> next(double) override { return {}; }

  double signal_us(int, int) const override { return call_.prices.wait_us; }

 private:
  Port& endpoint_of(int node, int lane) { return endpoints_[at(node * lane_count_ + lane)]; }

  const PricedSchedule& schedule_;
  const CallPrices& call_;
  int lane_count_;
  std::vector<Port> cards_;          // by node
  std::vector<Port> endpoints_;      // by node, then by lane
  std::vector<double> memory_free_;  // by node: when it may carry the next step's bytes
};

}  // namespace

/// Issues every step as soon as all that it waits for has completed and its worker is free, in the
/// order of time, so that what is shared and workers serve first who comes first.
class PricedSchedule::Run {
 public:
  Run(const PricedSchedule& schedule, const CallPrices& call, const LaneScale& scale,
      SharedResources& shared, WalkRecord* record)
      : schedule_(schedule),
        call_(call),
        scale_(scale),
        shared_(shared),
        record_(record),
        workers_(schedule.node_.size()),
        strands_(schedule.worker_.size()),
        steps_(schedule.steps_.size()) {
    if (record_ == nullptr) return;
    for (auto* times : {&record_->issued, &record_->free, &record_->completed}) {
      times->assign(steps_.size(), 0);
    }
    record_->cause.assign(steps_.size(), kNoStep);
  }

  double run(double limit_us) {
    for (int strand = 0; std::cmp_less(strand, strands_.size()); ++strand) {
      strands_[at(strand)].next_step = schedule_.first_step_[at(strand)];
      strands_[at(strand)].next_await = awaits_begin(strands_[at(strand)].next_step);
      turns_.push({0, strand});
    }
    while (end_ < limit_us) {
      if (under_way_ > 0 && finish_next()) continue;
      if (turns_.empty()) break;
      const Turn turn = turns_.top();
      turns_.pop();
      advance(turn);
    }
    return end_;
  }

 private:
  struct WorkerState {
    double free = 0;            // when it may issue a step of any strand
    int last_step = kNoStep;    // after which it is free
    int moving_step = kNoStep;  // it is not free before this one has completed
    double received = 0;        // when it has taken in its last message
  };
  struct StrandState {
    int next_step = 0;
    std::size_t next_await = 0;  // of that step: those before have completed
    double ready = 0;            // when they have
    int ready_step = kNoStep;    // the last of them
    int next_blocked = kNoStep;  // the next strand that waits for the same step
  };
  struct StepState {
    double completion = kUnknown;
    double posted = kUnknown;     // of a receive: when it was issued; else: its worker's part ends
    double arrival = kUnknown;    // of a receive: when its message is there
    int first_blocked = kNoStep;  // the first strand that waits for it
  };

  std::size_t awaits_begin(int step) const {
    return step == 0 ? 0 : schedule_.steps_[at(step) - 1].awaits_end;
  }

  /// Whether something that was begun before has ended before the next turn.
  bool finish_next() {
    const double until =
        turns_.empty() ? std::numeric_limits<double>::infinity() : turns_.top().time;
    const auto completion = shared_.next(until);
    if (!completion) return false;
    --under_way_;
    const PricedStep& step = schedule_.steps_[at(completion->step)];
    if (step.kind == StepKind::send) {
      finish_send(completion->step, step, completion->passage);
    } else {
      finish_move(completion->step, schedule_.worker_of(step), completion->passage.there_us);
    }
    return true;
  }

  /// Issues the strand's next step if it is time; otherwise the strand waits for that time, or for
  /// the step that it depends on.
  void advance(const Turn& turn) {
    StrandState& strand = strands_[at(turn.strand)];
    if (strand.next_step == schedule_.first_step_[at(turn.strand) + 1]) return;
    const int id = strand.next_step;
    const PricedStep& step = schedule_.steps_[at(id)];
    const int worker_id = schedule_.worker_of(step);
    WorkerState& worker = workers_[at(worker_id)];
    int blocker = await(step, worker_id, strand);
    if (blocker == kNoStep) blocker = worker.moving_step;
    if (blocker != kNoStep) {
      block(turn.strand, blocker);
      return;
    }
    const double time = std::max({turn.time, worker.free, strand.ready});
    if (time > turn.time) {
      turns_.push({time, turn.strand});
      return;
    }
    if (record_ != nullptr) {
      record_->issued[at(id)] = time;
      record_->cause[at(id)] = strand.ready >= worker.free && strand.ready_step != kNoStep
                                   ? strand.ready_step
                                   : worker.last_step;
    }
    ++strand.next_step;
    strand.ready = 0;
    strand.ready_step = kNoStep;
    worker.last_step = id;
    double free = time + call_.busy_us(step.work) * lanes_of(worker_id);
    if (const double moving_us = call_.moving_us(step.work); moving_us > 0) {
      const auto moved = shared_.move({.step = id,
                                       .worker = worker_id,
                                       .size_bytes = call_.moved_bytes(step.work),
                                       .alone_us = moving_us},
                                      time);
      if (!moved) {
        ++under_way_;
        worker.moving_step = id;
        steps_[at(id)].posted = free;
        block(turn.strand, id);
        return;
      }
      free = std::max(free, *moved);
    }
    set_free(id, worker, free);
    issue(id, step, worker_id, time, free);
    turns_.push({free, turn.strand});
  }

  void block(int strand, int step) {
    strands_[at(strand)].next_blocked = std::exchange(steps_[at(step)].first_blocked, strand);
  }

  void set_free(int id, WorkerState& worker, double free) {
    worker.free = free;
    if (record_ != nullptr) record_->free[at(id)] = free;
  }

  /// The first of the steps that have to complete first and have not; nobody if all have.
  int await(const PricedStep& step, int worker, StrandState& strand) const {
    for (; strand.next_await < step.awaits_end; ++strand.next_await) {
      const Await& awaited = schedule_.awaits_[strand.next_await];
      const double completion = steps_[at(awaited.step)].completion;
      if (completion == kUnknown) return awaited.step;
      const double seen =
          awaited.is_seen
              ? shared_.signal_us(schedule_.worker_of(schedule_.steps_[at(awaited.step)]), worker)
              : 0;
      if (completion + seen >= strand.ready) {
        strand.ready = completion + seen;
        strand.ready_step = awaited.step;
      }
    }
    return kNoStep;
  }

  double lanes_of(int worker) const {
    return lanes_of_worker(schedule_.node_of_worker(worker) + 1 == schedule_.node_count_, scale_);
  }

  void issue(int id, const PricedStep& step, int worker, double time, double free) {
    if (step.kind == StepKind::send) {
      const PricedStep& receive = schedule_.steps_[at(step.partner)];
      steps_[at(id)].posted = free;
      const auto passage = shared_.carry({.step = id,
                                          .from_worker = worker,
                                          .to_worker = schedule_.worker_of(receive),
                                          .lane = step.lane,
                                          .size_bytes = step.work.sent * call_.chunk_bytes},
                                         time);
      if (passage) {
        finish_send(id, step, *passage);
      } else {
        ++under_way_;
      }
    } else if (step.kind == StepKind::recv) {
      steps_[at(id)].posted = free;
      if (steps_[at(id)].arrival != kUnknown) complete_receive(id);
    } else {
      complete(id, free);
    }
  }

  /// The receiving worker takes the message in, as soon as it has taken in those before.
  void finish_send(int id, const PricedStep& send, const MessagePassage& passage) {
    const int worker = schedule_.worker_of(schedule_.steps_[at(send.partner)]);
    const double takes_us = call_.prices.message_us * lanes_of(worker);
    double& received = workers_[at(worker)].received;
    received = std::max(passage.there_us + takes_us - call_.prices.message_us, received + takes_us);
    steps_[at(send.partner)].arrival = received;
    complete(id, std::max(steps_[at(id)].posted, passage.sent_us));
    if (steps_[at(send.partner)].posted != kUnknown) complete_receive(send.partner);
  }

  void finish_move(int id, int worker_id, double moved) {
    WorkerState& worker = workers_[at(worker_id)];
    worker.moving_step = kNoStep;
    const double free = std::max(steps_[at(id)].posted, moved);
    set_free(id, worker, free);
    complete(id, free);
  }

  void complete_receive(int id) {
    complete(id, std::max(steps_[at(id)].arrival, steps_[at(id)].posted));
  }

  void complete(int id, double time) {
    steps_[at(id)].completion = time;
    if (record_ != nullptr) record_->completed[at(id)] = time;
    end_ = std::max(end_, time);
    int strand = std::exchange(steps_[at(id)].first_blocked, kNoStep);
    while (strand != kNoStep) {
      turns_.push({time, strand});
      strand = strands_[at(strand)].next_blocked;
    }
  }

  const PricedSchedule& schedule_;
  const CallPrices& call_;
  const LaneScale& scale_;
  SharedResources& shared_;
  WalkRecord* record_;
  std::vector<WorkerState> workers_;
  std::vector<StrandState> strands_;
  std::vector<StepState> steps_;
  std::priority_queue<Turn, std::vector<Turn>, std::greater<>> turns_;
  int under_way_ = 0;  // what the shared resources have not told the end of
  double end_ = 0;
};

double PricedSchedule::time_us(double size_bytes, const MachinePrices& prices,
                               const LaneScale& scale, double limit_us) const {
  const CallPrices call(size_bytes, chunk_count_, prices, scale);
  Clocks clocks(*this, call, node_count_, lane_count_);
  return Run(*this, call, scale, clocks, nullptr).run(limit_us);
}

double PricedSchedule::walk_us(double size_bytes, const MachinePrices& prices,
                               SharedResources& shared, WalkRecord* record) const {
  const CallPrices call(size_bytes, chunk_count_, prices, {});
  return Run(*this, call, {}, shared, record).run(std::numeric_limits<double>::infinity());
}

}  // namespace hycoll
