// Runs of two workers of a node, as executors make them: posts, lines, flags, the broadcast FIFO,
// and what is left when one fails.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "collectives/algorithms/registry.h"
#include "core/base/errors.h"
#include "numa/topology/topology.h"
#include "tests/threading/orders/check_orders.h"
#include "threading/execution/deferred_run.h"
#include "threading/execution/executor.h"
#include "threading/execution/run_failure.h"
#include "threading/memory/separate.h"
#include "threading/program/schedule_binding.h"

namespace hycoll {
namespace executor_orders_test {

using orders::await;
using orders::check_orders;
using orders::require;

constexpr std::size_t kMembers = 2;
constexpr std::size_t kMostWords = 8;
constexpr CallNumber kMostCalls = 9;
using Words = std::array<std::uint64_t, kMostWords>;

/// A kernel that the model sees.
void add(std::span<void* const> destinations, std::span<const void* const> sources,
         std::size_t count, Stores) {
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t sum = 0;
    for (const void* source : sources) sum += static_cast<const std::uint64_t*>(source)[i];
    for (void* destination : destinations) static_cast<std::uint64_t*>(destination)[i] = sum;
  }
}

std::uint64_t input_of(std::size_t member, CallNumber call, std::size_t i) {
  return 100 * call + 10 * member + i;
}

/// Two members who make the same calls.
class Pair {
 public:
  Pair(Collective collective, std::string_view algorithm, std::size_t count)
      : collective_(collective),
        count_(count),
        programs_(bind_schedule(
            find_algorithm(collective, algorithm).generate(Shape::uniform(1, kMembers, 1)), 0,
            {.count = count}, {.element_bytes = sizeof(std::uint64_t)})) {
    std::ranges::fill(block_, std::byte{0});
    NodeMemory memory = node_memory();
    for (int worker = 0; worker < static_cast<int>(kMembers); ++worker) {
      memory.construct_worker(worker, NodeMemory::Section::compact);
      memory.construct_worker(worker, NodeMemory::Section::rest);
    }
    at_first_.assign(block_.begin(), block_.end());
  }

  /// Each member makes so many calls, and they have right results.
  orders::Setup calls(CallNumber count, RunningAhead running_ahead = RunningAhead::forbidden) {
    return [this, count, running_ahead] {
      begin(running_ahead);
      const auto play = [this, count](std::size_t member) {
        for (CallNumber call = 1; call <= count; ++call) {
          start(member, call, nullptr);
          await(
              [&] { return executors_[member]->advance() == WorkerExecutor::Progress::finished; });
          check(member, call);
        }
      };
      return orders::Program{{[=] { play(0); }, [=] { play(1); }}};
    };
  }

  /// As calls(), where some run ahead: what the first member writes before it enters a run, nobody
  /// starts run known_from() without. It is no more than a relaxed store.
  orders::Setup notice() {
    return [this] {
      begin(RunningAhead::allowed);
      const auto play = [this](std::size_t member) {
        constexpr CallNumber kNoticed = 1;
        for (CallNumber call = 1; call <= kMostCalls; ++call) {
          if (member == 0 && call == kNoticed)
            memory_->distance_notice().store(1, std::memory_order_relaxed);
          if (call == known_from(kNoticed, Leaving::ahead)) {
            require(memory_->distance_notice().load(std::memory_order_relaxed) == 1,
                    "a notice is seen before the run that it names");
          }
          start(member, call, nullptr);
          await(
              [&] { return executors_[member]->advance() == WorkerExecutor::Progress::finished; });
        }
      };
      return orders::Program{{[=] { play(0); }, [=] { play(1); }}};
    };
  }

  /// The first member's run is finished by its owner, or by somebody who looks after it. The second
  /// member has done its part.
  orders::Setup deferred() {
    return [this] {
      begin(RunningAhead::forbidden);
      start(1, 1, nullptr);
      executors_[1]->advance();
      deferred_.emplace(*executors_[0]);
      outcome_.emplace();
      const auto own = [this] {
        deferred_->start(programs_[0], arguments_of(0, 1, nullptr), *outcome_);
        deferred_->advance();
        deferred_->finish();
        require(outcome_->finished.load(std::memory_order_acquire) && !outcome_->error,
                "the run has finished");
        check(0, 1);
        // Nobody else uses the buffers, the outcome and the executor any more.
        inputs_[0][0].fill(0);
        outcome_->error.reset();
        deferred_->start(programs_[0], arguments_of(0, 2, nullptr), *outcome_);
      };
      const auto other = [this] {
        for (int look = 0; look < 2; ++look) deferred_->look_after();
      };
      return orders::Program{{own, other}};
    };
  }

  /// The second member fails in the first call, and both learn why.
  orders::Setup failure() {
    return [this] {
      begin(RunningAhead::forbidden);
      const auto play = [this](std::size_t member, const Error* error) {
        start(member, 1, error);
        const auto failure = await([&] { return failure_of(*executors_[member]); });
        require(failure->what() == std::string_view("no memory"), "all learn why a call fails");
        // Nobody uses the buffers of a call that has failed.
        inputs_[member][0].fill(0);
        outputs_[member][0].fill(0);
      };
      static const Error error(ErrorKind::environment, "no memory");
      return orders::Program{{[=] { play(0, nullptr); }, [=] { play(1, &error); }}};
    };
  }

 private:
  NodeMemory node_memory() { return {block_, static_cast<int>(kMembers), 0, nullptr}; }

  void begin(RunningAhead running_ahead) {
    std::ranges::copy(at_first_, block_.begin());
    memory_.emplace(block_, static_cast<int>(kMembers), 0, nullptr);
    ExecutorOptions options;
    options.topology = &topology_;
    options.member_count = kMembers;
    options.running_ahead = running_ahead;
    for (std::size_t m = 0; m < kMembers; ++m) {
      executors_[m].emplace(*memory_, static_cast<int>(m), std::vector<Endpoint*>{}, nullptr,
                            options);
      for (CallNumber call = 1; call <= kMostCalls; ++call) {
        for (std::size_t i = 0; i < count_; ++i) inputs_[m][call - 1][i] = 0;
        outputs_[m][call - 1].fill(0);
      }
    }
  }

  void start(std::size_t member, CallNumber call, const Error* failure) {
    executors_[member]->start(programs_[member], arguments_of(member, call, failure));
  }

  CallArguments arguments_of(std::size_t member, CallNumber call, const Error* failure) {
    Words& input = inputs_[member][call - 1];
    for (std::size_t i = 0; i < count_; ++i) input[i] = input_of(member, call, i);
    CallArguments arguments;
    arguments.call = call;
    arguments.input = input.data();
    arguments.output = outputs_[member][call - 1].data();
    arguments.reducer.kernel = add;
    arguments.failure = failure;
    return arguments;
  }

  void check(std::size_t member, CallNumber call) const {
    if (member != 0 && collective_ == Collective::reduce) return;
    if (member == 0 && collective_ == Collective::broadcast) return;
    for (std::size_t i = 0; i < count_; ++i) {
      const std::uint64_t of_the_first = input_of(0, call, i);
      const std::uint64_t expected =
          collective_ == Collective::broadcast ? of_the_first : of_the_first + input_of(1, call, i);
      require(outputs_[member][call - 1][i] == expected, "results are right");
    }
  }

  /// What a run fails with, by one who waits.
  static std::optional<RunFailure> failure_of(WorkerExecutor& executor) {
    try {
      if (executor.advance() == WorkerExecutor::Progress::finished) return std::nullopt;
      Waiter waiter{WaitPolicy{}};
      executor.look_for_trouble(waiter);
      executor.advance();
    } catch (const RunFailure& failure) {
      return failure;
    }
    return std::nullopt;
  }

  Collective collective_;
  std::size_t count_;
  std::vector<hycoll::Program> programs_;
  SeparateVector<std::byte> block_ =
      SeparateVector<std::byte>(NodeMemory::block_bytes(static_cast<int>(kMembers), 0));
  std::vector<std::byte> at_first_;
  const Topology topology_ = Topology::synthetic("core:2");
  std::optional<NodeMemory> memory_;
  std::array<std::optional<WorkerExecutor>, kMembers> executors_;
  std::array<std::array<Words, kMostCalls>, kMembers> inputs_{};
  std::array<std::array<Words, kMostCalls>, kMembers> outputs_{};
  std::optional<DeferredRun> deferred_;  // of the first member
  std::optional<DeferredOutcome> outcome_;
};

TEST_CASE("lines: a tag tells that the payload is there") {
  Pair one_line(Collective::allreduce, "lines-recursive-doubling", 1);
  check_orders(
      one_line.calls(2),
      {"WorkerExecutor::part_arrived: load, acquire", "write_lines: store, release"},
      {"NodeMemory::last_failed_call: load, acquire", "WorkerExecutor::announce: store, release"});
  Pair two_lines(Collective::allreduce, "lines-recursive-doubling", 8);
  check_orders(
      two_lines.calls(1),
      {"WorkerExecutor::read_lines: load, acquire", "write_lines: store, release"},
      {"NodeMemory::last_failed_call: load, acquire", "WorkerExecutor::announce: store, release"});
}

TEST_CASE("posts and flags: buffers are read when they are ready, and not afterwards") {
  Pair pair(Collective::allreduce, "single-leader-recursive-doubling", 1);
  check_orders(
      pair.calls(2),
      {"WorkerExecutor::announce: store, release", "WorkerExecutor::post_arrived: load, acquire",
       "WorkerExecutor::try_issue_other: load, acquire",
       "WorkerExecutor::try_issue_other: store, release"},
      {"NodeMemory::last_failed_call: load, acquire", "NodeMemory::leave: store, release"});
}

TEST_CASE("posts let members run ahead only as far as lines are kept") {
  Pair pair(Collective::reduce, "lines-binomial", 1);
  check_orders(
      pair.calls(kMostCalls, RunningAhead::allowed),
      {"WorkerExecutor::announce: store, release", "WorkerExecutor::part_arrived: load, acquire",
       "WorkerExecutor::post_followed: load, acquire", "write_lines: store, release"},
      {"NodeMemory::last_failed_call: load, acquire",
       "WorkerExecutor::post_arrived: load, acquire"});
}

TEST_CASE("a notice is carried by posts and lines") {
  Pair pair(Collective::reduce, "lines-binomial", 1);
  check_orders(
      pair.notice(),
      {"WorkerExecutor::announce: store, release", "WorkerExecutor::part_arrived: load, acquire",
       "WorkerExecutor::post_followed: load, acquire", "write_lines: store, release"},
      {"NodeMemory::last_failed_call: load, acquire",
       "WorkerExecutor::post_arrived: load, acquire"});
}

TEST_CASE("a deferred run: who looks after it, and its owner") {
  Pair pair(Collective::allreduce, "lines-recursive-doubling", 1);
  // The second member's part is there from the start, and no keeper sleeps.
  check_orders(
      pair.deferred(),
      {"DeferredRun::end_locked: store, release (2)", "DeferredRun::finished: load, acquire"},
      {"DeferredRun::end_locked: store, release", "DeferredRun::start: store, seq_cst",
       "NodeMemory::last_failed_call: load, acquire", "WorkerExecutor::announce: store, release",
       "WorkerExecutor::part_arrived: load, acquire", "WorkerExecutor::post_arrived: load, acquire",
       "executor_orders_test::Pair::deferred: load, acquire", "write_lines: store, release"});
}

TEST_CASE("streams go through the broadcast FIFO") {
  Pair pair(Collective::broadcast, "fifo-binomial", 1);
  // The slot is not written again.
  check_orders(
      pair.calls(1), {"FifoSlots::look_at: load, acquire", "FifoSlots::try_write: store, release"},
      {"FifoSlots::release: fetch_sub, acq_rel, its acquire",
       "FifoSlots::release: fetch_sub, acq_rel, its release", "FifoSlots::release: store, release",
       "FifoSlots::try_write: load, acquire", "NodeMemory::last_failed_call: load, acquire",
       "WorkerExecutor::announce: store, release", "WorkerExecutor::post_arrived: load, acquire"});
}

TEST_CASE("a failure: all learn why, and nobody uses the call's buffers afterwards") {
  Pair pair(Collective::allreduce, "single-leader-recursive-doubling", 1);
  check_orders(
      pair.failure(),
      {"NodeMemory::fail: compare_exchange, release", "NodeMemory::have_left: load, acquire",
       "NodeMemory::leave: store, release", "NodeMemory::throw_if_failed: load, acquire",
       "WorkerExecutor::announce: store, release", "WorkerExecutor::post_arrived: load, acquire"},
      {"NodeMemory::fail: store, release", "NodeMemory::have_left: load, acquire (2)",
       "NodeMemory::last_failed_call: load, acquire",
       "WorkerExecutor::awaited_workers_entered: load, acquire",
       "WorkerExecutor::try_issue_other: load, acquire",
       "WorkerExecutor::try_issue_other: store, release"});
}

}  // namespace executor_orders_test
}  // namespace hycoll
