#include "core/drawing/statistics_timeline.h"

#include <algorithm>
#include <utility>

#include "core/base/errors.h"

namespace hycoll {
namespace {

constexpr double kNotIssued = -1;

class TimelineComputation {
 public:
  TimelineComputation(const ScheduleWalk& walk, const std::function<StepCost(const Step&)>& cost_of)
      : walk_(walk),
        cost_of_(cost_of),
        strand_time_(walk.index.schedule.strands.size(), 0),
        handed_over_(static_cast<std::size_t>(walk.index.step_count()), kNotIssued),
        transfer_(handed_over_.size(), 0) {
    timeline_.ready.resize(handed_over_.size(), 0);
    timeline_.issue.resize(handed_over_.size(), 0);
    timeline_.completion.resize(handed_over_.size(), 0);
  }

  Timeline run() {
    for (const int id : walk_.order) add(static_cast<std::size_t>(id));
    for (const double completion : timeline_.completion) {
      timeline_.end = std::max(timeline_.end, completion);
    }
    return std::move(timeline_);
  }

 private:
  void add(std::size_t id) {
    const Step& step = walk_.index.step(static_cast<int>(id));
    const StepPlace& at = walk_.index.place[id];
    const StepCost cost = cost_of_(step);
    double& strand_time = strand_time_[static_cast<std::size_t>(at.strand)];
    timeline_.ready[id] = strand_time;
    timeline_.issue[id] = std::max(strand_time, awaited(at.strand, step));
    strand_time = timeline_.issue[id] + cost.busy;
    handed_over_[id] = strand_time;
    transfer_[id] = cost.transfer;
    timeline_.completion[id] = strand_time;
    if (!is_asynchronous(step.kind)) return;
    const auto partner = static_cast<std::size_t>(walk_.matches.partner[id]);
    if (step.kind == StepKind::native) {
      complete_native(partner);
    } else if (handed_over_[partner] != kNotIssued) {
      const bool is_send = step.kind == StepKind::send;
      receive(is_send ? id : partner, is_send ? partner : id);
    }
  }

  /// When all that the step waits for has completed.
  double awaited(int strand, const Step& step) const {
    const Index& index = walk_.index;
    double time = 0;
    const auto await = [&](int id) {
      time = std::max(time, timeline_.completion[static_cast<std::size_t>(id)]);
    };
    for (const int earlier : index.schedule.dependencies_of(step)) {
      await(index.number(strand, earlier));
    }
    if (step.kind == StepKind::wait) await(index.awaited_signal(step));
    for (const Span& source : index.schedule.sources(step)) {
      if (!index.is_awaited(source)) continue;
      const int first = index.cell(source);
      for (int cell = first; cell < first + source.chunk_count; ++cell) {
        await(index.awaited_writer[static_cast<std::size_t>(cell)]);
      }
    }
    return time;
  }

  void receive(std::size_t send, std::size_t recv) {
    timeline_.completion[recv] = std::max(handed_over_[recv], handed_over_[send] + transfer_[send]);
  }

  /// Completes the calls of a group once all of them have been issued.
  void complete_native(std::size_t group) {
    const auto node_count = static_cast<std::size_t>(walk_.index.schedule.shape.node_count());
    const auto calls =
        std::span(walk_.matches.native_steps).subspan(group * node_count, node_count);
    double time = 0;
    for (const int call : calls) {
      const auto id = static_cast<std::size_t>(call);
      if (handed_over_[id] == kNotIssued) return;
      time = std::max(time, handed_over_[id] + transfer_[id]);
    }
    for (const int call : calls) timeline_.completion[static_cast<std::size_t>(call)] = time;
  }

  using Index = verifier::Index;
  using StepPlace = verifier::StepPlace;

  const ScheduleWalk& walk_;
  const std::function<StepCost(const Step&)>& cost_of_;
  std::vector<double> strand_time_;  // when each strand may issue its next step
  std::vector<double> handed_over_;  // by step: when its strand has done its part
  std::vector<double> transfer_;
  Timeline timeline_;
};

}  // namespace

ScheduleWalk::ScheduleWalk(const Schedule& schedule) : index(schedule) {
  const auto unmatched = verifier::check_messages(index, matches);
  HYCOLL_ASSERT(!unmatched, "only a verified schedule can be walked through");
  const auto blocked = verifier::check_deadlock(index, matches, order);
  HYCOLL_ASSERT(!blocked, "only a verified schedule can be walked through");
}

Timeline compute_timeline(const ScheduleWalk& walk,
                          const std::function<StepCost(const Step&)>& cost_of) {
  return TimelineComputation(walk, cost_of).run();
}

}  // namespace hycoll
