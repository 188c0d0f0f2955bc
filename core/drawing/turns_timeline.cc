#include "core/drawing/turns_timeline.h"

#include <algorithm>
#include <compare>
#include <cstddef>
#include <queue>
#include <span>
#include <utility>
#include <vector>

namespace hycoll {
namespace {

constexpr double kNotYet = -1;

/// A simulation from event to event, in the order of time: what a step waits for is known before
/// the step is reached, for nothing takes less than no time.
class TurnsSimulation {
 public:
  TurnsSimulation(const ScheduleWalk& walk, const std::function<StepCost(const Step&)>& cost_of)
      : walk_(walk),
        cost_of_(cost_of),
        strands_(walk.index.schedule.strands.size()),
        worker_free_(static_cast<std::size_t>(walk.index.schedule.shape.worker_count()), 0),
        worker_strand_(worker_free_.size(), 0),
        steps_(static_cast<std::size_t>(walk.index.step_count())) {
    timeline_.ready.resize(steps_.size(), 0);
    timeline_.issue.resize(steps_.size(), 0);
    timeline_.completion.resize(steps_.size(), kNotYet);
  }

  Timeline run() {
    for (std::size_t strand = 0; strand < strands_.size(); ++strand) {
      look_at(static_cast<int>(strand));
    }
    while (!turns_.empty()) {
      const Turn turn = turns_.top();
      turns_.pop();
      const double free = worker_free_[worker_of(turn.strand)];
      if (free > turn.time) {
        push_turn(turn.strand, free);
      } else {
        issue(turn.strand, turn.time);
      }
    }
    for (const double completion : timeline_.completion) {
      timeline_.end = std::max(timeline_.end, completion);
    }
    return std::move(timeline_);
  }

 private:
  struct StrandState {
    int next = 0;     ///< Its next step.
    double time = 0;  ///< When it has reached that.
  };
  struct StepState {
    double handed_over = kNotYet;  ///< When its strand has done its part.
    double transfer = 0;
    std::vector<int> waiting;  ///< Strands that look again when the completion is known.
  };
  /// When a strand wants to issue its next step, and how many others of its worker come first.
  struct Turn {
    double time;
    int distance;
    int strand;
    friend auto operator<=>(const Turn&, const Turn&) = default;
  };

  const Strand& strand_of(int strand) const {
    return walk_.index.schedule.strands[static_cast<std::size_t>(strand)];
  }
  std::size_t worker_of(int strand) const {
    return static_cast<std::size_t>(strand_of(strand).worker);
  }

  void push_turn(int strand, double time) {
    const auto count = static_cast<int>(strands_.size());
    const int current = worker_strand_[worker_of(strand)];
    turns_.push({time, (strand - current + count) % count, strand});
  }

  /// Lets a strand take a turn, or wait for a step whose end is not known yet.
  void look_at(int strand) {
    const StrandState& state = strands_[static_cast<std::size_t>(strand)];
    const auto& steps = strand_of(strand).steps;
    if (static_cast<std::size_t>(state.next) == steps.size()) return;
    double time = state.time;
    for (const int id : awaited_by(strand, steps[static_cast<std::size_t>(state.next)])) {
      const double completion = timeline_.completion[static_cast<std::size_t>(id)];
      if (completion == kNotYet) {
        steps_[static_cast<std::size_t>(id)].waiting.push_back(strand);
        return;
      }
      time = std::max(time, completion);
    }
    push_turn(strand, time);
  }

  std::vector<int> awaited_by(int strand, const Step& step) const {
    const verifier::Index& index = walk_.index;
    std::vector<int> ids;
    for (const int step_index : index.schedule.dependencies_of(step)) {
      ids.push_back(index.number(strand, step_index));
    }
    if (step.kind == StepKind::wait) ids.push_back(index.awaited_signal(step));
    for (const Span& source : index.schedule.sources(step)) {
      if (!index.is_awaited(source)) continue;
      const auto writers = std::span(index.awaited_writer)
                               .subspan(static_cast<std::size_t>(index.cell(source)),
                                        static_cast<std::size_t>(source.chunk_count));
      ids.insert(ids.end(), writers.begin(), writers.end());
    }
    return ids;
  }

  void issue(int strand, double time) {
    StrandState& state = strands_[static_cast<std::size_t>(strand)];
    const int id = walk_.index.number(strand, state.next);
    const auto number = static_cast<std::size_t>(id);
    const Step& step = walk_.index.step(id);
    const StepCost cost = cost_of_(step);
    timeline_.ready[number] = state.time;
    timeline_.issue[number] = time;
    state.time = time + cost.busy;
    ++state.next;
    worker_free_[worker_of(strand)] = state.time;
    worker_strand_[worker_of(strand)] = strand;
    steps_[number].handed_over = state.time;
    steps_[number].transfer = cost.transfer;
    if (step.kind == StepKind::native) {
      complete_native(walk_.matches.partner[number]);
    } else if (step.kind == StepKind::recv) {
      complete_receive(walk_.matches.partner[number], id);
    } else {
      complete(id, state.time);
      if (step.kind == StepKind::send) complete_receive(id, walk_.matches.partner[number]);
    }
    look_at(strand);
  }

  void complete(int id, double time) {
    timeline_.completion[static_cast<std::size_t>(id)] = time;
    const std::vector<int> waiting =
        std::exchange(steps_[static_cast<std::size_t>(id)].waiting, {});
    for (const int strand : waiting) look_at(strand);
  }

  void complete_receive(int send, int recv) {
    const StepState& sent = steps_[static_cast<std::size_t>(send)];
    const StepState& received = steps_[static_cast<std::size_t>(recv)];
    if (sent.handed_over == kNotYet || received.handed_over == kNotYet) return;
    complete(recv, std::max(received.handed_over, sent.handed_over + sent.transfer));
  }

  /// Completes the calls of a group once all of them have been issued.
  void complete_native(int group) {
    const int node_count = walk_.index.schedule.shape.node_count();
    const auto calls =
        std::span(walk_.matches.native_steps)
            .subspan(static_cast<std::size_t>(group) * static_cast<std::size_t>(node_count),
                     static_cast<std::size_t>(node_count));
    double time = 0;
    for (const int call : calls) {
      const StepState& state = steps_[static_cast<std::size_t>(call)];
      if (state.handed_over == kNotYet) return;
      time = std::max(time, state.handed_over + state.transfer);
    }
    for (const int call : calls) complete(call, time);
  }

  const ScheduleWalk& walk_;
  const std::function<StepCost(const Step&)>& cost_of_;
  std::vector<StrandState> strands_;
  std::vector<double> worker_free_;  // by worker
  std::vector<int> worker_strand_;   // by worker: the last that issued a step
  std::vector<StepState> steps_;
  std::priority_queue<Turn, std::vector<Turn>, std::greater<>> turns_;
  Timeline timeline_;
};

}  // namespace

Timeline compute_turns_timeline(const ScheduleWalk& walk,
                                const std::function<StepCost(const Step&)>& cost_of) {
  return TurnsSimulation(walk, cost_of).run();
}

}  // namespace hycoll
