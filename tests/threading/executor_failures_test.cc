// Runs that fail, in random interleavings of single steps: whoever has left one may do with its
// buffers what it wants, nobody waits for ever, and the next run is as good as ever (decision 27).

#include <doctest/doctest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "collectives/algorithms/registry.h"
#include "core/base/errors.h"
#include "core/schedule/schedule.h"
#include "tests/support/collective_reference.h"
#include "tests/support/lines_limit.h"
#include "tests/support/sanitized.h"
#include "tests/support/seed.h"
#include "tests/threading/mailbox_network.h"
#include "tests/threading/one_core.h"
#include "threading/execution/executor.h"
#include "threading/memory/node_memory.h"
#include "threading/program/program.h"
#include "threading/program/schedule_binding.h"

namespace hycoll {
namespace executor_failures_test {

using Delivery = MailboxNetwork::Delivery;
using tests::CollectiveReference;

constexpr int kFailingCall = 2;
/// Who has run ahead learns of a failure after as many calls.
constexpr int kCalls = kFailingCall + static_cast<int>(kMaximumLead) + 4;
constexpr std::int64_t kPoison = -7'777'777;

/// Elements in pages of their own. Whoever touches them while they are closed ends the test.
class Pages {
 public:
  explicit Pages(std::size_t count) : size_bytes_((count + 1) * sizeof(std::int64_t)) {
    memory_ =
        mmap(nullptr, size_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(memory_ != MAP_FAILED);
    close();
  }
  ~Pages() { munmap(memory_, size_bytes_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  void open() { mprotect(memory_, size_bytes_, PROT_READ | PROT_WRITE); }
  void close() { mprotect(memory_, size_bytes_, PROT_NONE); }
  std::int64_t* data() { return static_cast<std::int64_t*>(memory_); }

 private:
  std::size_t size_bytes_;
  void* memory_;
};

/// What goes wrong in one call of several.
struct Fault {
  enum class Kind {
    local,         ///< A worker cannot go on.
    other_nodes,   ///< Every other node passes a cache line more.
    other_member,  ///< A member passes a cache line more than the others of its node.
  };
  Kind kind;
  std::size_t worker = 0;
  int steps_before = 0;  ///< Of the worker, where it cannot go on.
};

struct Outcomes {
  int right = 0;
  int wrong = 0;
  int failed = 0;      ///< Runs that ended with a failure of their own.
  int reported = 0;    ///< Those that ended with one of an earlier run.
  int unexpected = 0;  ///< Failures of calls in which nothing has gone wrong.
};

/// All workers of emulated nodes, which make some calls of one kind.
class Nodes {
 public:
  Nodes(const Schedule& schedule, const CollectiveReference& reference, Delivery delivery);

  /// Makes the calls, with the fault in one of them.
  Outcomes run(const Fault& fault, std::uint64_t seed);

 private:
  struct Worker {
    int node = 0;
    int index = 0;    ///< On the node.
    int member = -1;  ///< -1: it owns none.
    std::unique_ptr<WorkerExecutor> executor;
    std::unique_ptr<Pages> pages;
    std::int64_t* input = nullptr;
    std::int64_t* output = nullptr;
    int calls_left = 0;
    bool is_in_call = false;
    int steps_taken = 0;
  };

  void add_workers(int node);
  const Program& program(const Worker& worker, std::size_t count);
  std::size_t count_of(const Worker& worker, std::size_t number) const;
  CollectiveReference of_count(std::size_t count) const;
  void enter(Worker& worker, std::size_t number);
  void leave(Worker& worker, const std::optional<RunFailure>& failure);
  /// Whether anything has happened.
  bool step(Worker& worker, std::size_t number, bool looks);
  [[noreturn]] void report_standstill() const;

  const Schedule& schedule_;
  const CollectiveReference& reference_;
  MailboxNetwork network_;
  std::map<std::pair<int, std::size_t>, std::vector<Program>> programs_;  // by node and count
  std::vector<std::unique_ptr<NodeMemory>> memories_;
  std::vector<Worker> workers_;
  Fault fault_{};
  Outcomes outcomes_;
};

/// By how much counts differ.
constexpr std::size_t kLine = kCacheLineBytes / sizeof(std::int64_t);

Nodes::Nodes(const Schedule& schedule, const CollectiveReference& reference, Delivery delivery)
    : schedule_(schedule),
      reference_(reference),
      network_(schedule.shape.node_count(), schedule.shape.lane_count(), delivery) {
  for (int node = 0; node < schedule.shape.node_count(); ++node) add_workers(node);
}

void Nodes::add_workers(int node) {
  const Shape& shape = schedule_.shape;
  for (const std::size_t count : {reference_.count, reference_.count + kLine}) {
    programs_[{node, count}] =
        bind_schedule(schedule_, node, {.count = count}, {.element_bytes = sizeof(std::int64_t)});
  }
  std::size_t staging_bytes = 0;
  for (const Program& program : programs_[{node, reference_.count + kLine}]) {
    staging_bytes = std::max(staging_bytes, program.staging_bytes);
  }
  memories_.push_back(std::make_unique<NodeMemory>(shape.node(node).workers,
                                                   2 * (staging_bytes + kSeparationBytes)));
  std::vector<Endpoint*> endpoints;
  for (int lane = 0; lane < shape.lane_count(); ++lane) {
    endpoints.push_back(&network_.endpoint(node, lane));
  }
  const ExecutorOptions options{
      .wait_policy = {},
      .topology = &tests::one_core(),
      .first_rank = shape.first_member(node),
      .member_count = shape.node(node).members,
      .running_ahead = shape.node_count() == 1 ? RunningAhead::allowed : RunningAhead::forbidden,
      .on_timeout = {}};
  for (int w = 0; w < shape.node(node).workers; ++w) {
    Worker& worker = workers_.emplace_back();
    worker.node = node;
    worker.index = w;
    worker.executor =
        std::make_unique<WorkerExecutor>(*memories_.back(), w, endpoints, nullptr, options);
    if (w >= shape.node(node).members) continue;
    worker.member = shape.first_member(node) + w;
    const CollectiveReference longest = of_count(reference_.count + kLine);
    worker.pages = std::make_unique<Pages>(longest.input_size(worker.member) +
                                           longest.output_size(worker.member));
    worker.input = worker.pages->data();
    worker.output = worker.input + longest.input_size(worker.member);
  }
}

const Program& Nodes::program(const Worker& worker, std::size_t count) {
  return programs_.at({worker.node, count})[static_cast<std::size_t>(worker.index)];
}

CollectiveReference Nodes::of_count(std::size_t count) const {
  CollectiveReference reference = reference_;
  reference.count = count;
  return reference;
}

std::size_t Nodes::count_of(const Worker& worker, std::size_t number) const {
  const bool differs = worker.calls_left == kFailingCall &&
                       ((fault_.kind == Fault::Kind::other_nodes && worker.node % 2 == 1) ||
                        (fault_.kind == Fault::Kind::other_member && number == fault_.worker));
  return reference_.count + (differs ? kLine : 0);
}

void Nodes::enter(Worker& worker, std::size_t number) {
  const std::size_t count = count_of(worker, number);
  const CollectiveReference reference = of_count(count);
  const CallSignature signature{.count = count,
                                .collective = *collective_named(schedule_.collective.name),
                                .type_code = static_cast<std::uint8_t>(DataType::int64),
                                .detail = static_cast<std::uint32_t>(schedule_.root)};
  CallArguments arguments{.call = static_cast<CallNumber>(worker.calls_left) + 1,
                          .type = DataType::int64,
                          .reducer = {.kernel = reduce_kernel(Operator::sum, DataType::int64)},
                          .signature = signature.packed()};
  if (worker.member >= 0) {
    worker.pages->open();
    for (std::size_t i = 0; i < reference.input_size(worker.member); ++i) {
      worker.input[i] = CollectiveReference::element(worker.member, worker.calls_left, i);
    }
    std::fill_n(worker.output, reference.output_size(worker.member), kPoison);
    arguments.input = worker.input;
    arguments.output = worker.output;
  }
  worker.executor->start(program(worker, count), arguments);
  worker.is_in_call = true;
  worker.steps_taken = 0;
}

void Nodes::leave(Worker& worker, const std::optional<RunFailure>& failure) {
  const bool is_failing_call = worker.calls_left == kFailingCall;
  const bool has_result = !failure || failure->scope() == RunFailure::Scope::earlier_run;
  if (!has_result) ++outcomes_.failed;
  if (failure && has_result) ++outcomes_.reported;
  if (!has_result && !is_failing_call) ++outcomes_.unexpected;
  if (worker.member >= 0) {
    // Where nodes pass different counts, what they get is not defined.
    const bool is_defined = !is_failing_call || fault_.kind == Fault::Kind::local;
    const std::size_t size = has_result && is_defined ? reference_.output_size(worker.member) : 0;
    for (std::size_t i = 0; i < size; ++i) {
      const bool is_right =
          worker.output[i] == reference_.expected(worker.member, worker.calls_left, i);
      ++(is_right ? outcomes_.right : outcomes_.wrong);
    }
    worker.pages->close();
  }
  worker.is_in_call = false;
  ++worker.calls_left;
}

bool Nodes::step(Worker& worker, std::size_t number, bool looks) {
  if (!worker.is_in_call) {
    enter(worker, number);
    return true;
  }
  if (fault_.kind == Fault::Kind::local && number == fault_.worker &&
      worker.calls_left == kFailingCall && worker.steps_taken == fault_.steps_before) {
    worker.executor->fail(Error(ErrorKind::environment, "something was refused"));
  }
  ++worker.steps_taken;
  try {
    if (looks) {
      Waiter waiter{WaitPolicy{}};
      worker.executor->look_for_trouble(waiter);
    }
    const WorkerExecutor::Progress progress = worker.executor->advance(1);
    if (progress == WorkerExecutor::Progress::finished) leave(worker, std::nullopt);
    return progress != WorkerExecutor::Progress::blocked;
  } catch (const RunFailure& failure) {
    leave(worker, failure);
    return true;
  }
}

void Nodes::report_standstill() const {
  std::string text = "nobody can go on:";
  for (const Worker& worker : workers_) {
    if (worker.is_in_call) text += " [" + worker.executor->describe_wait() + "]";
  }
  throw Error(ErrorKind::timeout, text);
}

Outcomes Nodes::run(const Fault& fault, std::uint64_t seed) {
  fault_ = fault;
  outcomes_ = {};
  std::mt19937_64 random(seed);
  std::vector<std::size_t> running(workers_.size());
  for (std::size_t w = 0; w < running.size(); ++w) running[w] = w;
  std::size_t idle_turns = 0;
  while (!running.empty()) {
    const std::size_t chosen = random() % running.size();
    Worker& worker = workers_[running[chosen]];
    const bool happened = step(worker, running[chosen], random() % 8 == 0);
    idle_turns = happened ? 0 : idle_turns + 1;
    if (worker.calls_left == kCalls) {
      running[chosen] = running.back();
      running.pop_back();
    }
    if (idle_turns > 1000 * workers_.size()) report_standstill();
  }
  return outcomes_;
}

bool is_native(const Schedule& schedule) {
  return std::ranges::any_of(schedule.strands, [](const Strand& strand) {
    return std::ranges::any_of(strand.steps,
                               [](const Step& step) { return step.kind == StepKind::native; });
  });
}

/// So many elements that every chunk has some, and one line more changes one of them only.
std::size_t count_for(const Schedule& schedule) {
  const auto chunks = static_cast<std::size_t>(schedule.chunk_count);
  const auto members = static_cast<std::size_t>(schedule.shape.member_count());
  return kLine * (has_blocks(schedule.collective) ? chunks / members : chunks);
}

tests::Sample sample;

/// Calls body(algorithm, nodes, fault) for every algorithm that serves the shape.
template <class Body>
void with_all_algorithms(const Shape& shape, std::uint64_t seed, const Body& body) {
  seed += tests::seed_offset();
  for (const Algorithm* algorithm : all_algorithms()) {
    if (!algorithm->serves_shape(shape.with_visibility(Visibility::direct))) continue;
    if (!sample.takes_next()) continue;
    CAPTURE(name_of(algorithm->collective));
    CAPTURE(algorithm->name);
    CAPTURE(shape.node_count());
    CAPTURE(shape.member_count());
    CAPTURE(shape.lane_count());
    CAPTURE(seed);
    const int members = shape.member_count();
    const int root = has_root(algorithm->collective)
                         ? static_cast<int>(seed % static_cast<std::uint64_t>(members))
                         : 0;
    const Schedule schedule = algorithm->generate(shape, 2, root);
    if (is_native(schedule)) continue;
    const CollectiveReference reference{.collective = algorithm->collective,
                                        .member_count = members,
                                        .root = root,
                                        .count = count_for(schedule),
                                        .block_counts = {}};
    if (tests::too_long_for_lines(schedule, 2 * reference.vector_size() * sizeof(std::int64_t))) {
      continue;
    }
    Nodes nodes(schedule, reference, static_cast<Delivery>(seed % 3));
    Outcomes outcomes;
    REQUIRE_NOTHROW(outcomes = body(nodes, ++seed));
    CHECK(outcomes.wrong == 0);
    CHECK(outcomes.unexpected == 0);
  }
}

std::vector<Shape> shapes() {
  std::vector<Shape> shapes;
  for (const Visibility visibility : {Visibility::direct, Visibility::staged}) {
    for (const int lanes : {1, 2, 3}) {
      for (const std::vector<Node>& nodes : std::vector<std::vector<Node>>{
               {{3, 3}}, {{2, 2}, {2, 2}}, {{1, 1}, {3, 3}, {2, 2}}, {{2, 3}, {1, 2}}}) {
        shapes.push_back(Shape(nodes, lanes).with_visibility(visibility));
      }
    }
  }
  return shapes;
}

TEST_CASE("a worker that cannot go on fails its run for all of its node and for the other nodes") {
  int failed = 0;
  std::uint64_t first_seed = 0;
  for (const Shape& shape : shapes()) {
    with_all_algorithms(shape, ++first_seed, [&](Nodes& nodes, std::uint64_t seed) {
      const Fault fault{.kind = Fault::Kind::local,
                        .worker = seed % static_cast<std::uint64_t>(shape.worker_count()),
                        .steps_before = static_cast<int>(seed / 5 % 9)};
      const Outcomes outcomes = nodes.run(fault, seed);
      failed += outcomes.failed;
      return outcomes;
    });
  }
  CHECK(failed > (tests::kIsSanitized ? 10 : 100));
}

TEST_CASE("nodes whose counts differ all fail, or do not need what differs") {
  int failed = 0;
  std::uint64_t first_seed = 0;
  for (const Shape& shape : shapes()) {
    if (shape.node_count() == 1) continue;
    with_all_algorithms(shape, ++first_seed, [&](Nodes& nodes, std::uint64_t seed) {
      const Outcomes outcomes = nodes.run({.kind = Fault::Kind::other_nodes}, seed);
      failed += outcomes.failed;
      return outcomes;
    });
  }
  CHECK(failed > (tests::kIsSanitized ? 10 : 100));
}

TEST_CASE("members of a node that pass different counts all learn of it") {
  std::uint64_t first_seed = 0;
  for (const int lanes : {1, 2}) {
    for (const Visibility visibility : {Visibility::direct, Visibility::staged}) {
      const Shape shape = Shape::uniform(1, 3, lanes).with_visibility(visibility);
      with_all_algorithms(shape, ++first_seed, [&](Nodes& nodes, std::uint64_t seed) {
        const Outcomes outcomes =
            nodes.run({.kind = Fault::Kind::other_member, .worker = seed % 3}, seed);
        CHECK(outcomes.failed + outcomes.reported == 3);
        return outcomes;
      });
    }
  }
}

}  // namespace executor_failures_test
}  // namespace hycoll
