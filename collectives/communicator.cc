// The layout per_node: one member per process, a pool of leaders inside.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "collectives/arguments.h"
#include "collectives/hycoll.h"
#include "collectives/plan_cache.h"
#include "collectives/process_group.h"
#include "collectives/workers.h"
#include "threading/leader_pool.h"

namespace hycoll {

struct Request::State {
  std::shared_ptr<PoolJob> job;
};

struct Communicator::State {
  State(MPI_Comm parent, const Options& options)
      : group(parent, options),
        workers(group, worker_count_for(group), MemberCount::one),
        plans(workers.plan_options(group)),
        recent_plans(plans),
        pool(workers.executors(), group.topology(), workers.cores(),
             options.pinning == Options::Pinning::pinned ? LeaderPool::Pinning::pinned
                                                         : LeaderPool::Pinning::unpinned,
             workers.wait_policy()) {}

  static int worker_count_for(const ProcessGroup& group);
  static int participants(const Plan& plan);

  PreparedCall next_call(const void* input, void* output, std::size_t count, DataType type,
                         Operator op);
  void run(const PreparedCall& prepared);
  std::shared_ptr<PoolJob> start(const PreparedCall& prepared);

  ProcessGroup group;
  NodeWorkers workers;
  PlanCache plans;
  RecentPlans recent_plans;
  RecentKernel recent_kernel;
  Token token;
  CallNumber call = 0;
  std::shared_ptr<PoolJob> background;  ///< The last nonblocking call; it may still use worker 0.
  LeaderPool pool;                      ///< Last: its threads use the others.
};

int Communicator::State::worker_count_for(const ProcessGroup& group) {
  const int requested = group.options().workers;
  const int available = group.topology().usable_core_count();
  if (requested < 0 || requested > 64 * available) {
    throw Error(
        ErrorKind::invalid_argument,
        fmt::format("Options::workers (HYCOLL_WORKERS) is {}; this process can use {} cores: ask "
                    "for 0 (one worker per core) to {}",
                    requested, available, 64 * available));
  }
  return requested > 0 ? requested : available;
}

int Communicator::State::participants(const Plan& plan) {
  const auto last = std::find_if(plan.programs.rbegin(), plan.programs.rend(),
                                 [](const Program& program) { return !program.strands.empty(); });
  return static_cast<int>(plan.programs.rend() - last);
}

PreparedCall Communicator::State::next_call(const void* input, void* output, std::size_t count,
                                            DataType type, Operator op) {
  check_arguments(input, output, count, type, op);
  const PreparedCall prepared =
      prepare_call(++call, input, output, count, type, op, recent_kernel, token);
  if (group.options().checking == Options::Checking::all_processes) {
    group.check_signature(prepared.arguments.signature, "allreduce");
  }
  return prepared;
}

void Communicator::State::run(const PreparedCall& prepared) {
  if (background != nullptr && !background->finished()) {
    const std::shared_ptr<PoolJob> job = start(prepared);
    job->wait();
    return job->throw_if_failed();
  }
  const Plan& plan = recent_plans.find(prepared.count, prepared.element_bytes);
  const int count = participants(plan);
  if (count > 1) {
    const auto job = std::make_shared<PoolJob>(plan.programs, prepared.arguments, count - 1);
    pool.submit(job, 1, count - 1);
  }
  workers.executor(0).run(plan.programs.front(), prepared.arguments);
}

std::shared_ptr<PoolJob> Communicator::State::start(const PreparedCall& prepared) {
  const Plan& plan = recent_plans.find(prepared.count, prepared.element_bytes);
  const int count = std::max(1, participants(plan));
  background = std::make_shared<PoolJob>(plan.programs, prepared.arguments, count);
  pool.submit(background, 0, count - 1);
  return background;
}

Communicator::Communicator(MPI_Comm parent, const Options& options)
    : state_(std::make_unique<State>(parent, options)) {}

Communicator::~Communicator() = default;

int Communicator::rank() const noexcept { return state_->group.rank(); }
int Communicator::size() const noexcept { return state_->group.size(); }
int Communicator::worker_count() const noexcept { return state_->workers.count(); }
const Options& Communicator::options() const noexcept { return state_->group.options(); }

void Communicator::allreduce(const void* input, void* output, std::size_t count, DataType type,
                             Operator op) {
  state_->run(state_->next_call(input, output, count, type, op));
}

void Communicator::allreduce_many(std::span<const void* const> inputs, void* output,
                                  std::size_t count, DataType type, Operator op) {
  if (inputs.empty()) {
    throw Error(ErrorKind::invalid_argument,
                "allreduce_many: inputs is empty; pass at least one input, e.g. the output itself");
  }
  for (const void* input : inputs) check_arguments(input, output, count, type, op);
  if (count > 0) {
    state_->workers.reduce_locally(state_->recent_kernel.find(op, type), output, inputs, count,
                                   size_of(type));
  }
  allreduce(output, output, count, type, op);
}

Request Communicator::iallreduce(const void* input, void* output, std::size_t count, DataType type,
                                 Operator op) {
  auto job = state_->start(state_->next_call(input, output, count, type, op));
  return Request(std::make_shared<Request::State>(Request::State{std::move(job)}));
}

void Communicator::barrier() { allreduce(nullptr, nullptr, 0, DataType::uint8, Operator::max); }

Communicator::Choice Communicator::choice(std::size_t count, DataType type) const {
  return choice_of(state_->plans.select(count, size_of(type)));
}

void Communicator::require_same_size(std::size_t input_size, std::size_t output_size) {
  hycoll::require_same_size(input_size, output_size);
}

Request::Request() noexcept = default;
Request::Request(std::shared_ptr<State> state) noexcept : state_(std::move(state)) {}
Request::Request(Request&&) noexcept = default;

Request& Request::operator=(Request&& other) noexcept {
  if (state_ != nullptr) state_->job->wait();
  state_ = std::move(other.state_);
  return *this;
}

Request::~Request() {
  if (state_ != nullptr) state_->job->wait();
}

bool Request::test() { return state_ == nullptr || state_->job->finished(); }

void Request::wait() {
  if (state_ == nullptr) return;
  const std::shared_ptr<State> state = std::move(state_);
  state->job->wait();
  state->job->throw_if_failed();
}

struct PersistentAllreduce::State {
  Communicator::State* communicator;
  const void* input;
  void* output;
  std::size_t count;
  DataType type;
  Operator op;
  Request active;

  PreparedCall next_call() const { return communicator->next_call(input, output, count, type, op); }
};

PersistentAllreduce Communicator::allreduce_init(const void* input, void* output, std::size_t count,
                                                 DataType type, Operator op) {
  check_arguments(input, output, count, type, op);
  if (count > 0) state_->plans.find(count, size_of(type));
  return PersistentAllreduce(std::make_unique<PersistentAllreduce::State>(
      PersistentAllreduce::State{state_.get(), input, output, count, type, op, Request()}));
}

PersistentAllreduce::PersistentAllreduce(std::unique_ptr<State> state) noexcept
    : state_(std::move(state)) {}
PersistentAllreduce::PersistentAllreduce(PersistentAllreduce&&) noexcept = default;
PersistentAllreduce& PersistentAllreduce::operator=(PersistentAllreduce&&) noexcept = default;
PersistentAllreduce::~PersistentAllreduce() = default;

void PersistentAllreduce::start() {
  if (!state_->active.test()) {
    throw Error(ErrorKind::invalid_argument,
                "PersistentAllreduce::start: the last start is still under way; call wait() first");
  }
  state_->active = Request(std::make_shared<Request::State>(
      Request::State{state_->communicator->start(state_->next_call())}));
}

bool PersistentAllreduce::test() { return state_->active.test(); }

void PersistentAllreduce::wait() { state_->active.wait(); }

void PersistentAllreduce::run() {
  wait();
  state_->communicator->run(state_->next_call());
}

}  // namespace hycoll
