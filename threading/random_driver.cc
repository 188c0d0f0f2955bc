#include "threading/random_driver.h"

#include <random>
#include <string>
#include <vector>

#include "core/errors.h"
#include "numa/topology.h"
#include "threading/executor.h"
#include "threading/node_memory.h"
#include "threading/program.h"

namespace hycoll {
namespace {

/// One worker, and how far it is.
struct Worker {
  const Program* program;
  int member;  ///< -1: it owns none.
  std::unique_ptr<WorkerExecutor> executor;
  int calls_entered = 0;
  int calls_left = 0;
};

}  // namespace

struct RandomDriver::State {
  Topology topology;
  DataType type;
  Operator op;
  CallSignature signature;
  MailboxNetwork network;
  std::vector<std::unique_ptr<NodeMemory>> memories;
  std::vector<std::vector<Program>> programs;
  std::vector<Worker> workers;
  int calls_before = 0;  ///< In earlier runs.

  /// One step of one worker. Returns whether anything happened.
  bool step(Worker& worker, int call_count, const Callbacks& callbacks);
  [[noreturn]] void report_deadlock(int call_count) const;
};

RandomDriver::RandomDriver(const Schedule& schedule, const VectorExtent& extent, DataType type,
                           Operator op, MailboxNetwork::Delivery delivery)
    : state_(new State{.topology = Topology::synthetic("core:1"),
                       .type = type,
                       .op = op,
                       .signature = {.count = extent.count,
                                     .collective = schedule.collective,
                                     .type_code = static_cast<std::uint8_t>(type),
                                     .op_code = static_cast<std::uint8_t>(op),
                                     .detail = static_cast<std::uint32_t>(schedule.root)},
                       .network = MailboxNetwork(schedule.shape.node_count(),
                                                 schedule.shape.lane_count(), delivery),
                       .memories = {},
                       .programs = {},
                       .workers = {}}) {
  const Shape& shape = schedule.shape;
  for (int node = 0; node < shape.node_count(); ++node) {
    const int worker_count = shape.node(node).workers;
    state_->memories.push_back(std::make_unique<NodeMemory>(worker_count));
    state_->programs.push_back(
        bind_schedule(schedule, node, extent, {.element_bytes = size_of(type)}));
    std::vector<Endpoint*> endpoints;
    for (int lane = 0; lane < shape.lane_count(); ++lane) {
      endpoints.push_back(&state_->network.endpoint(node, lane));
    }
    for (int w = 0; w < worker_count; ++w) {
      const ExecutorOptions options{.wait_policy = {},
                                    .topology = &state_->topology,
                                    .first_rank = shape.first_member(node),
                                    .member_count = shape.node(node).members,
                                    .on_timeout = {}};
      state_->workers.push_back(
          {.program = &state_->programs.back()[static_cast<std::size_t>(w)],
           .member = w < shape.node(node).members ? shape.first_member(node) + w : -1,
           .executor = std::make_unique<WorkerExecutor>(*state_->memories.back(), w, endpoints,
                                                        nullptr, options)});
    }
  }
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
    Buffers buffers{nullptr, nullptr};
    if (worker.member >= 0) buffers = callbacks.enter(worker.member, worker.calls_entered);
    ++worker.calls_entered;
    worker.executor->start(*worker.program,
                           {.call = static_cast<CallNumber>(calls_before + worker.calls_entered),
                            .input = buffers.input,
                            .output = buffers.output,
                            .type = type,
                            .op = op,
                            .reducer = {.kernel = reduce_kernel(op, type)},
                            .signature = signature.packed()});
    return true;
  }
  const WorkerExecutor::Progress progress = worker.executor->advance(1);
  if (progress != WorkerExecutor::Progress::finished) {
    return progress == WorkerExecutor::Progress::advanced;
  }
  if (worker.member >= 0) callbacks.leave(worker.member, worker.calls_left);
  ++worker.calls_left;
  return true;
}

void RandomDriver::State::report_deadlock(int call_count) const {
  std::string text = "nobody can go on:";
  for (const Worker& worker : workers) {
    if (worker.calls_left < call_count) text += " [" + worker.executor->describe_wait() + "]";
  }
  throw Error(ErrorKind::timeout, text);
}

}  // namespace hycoll
