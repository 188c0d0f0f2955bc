#include "collectives/calls/thread_member.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "collectives/node/node_distance.h"
#include "collectives/runs/driven_run.h"
#include "collectives/runs/pairs_run.h"
#include "collectives/runs/run_arguments.h"
#include "collectives/selection/lanes.h"
#include "core/base/collective_traits.h"
#include "core/base/errors.h"

namespace hycoll {
namespace {

/// The shortest vectors that are staged where all members get the whole result: others take as long
/// either way (docs/measurements.md).
constexpr std::size_t kLeastStagedBytes = 4 * 1024;

bool is_too_short(const PlanQuery& query) {
  return combines(query.collective) && !has_root(query.collective) &&
         !has_blocks(query.collective) &&
         query.extent.count * query.element_bytes < kLeastStagedBytes;
}

CallerIdentity as_one_worker(CallerIdentity identity) {
  identity.workers = {.first = identity.slot, .count = 1};
  return identity;
}

}  // namespace

/// The runs of a call that passes through staging, one after the other.
class ThreadMember::SlicedRun final : public ExecutorRun {
 public:
  SlicedRun(ThreadMember& member, const SlicedPrograms& slices, const CallArguments& arguments)
      : ExecutorRun(member.executor_), member_(member), slices_(slices), arguments_(arguments) {}

  bool start_next() override {
    if (next_ == slices_.run_count) return false;
    CallArguments slice =
        displaced(as_run(arguments_, ++member_.runs_), next_ * slices_.displacement_bytes);
    slice.is_agreed_on = arguments_.is_agreed_on || next_ + 1 < slices_.run_count;
    executor().start(slices_.program(next_, 0), slice);
    ++next_;
    return true;
  }

 private:
  ThreadMember& member_;
  const SlicedPrograms& slices_;
  const CallArguments& arguments_;
  std::size_t next_ = 0;
};

ThreadMember::ThreadMember(PlanCache& plans, const FarPlans* far, NodeWorkers& workers,
                           LeaderPool& pool, const CallerIdentity& identity)
    : Caller(plans, workers.memory(), as_one_worker(identity)),
      index_(identity.slot),
      workers_(workers),
      executor_(workers.executor(index_)),
      pool_(pool),
      deferred_(executor_) {
  if (far == nullptr) return;
  const WorkerRange own{.first = index_, .count = 1};
  staging_plans_.emplace(far->staging, own);
  far_plans_.emplace(far->direct, own);
  if (!workers.may_measure()) return;
  std::vector<int> all(static_cast<std::size_t>(workers.count()));
  std::iota(all.begin(), all.end(), 0);
  const auto probe = [this, all] {
    return measure_half_a_node_apart(workers_.memory(), all, index_, kLook);
  };
  // Nobody knows it when a team is made: its threads are not there.
  looks_.emplace(workers.memory(), all, index_, false, probe,
                 [this](double handoff_ns) { set_distance(handoff_ns); });
}

void ThreadMember::set_distance(double handoff_ns) noexcept {
  handoff_ns_ = handoff_ns;
  is_far_ = staging_plans_.has_value() && handoff_ns > kFarHandoffNs;
}

void ThreadMember::provide_for(const Plan& plan, Waiting /*waiting*/) {
  if (is_far_ && !plan.far() && !plan.meets()) plan.set_far(find_far(plan));
}

void ThreadMember::look_around(const Plan& plan) {
  if (plan.meets()) return;
  // Now, so that plan_now() is what this run is; and again, for the distance may change.
  provide_for(plan, Waiting::allowed);
  if (!looks_ || !program(plan).some_touch_others) return;
  looks_->before(runs_ + 1, plan_now(plan).leaving());
  provide_for(plan, Waiting::allowed);
}

PlanPointer ThreadMember::find_far(const Plan& plan) {
  // Prefixes are passed on from member to member; outputs past the caches are not read from them.
  if (is_prefix(plan.query.collective) || is_too_short(plan.query) ||
      !program(plan).some_touch_others || program(plan).some_stream_outputs) {
    return {};
  }
  if (far_members_put(plan.query.collective, workers_.count()))
    return &far_plans_->find(plan.query);
  try {
    return &staging_plans_->find(plan.query);
  } catch (const Error& error) {
    // The elements do not fit the staging, or the algorithm that was asked for cannot stage.
    if (error.kind() != ErrorKind::unsupported) throw;
    return {};
  }
}

void ThreadMember::run_here(const Plan& plan, const CallArguments& arguments) {
  if (arguments.is_blocking) look_around(plan);
  run_now(plan, arguments);
}

void ThreadMember::run_now(const Plan& plan, const CallArguments& arguments) {
  if (plan.meets()) {
    return PairsRun(executor_, workers_.memory(), *plan.pairs, arguments,
                    [this] { return ++runs_; })
        .finish();
  }
  const Plan& now = plan_now(plan);
  if (now.crossing) return SlicedRun(*this, now.crossing->staged, arguments).finish();
  executor_.run(program(now), arguments, ++runs_);
}

void ThreadMember::execute(const Plan& plan, const CallArguments& arguments) {
  deferred_.finish();
  if (!is_idle()) {
    const std::shared_ptr<PoolJob> job = submit(plan, arguments, {});
    job->wait();
    return job->throw_if_failed();
  }
  run_here(plan, arguments);
}

void ThreadMember::execute_like(const Plan& plan, const CallArguments& like, CallNumber call,
                                const void* input, void* output) {
  if (!deferred_.finished() || !is_idle()) {
    return Caller::execute_like(plan, like, call, input, output);
  }
  look_around(plan);
  const Plan& now = plan_now(plan);
  if (now.crossing) return run_now(plan, as_like(like, call, input, output));
  executor_.run_like(program(now), like, call, ++runs_, input, output);
}

std::shared_ptr<PoolJob> ThreadMember::submit(const Plan& plan, const CallArguments& arguments,
                                              PoolJob::Before before) {
  return submit_own_part(plan, arguments, std::move(before));
}

DeferredRun* ThreadMember::defer(const Plan& plan, const CallArguments& arguments,
                                 DeferredOutcome& outcome) {
  const Plan& now = plan_now(plan);
  const bool is_one_run = !now.crossing || now.crossing->staged.run_count == 1;
  if (!plan.is_short || !is_one_run || !deferred_.finished() || !is_idle()) return nullptr;
  const Program& only = now.crossing ? now.crossing->staged.program(0, 0) : program(now);
  deferred_.start(only, as_run(arguments, ++runs_), outcome);
  if (!deferred_.finished()) keeper_->watch();
  return &deferred_;
}

}  // namespace hycoll
