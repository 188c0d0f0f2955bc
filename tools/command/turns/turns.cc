#include "tools/command/turns/turns.h"

#include <algorithm>
#include <limits>

namespace hycoll::command {
namespace {

constexpr double kNapSeconds = 0.05;
/// Latencies that no state has yet are of one that is only beginning.
constexpr std::size_t kNoState = std::numeric_limits<std::size_t>::max();

class Turns {
 public:
  Turns(const TurnsOptions& options, const TurnsWorld& world)
      : options_(options),
        world_(world),
        refused_(options.participants, std::vector<bool>(options.tasks)),
        visits_(options.tasks),
        patience_(options.patience_seconds),
        deadline_(world.now() + options.seconds) {}

  TurnsResult run() && {
    look();
    while (world_.now() < deadline_) {
      const measure::MachineStates states(result_.latencies_ns);
      count_blocks(states);
      report();
      const std::size_t state = states.state_of(latest_).value_or(kNoState);
      const bool complete = all_complete();
      const auto task = complete ? std::nullopt : most_wanted(state);
      if (task) {
        measure_task(*task, state);
      } else if (complete || !wait_for_another_state()) {
        break;
      }
    }
    return std::move(result_);
  }

 private:
  using Counts = std::vector<std::vector<int>>;  // by participant and task

  void look() {
    latest_ = world_.probe();
    if (latest_) result_.latencies_ns.push_back(*latest_);
  }

  /// How many blocks each state has, as the states are known now.
  void count_blocks(const measure::MachineStates& states) {
    const Counts none(options_.participants, std::vector<int>(options_.tasks));
    counts_.assign(states.all().size(), none);
    for (const Block& block : result_.blocks) {
      const auto state = states.state_of(block.latency);
      if (state) ++counts_[*state][block.participant][block.task];
    }
  }

  int count(std::size_t state, std::size_t participant, std::size_t task) const {
    return state == kNoState ? 0 : counts_[state][participant][task];
  }

  bool lacks(std::size_t state, std::size_t participant, std::size_t task) const {
    return !refused_[participant][task] && count(state, participant, task) < options_.rounds;
  }

  /// The task of which somebody has the fewest blocks in the state; empty if all have enough.
  std::optional<std::size_t> most_wanted(std::size_t state) const {
    std::optional<std::size_t> wanted;
    int fewest = options_.rounds;
    for (std::size_t task = 0; task < options_.tasks; ++task) {
      for (std::size_t participant = 0; participant < options_.participants; ++participant) {
        if (refused_[participant][task]) continue;
        // A state that is only beginning is no reason to stay at the first task.
        const int blocks = state == kNoState ? std::min(visits_[task], options_.rounds - 1)
                                             : count(state, participant, task);
        if (blocks >= fewest) continue;
        fewest = blocks;
        wanted = task;
      }
    }
    return wanted;
  }

  bool all_complete() const {
    for (std::size_t state = 0; state < counts_.size(); ++state) {
      if (most_wanted(state)) return false;
    }
    return true;
  }

  void measure_task(std::size_t task, std::size_t state) {
    const auto first = static_cast<std::size_t>(visits_[task]++);
    for (std::size_t turn = 0; turn < options_.participants; ++turn) {
      const std::size_t participant = (first + turn) % options_.participants;
      if (lacks(state, participant, task)) measure_block(participant, task);
    }
  }

  void measure_block(std::size_t participant, std::size_t task) {
    for (int repeat = 0; repeat <= options_.repeats && world_.now() < deadline_; ++repeat) {
      Block block{.participant = participant, .task = task, .latency = {}, .answer = {}};
      block.latency.before_ns = latest_;
      block.answer = world_.measure(participant, task);
      look();
      block.latency.after_ns = latest_;
      const bool changed = measure::state_changed(block.latency);
      refused_[participant][task] = !block.answer.refusal.empty();
      result_.blocks.push_back(std::move(block));
      if (!changed || refused_[participant][task]) return;
    }
  }

  /// False when patience has come to an end.
  bool wait_for_another_state() {
    if (patience_ <= 0) return false;
    const double before = world_.now();
    world_.sleep(kNapSeconds);
    look();
    patience_ -= std::max(world_.now() - before, kNapSeconds);
    return true;
  }

  void report() const {
    std::size_t done = 0;
    std::size_t wanted = 0;
    for (std::size_t state = 0; state < counts_.size(); ++state) {
      for (std::size_t participant = 0; participant < options_.participants; ++participant) {
        for (std::size_t task = 0; task < options_.tasks; ++task) {
          if (refused_[participant][task]) continue;
          done +=
              static_cast<std::size_t>(std::min(count(state, participant, task), options_.rounds));
          wanted += static_cast<std::size_t>(options_.rounds);
        }
      }
    }
    world_.on_progress(done, wanted);
  }

  const TurnsOptions& options_;
  const TurnsWorld& world_;
  TurnsResult result_;
  std::optional<double> latest_;
  std::vector<Counts> counts_;  // by state
  std::vector<std::vector<bool>> refused_;
  std::vector<int> visits_;  // by task
  double patience_;
  double deadline_;
};

}  // namespace

TurnsResult take_turns(const TurnsOptions& options, const TurnsWorld& world) {
  return Turns(options, world).run();
}

}  // namespace hycoll::command
