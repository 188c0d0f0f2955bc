#include "collectives/calls/threads_member.h"

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
class ThreadsMember::SlicedRun final : public ExecutorRun {
 public:
  SlicedRun(ThreadsMember& member, const SlicedPrograms& slices, const CallArguments& arguments)
      : ExecutorRun(member.executor()), member_(member), slices_(slices), arguments_(arguments) {}

  bool start_next() override {
    if (next_ == slices_.run_count) return false;
    CallArguments slice =
        displaced(member_.as_next_run(arguments_), next_ * slices_.displacement_bytes);
    slice.is_agreed_on = arguments_.is_agreed_on || next_ + 1 < slices_.run_count;
    executor().start(slices_.program(next_, 0), slice);
    ++next_;
    return true;
  }

 private:
  ThreadsMember& member_;
  const SlicedPrograms& slices_;
  const CallArguments& arguments_;
  std::size_t next_ = 0;
};

ThreadsMember::ThreadsMember(PlanCache& plans, const FarPlans* far, NodeWorkers& workers,
                             LeaderPool& pool, const CallerIdentity& identity)
    : OneWorkerMember(plans, workers.memory(), workers.executor(identity.slot), pool, identity.slot,
                      as_one_worker(identity)),
      workers_(workers) {
  if (far == nullptr) return;
  const WorkerRange own{.first = index(), .count = 1};
  staging_plans_.emplace(far->staging, own);
  far_plans_.emplace(far->direct, own);
  if (!workers.may_measure()) return;
  std::vector<int> all(static_cast<std::size_t>(workers.count()));
  std::iota(all.begin(), all.end(), 0);
  const auto probe = [this, all] {
    return measure_half_a_node_apart(workers_.memory(), all, index(), kLook);
  };
  // Nobody knows it when a team is made: its threads are not there.
  looks_.emplace(workers.memory(), all, index(), false, probe,
                 [this](double handoff_ns) { set_distance(handoff_ns); });
}

void ThreadsMember::set_distance(double handoff_ns) noexcept {
  handoff_ns_ = handoff_ns;
  is_far_ = staging_plans_.has_value() && handoff_ns > kFarHandoffNs;
}

void ThreadsMember::provide_for(const Plan& plan, Waiting /*waiting*/) {
  if (is_far_ && !plan.far() && !plan.meets()) plan.set_far(find_far(plan));
}

void ThreadsMember::look_around(const Plan& plan) {
  if (plan.meets()) return;
  // Now, so that plan_now() is what this run is; and again, for the distance may change.
  provide_for(plan, Waiting::allowed);
  if (!looks_ || !program(plan).some_touch_others) return;
  looks_->before(runs_ + 1, plan_now(plan).leaving());
  provide_for(plan, Waiting::allowed);
}

PlanPointer ThreadsMember::find_far(const Plan& plan) {
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

void ThreadsMember::run_now(const Plan& plan, const CallArguments& arguments) {
  if (plan.meets()) {
    return PairsRun(executor(), workers_.memory(), *plan.pairs, arguments,
                    [this] { return next_run(); })
        .finish();
  }
  const Plan& now = plan_now(plan);
  if (now.crossing) return SlicedRun(*this, now.crossing->staged, arguments).finish();
  executor().run(program(now), arguments, next_run());
}

}  // namespace hycoll
