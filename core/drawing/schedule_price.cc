#include "core/drawing/schedule_price.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

#include "core/base/at.h"
#include "core/base/errors.h"
#include "core/schedule/index.h"
#include "core/schedule/walk.h"

namespace hycoll {
namespace {

using verifier::Index;

constexpr double kUnknown = -1;
constexpr int kNobody = -1;
constexpr double kBytesPerUs = 1000;  // of 1 GB/s

/// A worker of the last node stands for several lanes.
double lanes_of_worker(bool is_last_node, const LaneScale& scale) {
  return is_last_node ? scale.last_node_lanes : 1;
}

/// What bytes and things cost in one call.
struct CallPrices {
  CallPrices(double size_bytes, int chunk_count, const MachinePrices& machine_prices,
             const LaneScale& scale)
      : prices(machine_prices) {
    const double chunk_bytes = size_bytes / chunk_count;
    reduce_us = chunk_bytes / (prices.reduce_gb_per_s * kBytesPerUs);
    copy_us = chunk_bytes / (prices.copy_gb_per_s * kBytesPerUs);
    memory_us = chunk_bytes / (prices.memory_gb_per_s * kBytesPerUs) * scale.lanes_per_lane;
    card_us = chunk_bytes / (prices.bandwidth_gb_per_s * kBytesPerUs) * scale.lanes_per_lane;
    endpoint_us = chunk_bytes / (prices.endpoint_gb_per_s * kBytesPerUs);
  }

  /// How long the work keeps its worker.
  double busy_us(const StepWork& work) const {
    return work.looks * prices.gap_us + work.reduced * reduce_us + work.copied * copy_us +
           work.sends * prices.message_us;
  }

  /// How long it keeps its node's memory.
  double memory_busy_us(const StepWork& work) const {
    return (work.reduced + work.copied) * memory_us;
  }

  const MachinePrices& prices;
  double reduce_us;  // of a chunk, as the following
  double copy_us;
  double memory_us;
  double card_us;
  double endpoint_us;
};

StepWork work_of(const Schedule& schedule, const Step& step) {
  StepWork work;
  switch (step.kind) {
    case StepKind::send:
      work.sends = 1;
      work.sent = schedule.sources(step).front().chunk_count;
      break;
    case StepKind::recv:
      work.receives = 1;
      work.received = schedule.destinations(step).front().chunk_count;
      break;
    case StepKind::reduce:
    case StepKind::copy: {
      const double chunks = schedule.destinations(step).front().chunk_count;
      const bool reduces = step.kind == StepKind::reduce;
      work.reduced = reduces ? chunks * (step.source_count - 1) : 0;
      work.copied = chunks * (step.destination_count - (reduces ? 1 : 0));
      work.looks = static_cast<double>(std::ranges::count_if(
          schedule.sources(step),
          [&](const Span& source) { return carries_signals(schedule.buffer_of(source).role); }));
      break;
    }
    case StepKind::wait:
      work.looks = 1;
      break;
    case StepKind::native:
    case StepKind::signal:
      break;
  }
  return work;
}

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

}  // namespace

/// Issues every step as soon as all that it waits for has completed and its worker is free, in the
/// order of time, so that cards and workers serve first who comes first.
class PricedSchedule::Run {
 public:
  Run(const PricedSchedule& schedule, double size_bytes, const MachinePrices& prices,
      const LaneScale& scale)
      : schedule_(schedule),
        call_(size_bytes, schedule.chunk_count_, prices, scale),
        prices_(prices),
        scale_(scale),
        cards_(at(schedule.node_count_)),
        endpoints_(at(schedule.node_count_) * at(schedule.lane_count_)),
        memory_free_(at(schedule.node_count_), 0),
        worker_free_(schedule.node_.size(), 0),
        received_(worker_free_.size(), 0),
        strands_(schedule.worker_.size()),
        steps_(schedule.steps_.size()) {}

  double run(double limit_us) {
    for (int strand = 0; std::cmp_less(strand, strands_.size()); ++strand) {
      strands_[at(strand)].next_step = schedule_.first_step_[at(strand)];
      strands_[at(strand)].next_await = awaits_begin(strands_[at(strand)].next_step);
      turns_.push({0, strand});
    }
    while (!turns_.empty() && end_ < limit_us) {
      const Turn turn = turns_.top();
      turns_.pop();
      advance(turn);
    }
    return end_;
  }

 private:
  struct StrandState {
    int next_step = 0;
    std::size_t next_await = 0;  // of that step: those before have completed
    double ready = 0;            // when they have
    int next_blocked = kNobody;  // the next strand that waits for the same step
  };
  struct StepState {
    double completion = kUnknown;
    double posted = kUnknown;     // of a receive: when it was issued
    double arrival = kUnknown;    // of a receive: when its message is there
    int first_blocked = kNobody;  // the first strand that waits for it
  };

  std::size_t awaits_begin(int step) const {
    return step == 0 ? 0 : schedule_.steps_[at(step) - 1].awaits_end;
  }

  /// Issues the strand's next step if it is time; otherwise the strand waits for that time, or for
  /// the step that it depends on.
  void advance(const Turn& turn) {
    StrandState& strand = strands_[at(turn.strand)];
    if (strand.next_step == schedule_.first_step_[at(turn.strand) + 1]) return;
    const PricedStep& step = schedule_.steps_[at(strand.next_step)];
    const int blocker = await(step, strand);
    if (blocker != kNobody) {
      strand.next_blocked = std::exchange(steps_[at(blocker)].first_blocked, turn.strand);
      return;
    }
    const int worker = schedule_.worker_[at(turn.strand)];
    const double time = std::max({turn.time, worker_free_[at(worker)], strand.ready});
    if (time > turn.time) {
      turns_.push({time, turn.strand});
      return;
    }
    const double free = std::max(time + call_.busy_us(step.work) * lanes_of(worker),
                                 pass_memory(step.work, worker, time));
    worker_free_[at(worker)] = free;
    issue(strand.next_step, step, worker, time, free);
    ++strand.next_step;
    strand.ready = 0;
    turns_.push({free, turn.strand});
  }

  /// The first of the steps that have to complete first and have not; nobody if all have.
  int await(const PricedStep& step, StrandState& strand) const {
    for (; strand.next_await < step.awaits_end; ++strand.next_await) {
      const Await& awaited = schedule_.awaits_[strand.next_await];
      const double completion = steps_[at(awaited.step)].completion;
      if (completion == kUnknown) return awaited.step;
      strand.ready = std::max(strand.ready, completion + (awaited.is_seen ? prices_.wait_us : 0));
    }
    return kNobody;
  }

  /// Takes what a step moves, from this time on, through its node's memory. Returns when that is
  /// done; at once if nothing is moved.
  double pass_memory(const StepWork& work, int worker, double time) {
    const double memory_us = call_.memory_busy_us(work);
    if (memory_us == 0) return time;
    double& free = memory_free_[at(schedule_.node_[at(worker)])];
    free = std::max(time, free) + memory_us;
    return free;
  }

  double lanes_of(int worker) const {
    return lanes_of_worker(schedule_.node_[at(worker)] + 1 == schedule_.node_count_, scale_);
  }

  void issue(int id, const PricedStep& step, int worker, double time, double free) {
    if (step.kind == StepKind::send) {
      steps_[at(step.partner)].arrival = transfer(step, worker, time);
      const double sent =
          std::max(card_of(worker).sends_at, endpoint_of(worker, step.lane).sends_at);
      complete(id, std::max(free, sent));
      if (steps_[at(step.partner)].posted != kUnknown) complete_receive(step.partner);
    } else if (step.kind == StepKind::recv) {
      steps_[at(id)].posted = free;
      if (steps_[at(id)].arrival != kUnknown) complete_receive(id);
    } else {
      complete(id, free);
    }
  }

  /// Takes a message that is sent at this time over both cards and endpoints, and to the receiving
  /// worker. Returns when it is there.
  double transfer(const PricedStep& send, int sender, double time) {
    const double card_us = send.work.sent * call_.card_us;
    const double endpoint_us = send.work.sent * call_.endpoint_us;
    const int worker = schedule_.worker_[at(schedule_.steps_[at(send.partner)].strand)];
    const auto carry = [&](Port& from, Port& to, double busy_us) {
      return to.receive(from.send(time, busy_us) + prices_.alpha_us, busy_us);
    };
    // Endpoints fill the card together: none waits for the messages of others to be over.
    const double there = std::max(
        carry(card_of(sender), card_of(worker), card_us),
        carry(endpoint_of(sender, send.lane), endpoint_of(worker, send.lane), endpoint_us));
    double& received = received_[at(worker)];
    const double takes_us = prices_.message_us * lanes_of(worker);
    received = std::max(there + takes_us - prices_.message_us, received + takes_us);
    return received;
  }

  Port& card_of(int worker) { return cards_[at(schedule_.node_[at(worker)])]; }

  Port& endpoint_of(int worker, int lane) {
    return endpoints_[at(schedule_.node_[at(worker)] * schedule_.lane_count_ + lane)];
  }

  void complete_receive(int id) {
    complete(id, std::max(steps_[at(id)].arrival, steps_[at(id)].posted));
  }

  void complete(int id, double time) {
    steps_[at(id)].completion = time;
    end_ = std::max(end_, time);
    int strand = std::exchange(steps_[at(id)].first_blocked, kNobody);
    while (strand != kNobody) {
      turns_.push({time, strand});
      strand = strands_[at(strand)].next_blocked;
    }
  }

  const PricedSchedule& schedule_;
  CallPrices call_;
  const MachinePrices& prices_;
  const LaneScale& scale_;
  std::vector<Port> cards_;          // by node
  std::vector<Port> endpoints_;      // by node, then by lane
  std::vector<double> memory_free_;  // by node: when it may carry the next step's bytes
  std::vector<double> worker_free_;  // by worker: when it may issue a step of any strand
  std::vector<double> received_;     // by worker: when it has taken in its last message
  std::vector<StrandState> strands_;
  std::vector<StepState> steps_;
  std::priority_queue<Turn, std::vector<Turn>, std::greater<>> turns_;
  double end_ = 0;
};

StepWork& StepWork::operator+=(const StepWork& other) noexcept {
  looks += other.looks;
  reduced += other.reduced;
  copied += other.copied;
  sends += other.sends;
  sent += other.sent;
  receives += other.receives;
  received += other.received;
  return *this;
}

PricedSchedule::PricedSchedule(const Schedule& schedule)
    : chunk_count_(vector_chunk_count(schedule)),
      node_count_(schedule.shape.node_count()),
      lane_count_(schedule.shape.lane_count()) {
  HYCOLL_ASSERT(schedule.is_whole(), "a part does not know when its peers send");
  const Index index(schedule);
  verifier::Matches matches;
  const auto unmatched = verifier::check_messages(index, matches);
  HYCOLL_ASSERT(!unmatched, "only a verified schedule has a price");
  first_step_ = index.first_step;
  for (int worker = 0; worker < schedule.shape.worker_count(); ++worker) {
    node_.push_back(schedule.shape.node_of_worker(worker));
  }
  steps_.reserve(at(index.step_count()));
  for (int s = 0; std::cmp_less(s, schedule.strands.size()); ++s) {
    worker_.push_back(schedule.strands[at(s)].worker);
    for (const Step& step : schedule.strands[at(s)].steps) {
      add_awaits(index, s, step);
      const int partner = step.kind == StepKind::send ? matches.partner[steps_.size()] : kNobody;
      steps_.push_back({step.kind, s, step.lane, partner, awaits_.size(), work_of(schedule, step)});
    }
  }
}

void PricedSchedule::add_awaits(const Index& index, int strand, const Step& step) {
  const Schedule& schedule = index.schedule;
  for (const int earlier : schedule.dependencies_of(step)) {
    awaits_.push_back({index.number(strand, earlier), false});
  }
  if (step.kind == StepKind::wait) {
    awaits_.push_back({index.awaited_signal(step), true});
    return;
  }
  for (const Span& source : schedule.sources(step)) {
    if (!index.is_awaited(source)) continue;
    const int first = index.cell(source);
    for (int cell = first; cell < first + source.chunk_count; ++cell) {
      const int writer = index.awaited_writer[at(cell)];
      if (cell == first || awaits_.back().step != writer) awaits_.push_back({writer, true});
    }
  }
}

double PricedSchedule::time_us(double size_bytes, const MachinePrices& prices,
                               const LaneScale& scale, double limit_us) const {
  return Run(*this, size_bytes, prices, scale).run(limit_us);
}

LeastTime::LeastTime(const Schedule& part) : chunk_count_(vector_chunk_count(part)) {
  const NumberRange nodes = part.part.nodes;
  const NumberRange workers = part.part.workers;
  const auto is_last = [&](int node) { return node + 1 == part.shape.node_count(); };
  for (int node = nodes.first; node < nodes.first + nodes.count; ++node) {
    nodes_.push_back({{}, is_last(node)});
  }
  for (int worker = workers.first; worker < workers.first + workers.count; ++worker) {
    workers_.push_back({{}, is_last(part.shape.node_of_worker(worker))});
  }
  for (const Strand& strand : part.strands) {
    const int node = part.shape.node_of_worker(strand.worker);
    for (const Step& step : strand.steps) {
      const StepWork work = work_of(part, step);
      workers_[at(strand.worker - workers.first)].work += work;
      nodes_[at(node - nodes.first)].work += work;
      ++step_count_;
    }
  }
  keep_distinct(workers_);
  keep_distinct(nodes_);
}

void LeastTime::keep_distinct(std::vector<Load>& loads) {
  std::vector<Load> distinct;
  for (const Load& load : loads) {
    if (std::ranges::find(distinct, load) == distinct.end()) distinct.push_back(load);
  }
  loads = std::move(distinct);
}

double LeastTime::time_us(double size_bytes, const MachinePrices& prices,
                          const LaneScale& scale) const {
  const CallPrices call(size_bytes, chunk_count_, prices, scale);
  double most = 0;
  for (const Load& worker : workers_) {
    const double busy_us =
        std::max(call.busy_us(worker.work), worker.work.receives * prices.message_us);
    most = std::max(most, busy_us * lanes_of_worker(worker.is_last_node, scale));
  }
  for (const Load& node : nodes_) {
    most = std::max(most, call.memory_busy_us(node.work));
    if (node.work.sends + node.work.receives == 0) continue;
    const double chunks = std::max(node.work.sent, node.work.received);
    most = std::max(most, prices.alpha_us + chunks * call.card_us);
  }
  return most;
}

double price_us(const Schedule& schedule, double size_bytes, const MachinePrices& prices,
                const LaneScale& scale) {
  return PricedSchedule(schedule).time_us(size_bytes, prices, scale);
}

bool has_price(const Schedule& schedule) {
  return std::ranges::none_of(schedule.strands, [](const Strand& strand) {
    return std::ranges::any_of(strand.steps,
                               [](const Step& step) { return step.kind == StepKind::native; });
  });
}

}  // namespace hycoll
