#include "core/drawing/critical_path.h"

#include <algorithm>
#include <array>

#include "core/base/at.h"

namespace hycoll {
namespace {

/// Goes back from the last completion to what it waited for.
class Path {
 public:
  Path(const PricedSchedule& schedule, const WalkRecord& record)
      : schedule_(schedule), record_(record), send_of_(schedule.step_count(), kNoStep) {
    const auto steps = schedule.steps();
    for (std::size_t id = 0; id < steps.size(); ++id) {
      if (steps[id].kind == StepKind::send) {
        send_of_[at(steps[id].partner)] = static_cast<int>(id);
      }
    }
  }

  std::vector<Stretch> go() && {
    if (record_.completed.empty()) return {};
    int step =
        static_cast<int>(std::ranges::max_element(record_.completed) - record_.completed.begin());
    double time = record_.completed[at(step)];
    while (step != kNoStep) {
      const int issued = add_step(step, time);
      const int cause = record_.cause[at(issued)];
      time = record_.issued[at(issued)];
      if (cause != kNoStep) time = add_signal(cause, issued, time);
      step = cause;
    }
    std::ranges::reverse(stretches_);
    return std::move(stretches_);
  }

 private:
  int worker_of(int step) const { return schedule_.worker_of(schedule_.steps()[at(step)]); }

  /// What a step did until this time. Returns the step whose issue that began with.
  int add_step(int id, double time) {
    const PricedStep& step = schedule_.steps()[at(id)];
    if (step.kind == StepKind::recv && time > record_.free[at(id)]) {
      const int send = send_of_[at(id)];
      add({Stretch::Kind::message, id, worker_of(send), worker_of(id), record_.issued[at(send)],
           time});
      return send;
    }
    add({kind_of(id, time), id, worker_of(id), worker_of(id), record_.issued[at(id)], time});
    return id;
  }

  Stretch::Kind kind_of(int id, double time) const {
    const PricedStep& step = schedule_.steps()[at(id)];
    if (step.work.reduced > 0) return Stretch::Kind::reduce;
    if (step.work.copied > 0) return Stretch::Kind::copy;
    const bool is_under_way = step.kind == StepKind::send && time > record_.free[at(id)];
    return is_under_way ? Stretch::Kind::message : Stretch::Kind::issue;
  }

  /// From when the cause has completed, or has left its worker free, until it is seen. Returns when
  /// that was.
  double add_signal(int cause, int id, double issued) {
    const double completed = record_.completed[at(cause)];
    const double begin = completed <= issued ? completed : record_.free[at(cause)];
    add({Stretch::Kind::signal, id, worker_of(cause), worker_of(id), begin, issued});
    return begin;
  }

  void add(const Stretch& stretch) {
    if (stretch.length_us() > 0) stretches_.push_back(stretch);
  }

  const PricedSchedule& schedule_;
  const WalkRecord& record_;
  std::vector<int> send_of_;  // by receive
  std::vector<Stretch> stretches_;
};

}  // namespace

std::string_view name_of(Stretch::Kind kind) noexcept {
  constexpr std::array<std::string_view, kStretchKindCount> kNames = {"message", "reduce", "copy",
                                                                      "signal", "issue"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::vector<Stretch> critical_path(const PricedSchedule& schedule, const WalkRecord& record) {
  return Path(schedule, record).go();
}

}  // namespace hycoll
