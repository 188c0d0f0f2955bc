#include "collectives/calls/per_node_member.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "collectives/runs/call_runs.h"
#include "collectives/runs/driven_run.h"
#include "core/base/errors.h"

namespace hycoll {
namespace {

/// Runs of one worker, in place.
class FirstWorkerRuns {
 public:
  explicit FirstWorkerRuns(WorkerExecutor& executor) noexcept : executor_(executor) {}

  ExecutorRun& start(const CallRun& run) {
    return run_.emplace(executor_, run.plan->programs.front(), run.arguments);
  }

 private:
  WorkerExecutor& executor_;
  std::optional<SingleRun> run_;
};

}  // namespace

PerNodeMember::PerNodeMember(ProcessGroup& group, NodeWorkers& workers, PlanCache& plans,
                             CallAnnouncer* announcer, CallGate* gate)
    : Caller(plans, workers.memory(),
             {.rank = group.rank(),
              .member_count = workers.member_count(),
              .slot = 0,
              .bits = group.options().bits,
              .overlaps = group.options().overlaps,
              .announcer = announcer,
              .gate = gate}),
      workers_(workers),
      deferred_(workers.executor(0)),
      pool_(workers.executors(), group.topology(), workers.cores(),
            group.options().pinning == Options::Pinning::pinned ? LeaderPool::Pinning::pinned
                                                                : LeaderPool::Pinning::unpinned,
            workers.wait_policy()),
      keeper_({&deferred_}, workers.wait_policy().rest) {}

void PerNodeMember::execute(const Plan& plan, const CallArguments& arguments) {
  deferred_.finish();
  if (!is_idle()) {
    const std::shared_ptr<PoolJob> job = submit(plan, arguments, {});
    job->wait();
    return job->throw_if_failed();
  }
  const int count = participants(plan);
  if (count > 1) return execute_with_pool(plan, arguments, count);
  workers_.executor(0).run(plan.programs.front(), arguments);
}

void PerNodeMember::execute_with_pool(const Plan& plan, const CallArguments& arguments, int count) {
  const auto job = std::make_shared<PoolJob>(parts_of(plan), arguments, count - 1);
  job->hurry();
  pool_.submit(job, 1, count - 1);
  try {
    workers_.executor(0).run(plan.programs.front(), arguments);
  } catch (const Error&) {
    job->wait();  // they use the buffers, which are given back now
    throw;
  }
  // The others may still combine what they pass on. A user's operator goes with the call, and all
  // of them must have applied it before the members agree on whether it failed.
  if (arguments.reducer.foreign == nullptr) return;
  job->wait();
  job->throw_if_failed();
}

PoolJob::Body PerNodeMember::parts_of(const Plan& plan) {
  return [this, held = PlanPointer(&plan)](int worker, const CallArguments& arguments) {
    execute_part(worker, *held, arguments);
  };
}

std::shared_ptr<PoolJob> PerNodeMember::submit(const Plan& plan, const CallArguments& arguments,
                                               PoolJob::Before before) {
  const int count = participants(plan);
  return hand_in(std::make_shared<PoolJob>(parts_of(plan), arguments, count, std::move(before)),
                 count);
}

DeferredRun* PerNodeMember::defer(const Plan& plan, const CallArguments& arguments,
                                  DeferredOutcome& outcome) {
  const bool may_defer = plan.is_short && participants(plan) == 1;
  if (!may_defer || !deferred_.finished() || !is_idle()) return nullptr;
  deferred_.start(plan.programs.front(), arguments, outcome);
  if (!deferred_.finished()) keeper_.watch();
  return &deferred_;
}

std::unique_ptr<DrivenRun> PerNodeMember::driver(CallRuns& runs) {
  if (thread_count(runs) > 1) return Caller::driver(runs);
  return std::make_unique<RunsByOne<FirstWorkerRuns>>(runs, workers_.executor(0));
}

int PerNodeMember::participants(const Plan& plan) const {
  const auto last = std::find_if(plan.programs.rbegin(), plan.programs.rend(),
                                 [](const Program& program) { return !program.strands.empty(); });
  return std::max(1, static_cast<int>(plan.programs.rend() - last));
}

void PerNodeMember::execute_part(int worker, const Plan& plan, const CallArguments& arguments) {
  if (worker >= participants(plan)) return;
  workers_.executor(worker).run(plan.programs[static_cast<std::size_t>(worker)], arguments);
}

}  // namespace hycoll
