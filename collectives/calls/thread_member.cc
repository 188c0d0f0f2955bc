#include "collectives/calls/thread_member.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "collectives/processes/node_distance.h"
#include "collectives/runs/driven_run.h"
#include "collectives/runs/run_arguments.h"
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

ThreadMember::ThreadMember(PlanCache& plans, PlanCache* staging_plans, NodeWorkers& workers,
                           LeaderPool& pool, const CallerIdentity& identity)
    : Caller(plans, workers.memory(), as_one_worker(identity)),
      index_(identity.slot),
      workers_(workers),
      executor_(workers.executor(index_)),
      lacks_distance_(staging_plans != nullptr && workers.may_measure()),
      pool_(pool),
      deferred_(executor_) {
  if (staging_plans != nullptr) {
    staging_plans_.emplace(*staging_plans, WorkerRange{.first = index_, .count = 1});
  }
}

void ThreadMember::set_distance(double handoff_ns) noexcept {
  handoff_ns_ = handoff_ns;
  lacks_distance_ = lacks_distance_ && handoff_ns == 0;
  is_far_ = staging_plans_.has_value() && handoff_ns > kFarHandoffNs;
  forget_repeatable();  // plans whose slices nobody has looked for
}

void ThreadMember::provide_for(const Plan& plan, Waiting waiting) {
  if (measurement_is_due_ && waiting == Waiting::allowed) measure_distance();
  if (is_far_ && !plan.staged()) plan.set_staged(find_staged(plan));
}

void ThreadMember::count_crossing() {
  // Seldom enough for 2 ms that a late member may cost not to count.
  constexpr std::uint64_t kMoreSeldom = 64;
  if (++crossings_ < crossings_to_measurement_) return;
  crossings_to_measurement_ *= kMoreSeldom;
  measurement_is_due_ = true;
  forget_repeatable();  // so that the next call, whatever it is, begins with that
}

void ThreadMember::measure_distance() {
  measurement_is_due_ = false;
  std::vector<int> workers(static_cast<std::size_t>(workers_.count()));
  std::iota(workers.begin(), workers.end(), 0);
  prepare_measurement(workers_.memory(), index_);
  double handoff_ns = 0;
  try {
    // All are ready.
    run(calls::allreduce(&handoff_ns, &handoff_ns, 1, DataType::float64, Operator::max));
  } catch (const Error& refused) {
    // By all alike: the algorithm that the program has named does not serve this call.
    if (refused.kind() != ErrorKind::unsupported) throw;
    return;
  }
  handoff_ns = measure_half_a_node_apart(workers_.memory(), workers, index_);
  run(calls::allreduce(&handoff_ns, &handoff_ns, 1, DataType::float64, Operator::max));
  set_distance(handoff_ns);
}

PlanPointer ThreadMember::find_staged(const Plan& plan) {
  // Prefixes are passed on from member to member; outputs past the caches are not read from them.
  if (is_prefix(plan.query.collective) || is_too_short(plan.query) ||
      !program(plan).some_touch_others || program(plan).some_stream_outputs) {
    return {};
  }
  try {
    return &staging_plans_->find(plan.query);
  } catch (const Error& error) {
    // The elements do not fit the staging, or the algorithm that was asked for cannot stage.
    if (error.kind() != ErrorKind::unsupported) throw;
    return {};
  }
}

const SlicedPrograms* ThreadMember::known_slices(const Plan& plan) {
  const bool is_staged = plan.staged() && *plan.staged() != nullptr && (*plan.staged())->crossing;
  return is_staged ? &(*plan.staged())->crossing->staged : nullptr;
}

void ThreadMember::run_here(const Plan& plan, const CallArguments& arguments) {
  const SlicedPrograms* const slices = slices_of(plan);
  if (slices != nullptr) return SlicedRun(*this, *slices, arguments).finish();
  executor_.run(program(plan), arguments, ++runs_);
}

void ThreadMember::execute(const Plan& plan, const CallArguments& arguments) {
  deferred_.finish();
  if (!is_idle()) {
    const std::shared_ptr<PoolJob> job = submit(plan, arguments, {});
    job->wait();
    return job->throw_if_failed();
  }
  run_here(plan, arguments);
  if (lacks_distance_ && program(plan).some_touch_others) count_crossing();
}

void ThreadMember::execute_like(const Plan& plan, const CallArguments& like, CallNumber call,
                                const void* input, void* output) {
  if (slices_of(plan) != nullptr || !deferred_.finished() || !is_idle()) {
    return Caller::execute_like(plan, like, call, input, output);
  }
  executor_.run_like(program(plan), like, call, ++runs_, input, output);
  if (lacks_distance_ && program(plan).some_touch_others) count_crossing();
}

std::shared_ptr<PoolJob> ThreadMember::submit(const Plan& plan, const CallArguments& arguments,
                                              PoolJob::Before before) {
  return submit_own_part(plan, arguments, std::move(before));
}

DeferredRun* ThreadMember::defer(const Plan& plan, const CallArguments& arguments,
                                 DeferredOutcome& outcome) {
  const SlicedPrograms* const slices = slices_of(plan);
  const bool is_one_run = slices == nullptr || slices->run_count == 1;
  if (!plan.is_short || !is_one_run || !deferred_.finished() || !is_idle()) return nullptr;
  const Program& only = slices != nullptr ? slices->program(0, 0) : program(plan);
  deferred_.start(only, as_run(arguments, ++runs_), outcome);
  if (!deferred_.finished()) keeper_->watch();
  return &deferred_;
}

}  // namespace hycoll
