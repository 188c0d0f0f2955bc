// The layout threads: the threads of a parallel region are the members.

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "collectives/aggregators.h"
#include "collectives/call_gate.h"
#include "collectives/caller.h"
#include "collectives/hycoll.h"
#include "collectives/plan_cache.h"
#include "collectives/process_group.h"
#include "collectives/workers.h"
#include "numa/binding.h"
#include "threading/deferred_run.h"
#include "threading/leader_pool.h"

namespace hycoll {

/// What one thread keeps to itself.
struct alignas(kCacheLineBytes) Member::State final : Caller {
  State(Team::State& its_team, int its_index);

  void execute(const Plan& plan, const CallArguments& arguments) override;
  std::shared_ptr<PoolJob> submit(const Plan& plan, const CallArguments& arguments,
                                  PoolJob::Before before) override;
  DeferredRun* defer(const Plan& plan, const CallArguments& arguments,
                     DeferredOutcome& outcome) override;

  Team::State& team;
  int index;
  bool bound = false;
  WorkerExecutor& executor;
  std::shared_ptr<PoolJob> background;  ///< The last one submitted; it may still use the executor.
  DeferredRun deferred;
};

struct Team::State {
  State(MPI_Comm parent, int thread_count, const Options& options)
      : group(parent, options),
        workers(group, checked(thread_count), MemberCount::every_worker),
        plans(workers.plan_options(group)),
        announcer(group.announces() ? std::make_unique<CallAnnouncer>(group) : nullptr),
        pool(workers.executors(), group.topology(), workers.cores(),
             options.pinning == Options::Pinning::pinned ? LeaderPool::Pinning::pinned
                                                         : LeaderPool::Pinning::unpinned,
             workers.wait_policy()) {
    if (group.is_aggregator()) {
      service = std::make_unique<AggregatorService>(group, workers, plans);
      return;
    }
    if (options.checking == Options::Checking::all_processes) {
      gate = std::make_unique<CallGate>(group, workers.first_rank(), thread_count);
    }
    std::vector<DeferredRun*> runs;
    for (int index = 0; index < thread_count; ++index) {
      members.push_back(std::make_unique<Member::State>(*this, index));
      runs.push_back(&members.back()->deferred);
    }
    keeper = std::make_unique<ProgressKeeper>(std::move(runs));
  }

  static int checked(int thread_count) {
    if (thread_count >= 1) return thread_count;
    throw Error(ErrorKind::invalid_argument,
                fmt::format("Team: thread_count is {}; a team needs at least 1 thread, e.g. "
                            "omp_get_max_threads()",
                            thread_count));
  }

  ProcessGroup group;
  NodeWorkers workers;
  PlanCache plans;
  std::unique_ptr<CallAnnouncer> announcer;  // null but for member 0 where there are aggregators
  std::unique_ptr<CallGate> gate;            // null unless all processes are compared
  std::vector<std::unique_ptr<Member::State>> members;  // none on aggregators
  // Last: their threads use the others.
  LeaderPool pool;
  std::unique_ptr<ProgressKeeper> keeper;
  std::unique_ptr<AggregatorService> service;  // null but on aggregators
};

Member::State::State(Team::State& its_team, int its_index)
    : Caller(its_team.plans, its_team.workers.memory(),
             {.rank = its_team.workers.first_rank() + its_index,
              .member_count = its_team.workers.member_count(),
              .slot = its_index,
              .bits = its_team.group.options().bits,
              .announcer = its_index == 0 ? its_team.announcer.get() : nullptr,
              .gate = its_team.gate.get()}),
      team(its_team),
      index(its_index),
      executor(its_team.workers.executor(its_index)),
      deferred(executor) {}

void Member::State::execute(const Plan& plan, const CallArguments& arguments) {
  deferred.finish();
  if (background != nullptr && !background->finished()) {
    const std::shared_ptr<PoolJob> job = submit(plan, arguments, {});
    job->wait();
    return job->throw_if_failed();
  }
  executor.run(plan.programs[static_cast<std::size_t>(index)], arguments);
}

std::shared_ptr<PoolJob> Member::State::submit(const Plan& plan, const CallArguments& arguments,
                                               PoolJob::Before before) {
  if (!deferred.finished()) {
    team.pool.submit(std::make_shared<PoolJob>(deferred), index, index);
  }
  background = std::make_shared<PoolJob>(plan.programs, arguments, 1, std::move(before));
  team.pool.submit(background, index, index);
  return background;
}

DeferredRun* Member::State::defer(const Plan& plan, const CallArguments& arguments,
                                  DeferredOutcome& outcome) {
  const bool is_idle = deferred.finished() && (background == nullptr || background->finished());
  if (!plan.is_short || !is_idle) return nullptr;
  deferred.start(plan.programs[static_cast<std::size_t>(index)], arguments, outcome);
  if (!deferred.finished()) team.keeper->watch();
  return &deferred;
}

Team::Team(MPI_Comm parent, int thread_count, const Options& options)
    : state_(std::make_unique<State>(parent, thread_count, options)) {}

Team::~Team() = default;

int Team::thread_count() const noexcept { return static_cast<int>(state_->members.size()); }

bool Team::is_aggregator() const noexcept { return state_->group.is_aggregator(); }

void Team::serve() { serve_with(state_->service.get()); }

Member Team::join(int thread_index) {
  if (is_aggregator()) throw_aggregator_calls(state_->group);
  if (thread_index < 0 || thread_index >= thread_count()) {
    throw Error(
        ErrorKind::invalid_argument,
        fmt::format("Team::join: thread_index is {}, but the team has {} threads per process "
                    "here: pass 0 to {}",
                    thread_index, thread_count(), thread_count() - 1));
  }
  Member::State& member = *state_->members[static_cast<std::size_t>(thread_index)];
  if (!member.bound && state_->group.options().pinning == Options::Pinning::pinned) {
    member.bound = true;
    try {
      bind_this_thread(state_->group.topology(),
                       state_->workers.cores()[static_cast<std::size_t>(thread_index)]);
    } catch (const Error&) {
      // A container may forbid binding; the thread then runs wherever the process may.
    }
  }
  return Member(&member);
}

Communicator::Choice Team::choice(const Call& call) const {
  if (is_aggregator()) throw_aggregator_calls(state_->group);
  return choice_of(state_->members.front()->choice(call));
}

int Member::rank() const noexcept { return state_->team.workers.first_rank() + state_->index; }
int Member::size() const noexcept { return state_->team.workers.member_count(); }

void Member::run(const Call& call) { state_->run(call); }

Request Member::start(const Call& call) { return Request(state_->start(call)); }

Persistent Member::prepare(const Call& call) { return Persistent(state_->prepare(call)); }

}  // namespace hycoll
