// Deferred runs and who looks after them, on emulated nodes without MPI. Runs under
// ThreadSanitizer.

#include "threading/execution/deferred_run.h"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "collectives/algorithms/registry.h"
#include "numa/topology/topology.h"
#include "tests/support/collective_reference.h"
#include "tests/threading/mailbox_network.h"
#include "threading/execution/executor.h"
#include "threading/memory/node_memory.h"
#include "threading/program/program.h"
#include "threading/program/schedule_binding.h"

namespace hycoll {
namespace deferred_run_test {

using tests::CollectiveReference;

/// What every worker does with its run, besides starting it.
enum class Habit {
  finishes,      ///< Asks for the result at once.
  polls,         ///< Looks from time to time.
  leaves_alone,  ///< Waits until the run has been finished by somebody else.
};

/// A member with a worker on an emulated node: what a process has, per thread.
struct Worker {
  Worker(NodeMemory& memory, int index, int rank, std::vector<Endpoint*> endpoints,
         const Topology& topology, const ExecutorOptions& options)
      : member(rank), executor(memory, index, std::move(endpoints), nullptr, [&] {
          ExecutorOptions own = options;
          own.wait_policy = WaitPolicy::oversubscribed();
          own.topology = &topology;
          own.first_rank = rank - index;
          own.member_count = memory.worker_count();
          return own;
        }()) {}

  int member;
  WorkerExecutor executor;
  DeferredRun deferred{executor};
  DeferredOutcome outcome;
  std::vector<std::int32_t> input;
  std::vector<std::int32_t> output;
};

/// Emulated nodes, each with a keeper, as processes have them.
class Machine {
 public:
  explicit Machine(const Shape& shape, const ExecutorOptions& options = {})
      : shape_(shape),
        network_(shape.node_count(), shape.lane_count(), MailboxNetwork::Delivery::alternating) {
    for (int node = 0; node < shape.node_count(); ++node) {
      memories_.push_back(std::make_unique<NodeMemory>(shape.node(node).workers));
      std::vector<LookedAfter*> runs;
      for (int index = 0; index < shape.node(node).workers; ++index) {
        std::vector<Endpoint*> endpoints;
        for (int lane = 0; lane < shape.lane_count(); ++lane) {
          endpoints.push_back(&network_.endpoint(node, lane));
        }
        workers_.push_back(std::make_unique<Worker>(*memories_.back(), index,
                                                    shape.first_member(node) + index, endpoints,
                                                    topology_, options));
        runs.push_back(&workers_.back()->deferred);
      }
      keepers_.push_back(std::make_unique<ProgressKeeper>(std::move(runs)));
    }
  }

  const Shape& shape() const { return shape_; }
  Worker& worker(int w) { return *workers_[static_cast<std::size_t>(w)]; }
  int worker_count() const { return static_cast<int>(workers_.size()); }
  NodeMemory& memory(int node) { return *memories_[static_cast<std::size_t>(node)]; }

  /// Starts a worker's part of an allreduce.
  void start(int w, const Program& program, std::size_t count, CallNumber call) {
    Worker& own = worker(w);
    own.input.resize(count);
    for (std::size_t i = 0; i < count; ++i) own.input[i] = element(own.member, call, i);
    own.output.assign(count, kPoison);
    const CallSignature signature{.count = count};
    own.deferred.start(program,
                       {.call = call,
                        .input = own.input.data(),
                        .output = own.output.data(),
                        .type = DataType::int32,
                        .op = Operator::sum,
                        .reducer = {.kernel = reduce_kernel(Operator::sum, DataType::int32)},
                        .signature = signature.packed()},
                       own.outcome);
    if (!own.deferred.finished()) {
      keepers_[static_cast<std::size_t>(shape_.node_of_worker(w))]->watch();
    }
  }

  /// The number of wrong elements that a worker got.
  int wrong(int w, CallNumber call) {
    const Worker& own = worker(w);
    int count = own.outcome.error ? 1 : 0;
    for (std::size_t i = 0; i < own.output.size(); ++i) {
      std::int32_t sum = 0;
      for (int member = 0; member < shape_.member_count(); ++member)
        sum += element(member, call, i);
      if (own.output[i] != sum) ++count;
    }
    return count;
  }

 private:
  static constexpr std::int32_t kPoison = -123'456;

  static std::int32_t element(int member, CallNumber call, std::size_t index) {
    return static_cast<std::int32_t>(
        CollectiveReference::element(member, static_cast<int>(call), index));
  }

  Shape shape_;
  Topology topology_ = Topology::synthetic("core:4");
  MailboxNetwork network_;
  std::vector<std::unique_ptr<NodeMemory>> memories_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::unique_ptr<ProgressKeeper>> keepers_;  // last: their threads use the others
};

/// An allreduce's programs of all nodes.
std::vector<std::vector<Program>> programs_of(const char* algorithm, const Shape& shape,
                                              std::size_t count) {
  const Schedule schedule = find_algorithm(Collective::allreduce, algorithm).generate(shape);
  std::vector<std::vector<Program>> programs;
  for (int node = 0; node < shape.node_count(); ++node) {
    programs.push_back(
        bind_schedule(schedule, node, {.count = count}, {.element_bytes = sizeof(std::int32_t)}));
  }
  return programs;
}

void settle(Worker& worker, Habit habit) {
  switch (habit) {
    case Habit::finishes:
      worker.deferred.finish();
      break;
    case Habit::polls:
      while (!worker.outcome.finished.load(std::memory_order_acquire)) {
        worker.deferred.advance();
        std::this_thread::yield();
      }
      break;
    case Habit::leaves_alone:
      while (!worker.outcome.finished.load(std::memory_order_acquire)) {
        std::this_thread::sleep_for(std::chrono::microseconds(200));
      }
      break;
  }
}

/// A thread per worker, calls in a row, with habits that differ between workers and calls.
int wrong_elements(const char* algorithm, const Shape& shape, std::size_t count, int calls,
                   bool all_alone) {
  Machine machine(shape);
  const auto programs = programs_of(algorithm, shape, count);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int w = 0; w < machine.worker_count(); ++w) {
    threads.emplace_back([&, w] {
      const int node = shape.node_of_worker(w);
      const Program& program = programs[static_cast<std::size_t>(node)]
                                       [static_cast<std::size_t>(w - shape.first_worker(node))];
      for (int call = 1; call <= calls; ++call) {
        const auto number = static_cast<CallNumber>(call);
        machine.start(w, program, count, number);
        settle(machine.worker(w),
               all_alone ? Habit::leaves_alone : static_cast<Habit>((w + call) % 3));
        // Whoever has settled the run, the next one may start at once.
        while (!machine.worker(w).deferred.finished()) std::this_thread::yield();
        wrong += machine.wrong(w, number);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return wrong;
}

const Shape kShapes[] = {Shape::uniform(1, 3, 1), Shape::uniform(3, 1, 1), Shape::uniform(5, 1, 1),
                         Shape({{2, 2}, {1, 1}, {3, 3}}, 1)};

TEST_CASE("runs are finished by their callers, or by the keepers of their nodes") {
  for (const Shape& shape : kShapes) {
    CAPTURE(shape.node_count());
    for (const char* algorithm : {"lines-recursive-doubling", "dpml-recursive-doubling"}) {
      CAPTURE(algorithm);
      for (const std::size_t count : {std::size_t{1}, std::size_t{300}}) {
        CHECK(wrong_elements(algorithm, shape, count, 40, false) == 0);
      }
    }
  }
}

TEST_CASE("runs that are left alone on all nodes are finished by the keepers") {
  for (const Shape& shape : kShapes) {
    CHECK(wrong_elements("lines-recursive-doubling", shape, 20, 5, true) == 0);
  }
}

TEST_CASE("a keeper that has gone to sleep wakes up for the next run") {
  const Shape shape = Shape::uniform(3, 1, 1);
  const auto programs = programs_of("lines-recursive-doubling", shape, 4);
  Machine machine(shape);
  for (CallNumber call = 1; call <= 3; ++call) {
    // Longer than a keeper stays awake with nothing to do.
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
    for (int w = 0; w < 3; ++w) {
      machine.start(w, programs[static_cast<std::size_t>(w)].front(), 4, call);
    }
    for (int w = 0; w < 3; ++w) {
      settle(machine.worker(w), Habit::leaves_alone);
      CHECK(machine.wrong(w, call) == 0);
    }
  }
}

TEST_CASE("a keeper that nobody has called ends at once, and so does one that sleeps") {
  Machine unused(Shape::uniform(2, 1, 1));
  const Shape shape = Shape::uniform(2, 1, 1);
  const auto programs = programs_of("lines-recursive-doubling", shape, 4);
  Machine used(shape);
  for (int w = 0; w < 2; ++w) used.start(w, programs[static_cast<std::size_t>(w)].front(), 4, 1);
  for (int w = 0; w < 2; ++w) settle(used.worker(w), Habit::finishes);
  std::this_thread::sleep_for(std::chrono::milliseconds(150));
}

TEST_CASE("several threads may go on with one run") {
  const Shape shape = Shape::uniform(3, 1, 1);
  const auto programs = programs_of("lines-recursive-doubling", shape, 50);
  Machine machine(shape);
  std::atomic<int> wrong{0};
  for (CallNumber call = 1; call <= 30; ++call) {
    std::vector<std::thread> threads;
    for (int w = 0; w < 3; ++w) {
      machine.start(w, programs[static_cast<std::size_t>(w)].front(), 50, call);
    }
    for (int w = 0; w < 3; ++w) {
      // As a pool does, for a call that is to come after this one.
      threads.emplace_back([&, w] { machine.worker(w).deferred.finish(); });
    }
    for (int w = 0; w < 3; ++w) {
      settle(machine.worker(w), call % 2 == 0 ? Habit::polls : Habit::finishes);
    }
    for (std::thread& thread : threads) thread.join();
    for (int w = 0; w < 3; ++w) wrong += machine.wrong(w, call);
  }
  CHECK(wrong == 0);
}

/// Two members of a node start calls that do not fit together; whether both met the error.
bool both_meet_mismatch(const char* algorithm, Habit habit) {
  const Shape shape = Shape::uniform(1, 2, 1);
  Machine machine(shape);
  const auto short_programs = programs_of(algorithm, shape, 10);
  const auto long_programs = programs_of(algorithm, shape, 11);
  machine.start(0, short_programs.front()[0], 10, 1);
  machine.start(1, long_programs.front()[1], 11, 1);
  std::thread other([&] { settle(machine.worker(1), habit); });
  settle(machine.worker(0), habit);
  other.join();
  bool both = true;
  for (int w = 0; w < 2; ++w) {
    const auto& error = machine.worker(w).outcome.error;
    both = both && error && error->kind() == ErrorKind::mismatch;
  }
  return both;
}

TEST_CASE("members that start different calls all get the error, however they wait") {
  for (const char* algorithm : {"lines-recursive-doubling", "dpml-recursive-doubling"}) {
    for (const Habit habit : {Habit::finishes, Habit::polls, Habit::leaves_alone}) {
      CAPTURE(algorithm);
      CAPTURE(static_cast<int>(habit));
      CHECK(both_meet_mismatch(algorithm, habit));
    }
  }
}

TEST_CASE("a member that never arrives is reported, however the others wait") {
  for (const Habit habit : {Habit::finishes, Habit::polls, Habit::leaves_alone}) {
    CAPTURE(static_cast<int>(habit));
    const Shape shape = Shape::uniform(1, 2, 1);
    ExecutorOptions options;
    options.timeout = std::chrono::milliseconds(20);
    options.on_timeout = [](const std::string& message) {
      throw Error(ErrorKind::timeout, message);
    };
    Machine machine(shape, options);
    const auto programs = programs_of("lines-recursive-doubling", shape, 10);
    machine.start(0, programs.front()[0], 10, 1);
    settle(machine.worker(0), habit);
    const auto& error = machine.worker(0).outcome.error;
    REQUIRE(error.has_value());
    CHECK(std::string(error->what()).find("rank 1 has not arrived") != std::string::npos);
  }
}

}  // namespace deferred_run_test
}  // namespace hycoll
