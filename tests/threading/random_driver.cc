#include "tests/threading/random_driver.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "core/base/errors.h"
#include "tests/threading/one_core.h"
#include "threading/execution/executor.h"
#include "threading/memory/node_memory.h"
#include "threading/program/program.h"
#include "threading/program/schedule_binding.h"
#include "threading/program/staging_slices.h"

namespace hycoll {
namespace {

/// One worker, and how far it is.
struct Worker {
  int node;
  int index;   ///< On the node.
  int member;  ///< -1: it owns none.
  std::unique_ptr<WorkerExecutor> executor;
  int calls_entered = 0;
  int calls_left = 0;
  std::size_t run = 0;  ///< Of the current call.
  RandomDriver::Buffers buffers{nullptr, nullptr};
};

}  // namespace

struct RandomDriver::State {
  DataType type;
  Operator op;
  CallSignature signature;
  MailboxNetwork network;
  std::vector<std::unique_ptr<NodeMemory>> memories;
  std::vector<SlicedPrograms> sliced;  // by node
  std::vector<Worker> workers;
  int calls_before = 0;  ///< In earlier calls of run().

  void add_workers(const Shape& shape, int node);
  /// Enters the next run of the worker's call.
  void start(Worker& worker);
  /// One step of one worker. Returns whether anything happened.
  bool step(Worker& worker, int call_count, const Callbacks& callbacks);
  [[noreturn]] void report_deadlock(int call_count) const;
};

RandomDriver::RandomDriver(const Schedule& schedule, const VectorExtent& extent, DataType type,
                           Operator op, MailboxNetwork::Delivery delivery, StagingLimit limit)
    : state_(new State{.type = type,
                       .op = op,
                       .signature = {.count = extent.count,
                                     .type_code = static_cast<std::uint8_t>(type),
                                     .op_code = static_cast<std::uint8_t>(op),
                                     .detail = static_cast<std::uint32_t>(schedule.root)},
                       .network = MailboxNetwork(schedule.shape.node_count(),
                                                 schedule.shape.lane_count(), delivery),
                       .memories = {},
                       .sliced = {},
                       .workers = {}}) {
  const BindingOptions options{.element_bytes = size_of(type),
                               .short_staging_bytes = limit.short_bytes,
                               .tag_count = state_->network.endpoint(0, 0).tag_count()};
  const StagingUse use(schedule);
  const std::size_t slice = slice_limit(use, extent, options.element_bytes, limit.bytes);
  for (int node = 0; node < schedule.shape.node_count(); ++node) {
    // Bound to a vector of the same form before, most often, as calls of ever other lengths are.
    const ScheduleBinding binding(schedule, node, options);
    BindingMemory memory;
    const auto less = [](std::size_t count) { return count - std::min<std::size_t>(count, 1); };
    VectorExtent shorter{.count = less(extent.count)};
    std::vector<std::size_t> blocks;
    for (const std::size_t count : extent.block_counts) blocks.push_back(less(count));
    shorter.block_counts = blocks;
    SlicedPrograms& sliced = state_->sliced.emplace_back();
    bind_slices(binding, shorter, options.element_bytes, slice, {}, memory, sliced);
    bind_slices(binding, extent, options.element_bytes, slice, {}, memory, sliced);
    state_->add_workers(schedule.shape, node);
  }
}

void RandomDriver::State::add_workers(const Shape& shape, int node) {
  const int worker_count = shape.node(node).workers;
  const Program& program = sliced.back().program(0, 0);
  const auto sets_per_half = static_cast<std::size_t>(1 + worker_count % 3);
  const std::size_t sets = program.stages_briefly ? kCallSets : 2 * sets_per_half;
  memories.push_back(std::make_unique<NodeMemory>(
      worker_count, sets * (program.staging_set_bytes + kSeparationBytes)));
  std::vector<Endpoint*> endpoints;
  for (int lane = 0; lane < shape.lane_count(); ++lane) {
    endpoints.push_back(&network.endpoint(node, lane));
  }
  for (int w = 0; w < worker_count; ++w) {
    const ExecutorOptions options{.wait_policy = {},
                                  .topology = &tests::one_core(),
                                  .first_rank = shape.first_member(node),
                                  .member_count = shape.node(node).members,
                                  .running_ahead = RunningAhead::allowed,
                                  .on_timeout = {}};
    workers.push_back({.node = node,
                       .index = w,
                       .member = w < shape.node(node).members ? shape.first_member(node) + w : -1,
                       .executor = std::make_unique<WorkerExecutor>(*memories.back(), w, endpoints,
                                                                    nullptr, options)});
  }
}

int RandomDriver::runs_per_call() const noexcept {
  return static_cast<int>(state_->sliced.front().run_count);
}

RandomDriver::~RandomDriver() = default;

void RandomDriver::run(std::uint64_t seed, int call_count, const Callbacks& callbacks) {
  std::mt19937_64 random(seed);
  for (Worker& worker : state_->workers) worker.calls_entered = worker.calls_left = 0;
  std::vector<std::size_t> running(state_->workers.size());
  for (std::size_t w = 0; w < running.size(); ++w) running[w] = w;
  // Every worker gets many looks before a standstill counts as a deadlock.
  const std::size_t patience = 1000 * running.size();
  std::size_t idle_turns = 0;
  while (!running.empty()) {
    const std::size_t chosen = random() % running.size();
    Worker& worker = state_->workers[running[chosen]];
    idle_turns = state_->step(worker, call_count, callbacks) ? 0 : idle_turns + 1;
    if (worker.calls_left == call_count) {
      running[chosen] = running.back();
      running.pop_back();
    }
    if (idle_turns > patience) state_->report_deadlock(call_count);
  }
  state_->calls_before += call_count;
}

bool RandomDriver::State::step(Worker& worker, int call_count, const Callbacks& callbacks) {
  if (worker.calls_left == call_count) return false;
  if (worker.calls_entered == worker.calls_left) {
    if (worker.member >= 0) worker.buffers = callbacks.enter(worker.member, worker.calls_entered);
    ++worker.calls_entered;
    worker.run = 0;
    start(worker);
    return true;
  }
  const WorkerExecutor::Progress progress = worker.executor->advance(1);
  if (progress != WorkerExecutor::Progress::finished) {
    return progress == WorkerExecutor::Progress::advanced;
  }
  if (++worker.run < sliced.front().run_count) {
    start(worker);
    return true;
  }
  if (worker.member >= 0) callbacks.leave(worker.member, worker.calls_left);
  ++worker.calls_left;
  return true;
}

void RandomDriver::State::start(Worker& worker) {
  const SlicedPrograms& programs = sliced[static_cast<std::size_t>(worker.node)];
  const std::size_t displacement = worker.run * programs.displacement_bytes;
  Buffers slice = worker.buffers;
  if (slice.input != nullptr) {
    slice.input = static_cast<const std::byte*>(slice.input) + displacement;
  }
  if (slice.output != nullptr) slice.output = static_cast<std::byte*>(slice.output) + displacement;
  const std::size_t runs_before =
      static_cast<std::size_t>(calls_before + worker.calls_entered - 1) * programs.run_count;
  const CallNumber number = runs_before + worker.run + 1;
  worker.executor->start_like(programs.program(worker.run, worker.index),
                              {.type = type,
                               .op = op,
                               .reducer = {.kernel = reduce_kernel(op, type)},
                               .signature = signature.packed(),
                               .form = 1},
                              number, number, slice.input, slice.output);
}

void RandomDriver::State::report_deadlock(int call_count) const {
  std::string text = "nobody can go on:";
  for (const Worker& worker : workers) {
    if (worker.calls_left < call_count) text += " [" + worker.executor->describe_wait() + "]";
  }
  throw Error(ErrorKind::timeout, text);
}

}  // namespace hycoll
