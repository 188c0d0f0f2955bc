// Every algorithm, executed by threads: emulated nodes of one process over an in-process network.
// This is what runs under ThreadSanitizer, which cannot look into MPI.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "collectives/algorithms/registry.h"
#include "core/base/collective_traits.h"
#include "numa/topology/topology.h"
#include "tests/support/collective_reference.h"
#include "tests/support/lines_limit.h"
#include "tests/support/sanitized.h"
#include "tests/threading/bound_slices.h"
#include "tests/threading/mailbox_network.h"
#include "tests/threading/one_core.h"
#include "threading/execution/executor.h"
#include "threading/execution/task_kernels.h"
#include "threading/memory/fifo_slots.h"
#include "threading/memory/node_memory.h"
#include "threading/program/program.h"
#include "threading/program/staging_slices.h"

namespace hycoll {
namespace {

using tests::CollectiveReference;

constexpr std::int32_t kPoison = -123'456;
constexpr int kCalls = 6;
/// On one node members may run ahead, more calls than their lines have sets.
constexpr int kCallsOnOneNode = 20;

/// All workers of all nodes of a schedule, a thread each, several calls in a row without a barrier
/// between them.
class ThreadedRun {
 public:
  ThreadedRun(const Schedule& schedule, const CollectiveReference& reference,
              const TaskKernels* tasks, std::size_t staging_bytes = SIZE_MAX)
      : schedule_(schedule),
        reference_(reference),
        tasks_(tasks),
        network_(schedule.shape.node_count(), schedule.shape.lane_count(),
                 MailboxNetwork::Delivery::alternating) {
    const Shape& shape = schedule.shape;
    const VectorExtent extent{.count = reference.count};
    const BindingOptions options{.element_bytes = sizeof(std::int32_t)};
    const std::size_t limit = slice_limit(schedule, extent, options.element_bytes, staging_bytes);
    for (int node = 0; node < shape.node_count(); ++node) {
      sliced_.push_back(tests::bound_slices(schedule, node, extent, options, limit));
      memories_.push_back(std::make_unique<NodeMemory>(
          shape.node(node).workers, 2 * (sliced_.back().staging_bytes + kSeparationBytes)));
    }
  }

  std::size_t runs_per_call() const { return sliced_.front().run_count; }

  /// The number of wrong elements over all members and calls.
  int run() {
    std::vector<std::thread> threads;
    for (int worker = 0; worker < schedule_.shape.worker_count(); ++worker) {
      threads.emplace_back([this, worker] { work(worker); });
    }
    for (std::thread& thread : threads) thread.join();
    return wrong_;
  }

 private:
  void work(int worker) {
    const Shape& shape = schedule_.shape;
    const int node = shape.node_of_worker(worker);
    const int index = worker - shape.first_worker(node);
    const int member = index < shape.node(node).members ? shape.first_member(node) + index : -1;
    std::vector<Endpoint*> endpoints;
    for (int lane = 0; lane < shape.lane_count(); ++lane) {
      endpoints.push_back(&network_.endpoint(node, lane));
    }
    WorkerExecutor executor(*memories_[static_cast<std::size_t>(node)], index, endpoints, tasks_,
                            {.wait_policy = WaitPolicy::oversubscribed(),
                             .topology = &tests::one_core(),
                             .first_rank = shape.first_member(node),
                             .member_count = shape.node(node).members,
                             .running_ahead = RunningAhead::allowed,
                             .on_timeout = {}});
    std::vector<std::int32_t> input(reference_.input_size(std::max(member, 0)));
    std::vector<std::int32_t> output(member < 0 ? 0 : reference_.output_size(member));
    const int calls = shape.node_count() == 1 ? kCallsOnOneNode : kCalls;
    for (int call = 1; call <= calls; ++call) {
      const bool in_place = call % 2 == 0 && member >= 0 && !has_pairs(reference_.collective);
      const bool is_in_output = member >= 0 && reference_.is_input_in_output(member);
      std::int32_t* source = input.data();
      std::int32_t* result = output.data();
      if (in_place && is_in_output) source = result + reference_.input_begin(member);
      if (in_place && !is_in_output) result = source + reference_.output_begin(member);
      if (member >= 0) {
        output.assign(output.size(), kPoison);
        for (std::size_t i = 0; i < input.size(); ++i) source[i] = element(member, call, i);
      }
      const CallSignature signature{.count = reference_.count, .collective = reference_.collective};
      const SlicedPrograms& sliced = sliced_[static_cast<std::size_t>(node)];
      for (std::size_t run = 0; run < sliced.run_count; ++run) {
        const std::size_t first = run * sliced.displacement_bytes / sizeof(std::int32_t);
        const auto number = static_cast<CallNumber>(call - 1) * sliced.run_count + run + 1;
        // From the second call on they are often like the one before.
        executor.run_like(sliced.program(run, index),
                          {.type = DataType::int32,
                           .op = Operator::sum,
                           .reducer = {.kernel = reduce_kernel(Operator::sum, DataType::int32)},
                           .signature = signature.packed(),
                           .form = 1},
                          number, number, source + first, result + first);
      }
      if (member >= 0) check(result, member, call);
    }
  }

  static std::int32_t element(int member, int call, std::size_t index) {
    return static_cast<std::int32_t>(CollectiveReference::element(member, call, index));
  }

  void check(const std::int32_t* result, int member, int call) {
    const std::size_t size = reference_.output_size(member);
    for (std::size_t i = 0; i < size; ++i) {
      if (result[i] != reference_.expected(member, call, i)) ++wrong_;
    }
  }

  const Schedule& schedule_;
  CollectiveReference reference_;
  const TaskKernels* tasks_;
  std::vector<SlicedPrograms> sliced_;  // by node
  MailboxNetwork network_;
  std::vector<std::unique_ptr<NodeMemory>> memories_;
  std::atomic<int> wrong_{0};
};

tests::Sample sample;

enum class Which { all, grouped };

void run_all(const Shape& shape, std::size_t count, int segments,
             const TaskKernels* tasks = nullptr, Which which = Which::all) {
  for (const Algorithm* algorithm : all_algorithms()) {
    if (!algorithm->serves_shape(shape)) continue;
    if (which == Which::grouped && !algorithm->follows_groups) continue;
    if (!sample.takes_next()) continue;
    CAPTURE(name_of(algorithm->collective));
    CAPTURE(algorithm->name);
    CAPTURE(count);
    CAPTURE(shape.lane_count());
    const int root = has_root(algorithm->collective) ? shape.member_count() - 1 : 0;
    const Schedule schedule = algorithm->generate(shape, segments, root);
    const CollectiveReference reference{.collective = algorithm->collective,
                                        .member_count = shape.member_count(),
                                        .root = root,
                                        .count = count,
                                        .block_counts = {}};
    const std::size_t input_bytes = reference.vector_size() * sizeof(std::int32_t);
    if (tests::too_long_for_lines(schedule, input_bytes)) continue;
    ThreadedRun run(schedule, reference, tasks);
    REQUIRE(run.run() == 0);
  }
}

TEST_CASE("threads of one node, every algorithm") {
  // Each shape with two of the counts.
  constexpr std::array<std::size_t, 6> kCounts = {1, 14, 4000, 13, 15, 700};
  std::size_t next = 0;
  for (const int members : {1, 2, 3, 5}) {
    for (const int lanes : {1, 2, 4}) {
      for (int counts = 0; counts < 2; ++counts) {
        run_all(Shape::uniform(1, members, lanes), kCounts[next++ % kCounts.size()], 1);
      }
    }
  }
}

TEST_CASE("threads in groups, every algorithm that follows them") {
  const Shape pairs = Shape({{5, 5}}, 1).with_groups(Groups({{{2, 2}, {1, 1}}}));
  const Shape deep = Shape({{9, 9}}, 1).with_groups(Groups({{{2, 4}, {1, 1}}, {{4, 2}, {1, 1}}}));
  const Shape nodes = Shape({{6, 6}, {6, 6}}, 1).with_groups(Groups({{{3, 2}}}));
  for (const Shape& shape : {pairs, deep, nodes}) {
    for (const std::size_t count : {1, 15, 700}) run_all(shape, count, 1, nullptr, Which::grouped);
  }
}

TEST_CASE("threads of several emulated nodes, every algorithm") {
  run_all(Shape::uniform(2, 2, 2), 1000, 3);
  run_all(Shape::uniform(3, 2, 1), 77, 1);
  run_all(Shape({{1, 1}, {3, 3}, {2, 2}}, 3), 1000, 2);
  run_all(Shape({{2, 2}, {1, 1}, {2, 2}, {1, 1}, {1, 1}}, 1), 5, 1);
  run_all(Shape({{1, 3}, {1, 2}}, 4), 3001, 1);
}

TEST_CASE("streams of several lanes share a FIFO that is shorter than they are") {
  constexpr std::size_t kCount = 3 * FifoExtent{}.slot_count * FifoExtent{}.slot_bytes / 4 + 3;
  for (const char* name : {"fifo-binomial", "fifo-torus-colours"}) {
    const Algorithm& algorithm = find_algorithm(Collective::broadcast, name);
    for (const Shape& shape : {Shape::uniform(1, 4, 3), Shape({{3, 3}, {1, 1}, {4, 4}}, 4),
                               Shape({{2, 3}, {3, 3}}, 2)}) {
      CAPTURE(name);
      for (const int root : {0, shape.member_count() / 2}) {
        const Schedule schedule = algorithm.generate(shape, 3, root);
        const CollectiveReference reference{.collective = Collective::broadcast,
                                            .member_count = shape.member_count(),
                                            .root = root,
                                            .count = kCount,
                                            .block_counts = {}};
        ThreadedRun run(schedule, reference, nullptr);
        REQUIRE(run.run() == 0);
      }
    }
  }
}

TEST_CASE("threads that use staged schedules, a vector in several runs") {
  std::size_t most_runs = 0;
  for (const Shape& shape : {Shape::uniform(1, 2, 2), Shape::uniform(1, 3, 1), Shape({{1, 3}}, 2),
                             Shape::uniform(2, 2, 2), Shape({{1, 1}, {3, 3}, {2, 2}}, 3)}) {
    for (const Algorithm* algorithm : all_algorithms()) {
      if (!algorithm->serves_shape(shape) || !sample.takes_next()) continue;
      CAPTURE(name_of(algorithm->collective));
      CAPTURE(algorithm->name);
      const int root = has_root(algorithm->collective) ? shape.member_count() - 1 : 0;
      const Schedule schedule =
          algorithm->generate(shape.with_visibility(Visibility::staged), 2, root);
      const CollectiveReference reference{.collective = algorithm->collective,
                                          .member_count = shape.member_count(),
                                          .root = root,
                                          .count = 3000,
                                          .block_counts = {}};
      const std::size_t input_bytes = reference.vector_size() * sizeof(std::int32_t);
      if (tests::too_long_for_lines(schedule, input_bytes)) continue;
      ThreadedRun run(schedule, reference, nullptr, 4096);
      REQUIRE(run.run() == 0);
      most_runs = std::max(most_runs, run.runs_per_call());
    }
  }
  CHECK(most_runs > 2);
}

// libtbb is not instrumented: ThreadSanitizer sees none of its synchronisation and reports every
// task.
#if defined(__SANITIZE_THREAD__)
constexpr bool kSeesTasks = false;
#else
constexpr bool kSeesTasks = true;
#endif

TEST_CASE("large steps are split into tasks" * doctest::skip(!kSeesTasks)) {
  const TaskKernels tasks(Topology::synthetic("core:2"), 1, -1);
  const std::size_t count = 3 * TaskKernels::kMinimumBytes / sizeof(std::int32_t) + 5;
  if (!tests::kIsSanitized) run_all(Shape::uniform(1, 2, 1), count, 1, &tasks);
  run_all(Shape({{1, 1}, {2, 2}}, 1), count, 4, &tasks);
}

TEST_CASE("members that pass different arguments all learn what each passed") {
  const Schedule lines = find_algorithm(Collective::allreduce, "lines-recursive-doubling")
                             .generate(Shape::uniform(1, 2, 1));
  const Schedule direct =
      find_algorithm(Collective::allreduce, "dpml-ring").generate(Shape::uniform(1, 2, 2));
  const Schedule* const pairs[][2] = {{&lines, &lines}, {&direct, &direct}, {&lines, &direct}};
  for (const auto& pair : pairs) {
    NodeMemory memory(2);
    const Topology topology = Topology::synthetic("core:2");
    std::string messages[2];
    std::vector<std::thread> threads;
    for (int worker = 0; worker < 2; ++worker) {
      threads.emplace_back([&, worker] {
        const auto w = static_cast<std::size_t>(worker);
        const std::size_t count = 10 + w;
        const std::vector<Program> programs =
            bind_schedule(*pair[w], 0, {.count = count}, {.element_bytes = 8});
        WorkerExecutor executor(memory, worker, {}, nullptr,
                                {.wait_policy = WaitPolicy::oversubscribed(),
                                 .topology = &topology,
                                 .first_rank = 4,
                                 .on_timeout = {}});
        std::vector<double> buffer(count, 1.0);
        const CallSignature signature{.count = count,
                                      .type_code = static_cast<std::uint8_t>(DataType::float64)};
        try {
          executor.run(programs[w],
                       {.call = 1,
                        .input = buffer.data(),
                        .output = buffer.data(),
                        .reducer = {.kernel = reduce_kernel(Operator::sum, DataType::float64)},
                        .signature = signature.packed()});
        } catch (const Error& error) {
          messages[worker] = error.what();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const std::string& message : messages) {
      CHECK(message.find("rank 4 passed allreduce, count 10, type double, operator sum") !=
            std::string::npos);
      CHECK(message.find("rank 5 passed allreduce, count 11, type double, operator sum") !=
            std::string::npos);
    }
  }
}

TEST_CASE("workers that sleep while they wait are woken by one that comes late") {
  constexpr int kWorkers = 3;
  constexpr std::size_t kCount = 100;
  for (const char* const algorithm : {"dpml-ring", "lines-recursive-doubling"}) {
    const std::vector<Program> programs = bind_schedule(
        find_algorithm(Collective::allreduce, algorithm).generate(Shape::uniform(1, kWorkers, 1)),
        0, {.count = kCount}, {.element_bytes = 8});
    NodeMemory memory(kWorkers);
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int worker = 0; worker < kWorkers; ++worker) {
      threads.emplace_back([&, worker] {
        const WaitPolicy policy = WaitPolicy::oversubscribed().with_rest(WaitPolicy::Rest::sleep);
        WorkerExecutor executor(memory, worker, {}, nullptr,
                                {.wait_policy = policy,
                                 .topology = &tests::one_core(),
                                 .member_count = kWorkers,
                                 .running_ahead = RunningAhead::allowed,
                                 .on_timeout = {}});
        std::vector<double> buffer(kCount);
        for (int call = 1; call <= 30; ++call) {
          buffer.assign(kCount, call + worker);
          if (call % kWorkers == worker) {
            std::this_thread::sleep_for(std::chrono::milliseconds(3));
          }
          executor.run(programs[static_cast<std::size_t>(worker)],
                       {.call = static_cast<CallNumber>(call),
                        .input = buffer.data(),
                        .output = buffer.data(),
                        .reducer = {.kernel = reduce_kernel(Operator::sum, DataType::float64)},
                        .signature = {}});
          if (buffer != std::vector<double>(kCount, 3 * call + 3)) ++wrong;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == 0);
  }
}

/// Two members of one node in one thread, member 1 the root of a reduce through lines.
class TwoMembers {
 public:
  TwoMembers() {
    for (int worker = 0; worker < 2; ++worker) {
      executors_.push_back(
          std::make_unique<WorkerExecutor>(memory_, worker, std::vector<Endpoint*>{}, nullptr,
                                           ExecutorOptions{.wait_policy = {},
                                                           .topology = &tests::one_core(),
                                                           .member_count = 2,
                                                           .running_ahead = RunningAhead::allowed,
                                                           .on_timeout = {}}));
    }
  }

  void start(int worker, CallNumber call, std::size_t count) {
    const auto w = static_cast<std::size_t>(worker);
    inputs_[w].assign(4, static_cast<double>(10 * call + w));
    const CallSignature signature{.count = count, .collective = Collective::reduce, .detail = 1};
    executors_[w]->start(programs_of(count)[w],
                         {.call = call,
                          .input = inputs_[w].data(),
                          .output = &output_,
                          .reducer = {.kernel = reduce_kernel(Operator::sum, DataType::float64)},
                          .signature = signature.packed()});
  }
  bool finishes(int worker) {
    for (int turn = 0; turn < 10; ++turn) {
      const auto progress = executors_[static_cast<std::size_t>(worker)]->advance();
      if (progress == WorkerExecutor::Progress::finished) return true;
    }
    return false;
  }
  /// And what the worker does of what it has found then.
  void slow_turn(int worker) {
    Waiter waiter{WaitPolicy{}};
    executors_[static_cast<std::size_t>(worker)]->slow_turn(waiter);
    executors_[static_cast<std::size_t>(worker)]->advance();
  }
  double output() const { return output_[0]; }

 private:
  std::vector<Program>& programs_of(std::size_t count) {
    std::vector<Program>& programs = programs_[count];
    if (programs.empty()) {
      programs = bind_schedule(schedule_, 0, {.count = count}, {.element_bytes = sizeof(double)});
    }
    return programs;
  }

  Schedule schedule_ =
      find_algorithm(Collective::reduce, "lines-binomial").generate(Shape::uniform(1, 2, 1), 1, 1);
  NodeMemory memory_{2};
  std::map<std::size_t, std::vector<Program>> programs_;
  std::vector<std::unique_ptr<WorkerExecutor>> executors_;
  std::vector<double> inputs_[2];
  double output_[4] = {};
};

TEST_CASE("a member leaves the first call of its kind only after the others have entered") {
  TwoMembers members;
  members.start(0, 1, 1);
  CHECK_FALSE(members.finishes(0));
  members.start(1, 1, 1);
  CHECK(members.finishes(0));
  CHECK(members.finishes(1));
  members.start(0, 2, 2);
  CHECK_FALSE(members.finishes(0));
}

TEST_CASE("a member that has run ahead learns of a failure at the end of a later call") {
  TwoMembers members;
  members.start(0, 1, 3);
  members.start(1, 1, 3);
  REQUIRE(members.finishes(0));
  REQUIRE(members.finishes(1));
  for (const CallNumber call : {2, 3}) {
    members.start(0, call, 3);
    REQUIRE(members.finishes(0));
  }
  members.start(1, 2, 3);
  REQUIRE(members.finishes(1));
  CHECK(members.output() == 41);
  members.start(1, 3, 4);
  CHECK_FALSE(members.finishes(1));
  CHECK_THROWS_WITH_AS(members.slow_turn(1), doctest::Contains("call 3: rank 1 passed"), Error);
  members.start(0, 4, 3);
  CHECK_THROWS_WITH_AS(members.finishes(0), doctest::Contains("call 3: rank 1 passed"), Error);
  members.start(1, 4, 3);
  REQUIRE(members.finishes(1));
  CHECK(members.output() == 81);
  members.start(0, 5, 3);
  CHECK(members.finishes(0));
  members.start(1, 5, 3);
  CHECK(members.finishes(1));
  CHECK(members.output() == 101);
}

TEST_CASE("after a failure a member waits for the others again") {
  TwoMembers members;
  for (const CallNumber call : {1, 2}) {
    members.start(0, call, 3);
    members.start(1, call, call == 1 ? 3 : 4);
    CHECK(members.finishes(0));
    if (call == 1) CHECK(members.finishes(1));
  }
  CHECK_FALSE(members.finishes(1));
  CHECK_THROWS_AS(members.slow_turn(1), Error);
  // Again both make the call that they made last. Somebody must notice that they differ.
  members.start(1, 3, 4);
  members.start(0, 3, 3);
  CHECK_THROWS_AS(members.finishes(0), Error);  // of call 2
  CHECK_FALSE(members.finishes(1));
  CHECK_THROWS_WITH_AS(members.slow_turn(1), doctest::Contains("call 3: rank 1 passed"), Error);
}

}  // namespace
}  // namespace hycoll
