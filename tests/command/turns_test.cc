// Turns among participants on a machine whose state is invented.
#include "tools/command/turns/turns.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/errors.h"

namespace hycoll::command {
namespace turns_test {

constexpr double kNearNs = 30;
constexpr double kFarNs = 170;
constexpr double kBlockSeconds = 1;

/// A machine whose latency is a function of time; a block takes a second, a look none.
class Machine {
 public:
  explicit Machine(std::function<std::optional<double>(double)> latency_ns)
      : latency_ns_(std::move(latency_ns)) {}

  TurnsResult take_turns(const TurnsOptions& options) {
    return command::take_turns(options, {.probe = [this] { return latency_ns_(now_); },
                                         .measure =
                                             [this](std::size_t participant, std::size_t task) {
                                               now_ += kBlockSeconds;
                                               return answer(participant, task);
                                             },
                                         .now = [this] { return now_; },
                                         .sleep = [this](double seconds) { now_ += seconds; },
                                         .on_progress = [](std::size_t, std::size_t) {}});
  }

  double now() const { return now_; }

  /// Who refuses which task.
  std::optional<std::pair<std::size_t, std::size_t>> refusal;

 private:
  Answer answer(std::size_t participant, std::size_t task) const {
    if (refusal == std::pair(participant, task)) return {.record = {}, .refusal = "no"};
    return {.record = {{"median_us", 1.0}}, .refusal = ""};
  }

  std::function<std::optional<double>(double)> latency_ns_;
  double now_ = 0;
};

/// How many blocks of one participant and task a state has.
int count(const TurnsResult& result, std::optional<double> latency_ns, std::size_t participant,
          std::size_t task) {
  const measure::MachineStates states(result.latencies_ns);
  int blocks = 0;
  for (const Block& block : result.blocks) {
    if (block.participant != participant || block.task != task) continue;
    const auto state = states.state_of(block.latency);
    if (state && state == states.state_of(latency_ns)) ++blocks;
  }
  return blocks;
}

constexpr TurnsOptions kOptions{.participants = 3, .tasks = 4, .rounds = 2};

TEST_CASE("on a machine that does not change everybody gets its rounds, and no more") {
  for (const std::optional<double> latency_ns : {std::optional(kNearNs), std::optional<double>()}) {
    Machine machine([&](double) { return latency_ns; });
    const TurnsResult result = machine.take_turns(kOptions);
    CHECK(result.blocks.size() == 3 * 4 * 2);
    for (std::size_t participant = 0; participant < 3; ++participant) {
      for (std::size_t task = 0; task < 4; ++task) {
        CHECK(count(result, latency_ns, participant, task) == 2);
      }
    }
    // A look before the first block and after each.
    CHECK(result.latencies_ns.size() == (latency_ns ? result.blocks.size() + 1 : 0));
  }
}

TEST_CASE("all participants measure a task before the next one, and another one begins") {
  Machine machine([](double) { return kNearNs; });
  const TurnsResult result = machine.take_turns(kOptions);
  for (std::size_t block = 0; block < result.blocks.size(); ++block) {
    CHECK(result.blocks[block].task == block / 3 % 4);
    CHECK(result.blocks[block].participant == (block % 3 + block / 12) % 3);
  }
}

TEST_CASE("every state gets all its rounds where the machine goes to and fro") {
  Machine machine(
      [](double now) { return static_cast<int>(now / 10) % 2 == 0 ? kNearNs : kFarNs; });
  const TurnsResult result = machine.take_turns(kOptions);
  for (std::size_t participant = 0; participant < 3; ++participant) {
    for (std::size_t task = 0; task < 4; ++task) {
      CHECK(count(result, kNearNs, participant, task) >= 2);
      CHECK(count(result, kFarNs, participant, task) >= 2);
    }
  }
}

TEST_CASE("a block during which the state changed is repeated at once") {
  Machine machine([](double now) { return now < 5 ? kNearNs : kFarNs; });
  const TurnsResult result = machine.take_turns(kOptions);
  const Block& changed = result.blocks.at(4);
  CHECK(measure::state_changed(changed.latency));
  CHECK(result.blocks.at(5).participant == changed.participant);
  CHECK(result.blocks.at(5).task == changed.task);
  CHECK_FALSE(measure::state_changed(result.blocks.at(5).latency));
}

TEST_CASE("a state that does not come back is waited for, but not for ever") {
  Machine machine([](double now) { return now < 9 ? kNearNs : kFarNs; });
  TurnsOptions options = kOptions;
  options.patience_seconds = 3;
  const TurnsResult result = machine.take_turns(options);
  for (std::size_t participant = 0; participant < 3; ++participant) {
    for (std::size_t task = 0; task < 4; ++task)
      CHECK(count(result, kFarNs, participant, task) == 2);
  }
  CHECK(count(result, kNearNs, 0, 3) == 0);
  CHECK(machine.now() >= 9 + 24 + 3);
  CHECK(machine.now() < 9 + 24 + 6);
}

TEST_CASE("where the state changes with every look, repeats and time are bounded") {
  bool far = false;
  Machine machine([&](double) { return (far = !far) ? kFarNs : kNearNs; });
  TurnsOptions options = kOptions;
  options.seconds = 50;
  const TurnsResult result = machine.take_turns(options);
  CHECK(result.blocks.size() == 50);
  CHECK(count(result, kNearNs, 0, 0) == 0);
}

TEST_CASE("no block begins after the time") {
  Machine machine([](double) { return kNearNs; });
  TurnsOptions options = kOptions;
  options.seconds = 4.5;
  CHECK(machine.take_turns(options).blocks.size() == 5);
}

TEST_CASE("who refuses a task is not asked again, and the others are measured") {
  Machine machine([](double) { return kNearNs; });
  machine.refusal = std::pair<std::size_t, std::size_t>(1, 2);
  const TurnsResult result = machine.take_turns(kOptions);
  CHECK(result.blocks.size() == (3 * 4 - 1) * 2 + 1);
  CHECK(count(result, kNearNs, 1, 2) == 1);
  CHECK(count(result, kNearNs, 0, 2) == 2);
}

}  // namespace turns_test
}  // namespace hycoll::command
