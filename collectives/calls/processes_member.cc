#include "collectives/calls/processes_member.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "collectives/runs/pairs_run.h"
#include "collectives/runs/run_arguments.h"
#include "core/base/collective_traits.h"
#include "threading/program/meeting.h"

namespace hycoll {
namespace {

/// So many calls at most are refused after one for which there was no memory.
constexpr std::uint32_t kMaximumCallsToRefuse = 1023;

/// How a call's vectors may reach the other processes.
enum class Buffers {
  staged,          ///< Through staging only.
  where_they_are,  ///< In shared heaps too, or by the kernel, if all members of the node can.
};

}  // namespace

/// The runs of a call whose buffers others need: slices, one after the other. Where heaps are
/// shared, the first run goes up to the moment when all members have announced whether their
/// buffers are reached.
class ProcessesMember::SlicedRun final : public ExecutorRun {
 public:
  SlicedRun(ProcessesMember& member, const Plan& plan, const CallArguments& arguments,
            Buffers buffers)
      : ExecutorRun(member.executor()),
        member_(member),
        plan_(plan),
        arguments_(arguments),
        slice_(member.as_next_run(arguments)) {
    if (buffers == Buffers::where_they_are) choose();
  }

  bool start_next() override {
    if (meets_) {
      meets_ = false;
      // The same run, so its failures are those of the call.
      slice_.is_agreed_on = true;
      executor().start(member_.arrival_, slice_);
      has_met_ = true;
      return true;
    }
    if (has_met_ && next_ == 0) is_direct_ = all_are_reached();
    const SlicedPrograms& sliced = is_direct_ ? *plan_.crossing->direct : plan_.crossing->staged;
    if (next_ == sliced.run_count) return false;
    if (next_ > 0)
      slice_ = displaced(member_.as_next_run(arguments_), next_ * sliced.displacement_bytes);
    slice_.is_agreed_on = arguments_.is_agreed_on || next_ + 1 < sliced.run_count;
    executor().start(sliced.program(next_, 0), slice_);
    ++next_;
    return true;
  }

 private:
  void choose() {
    // The distance is the same on all members in each of their runs: it is set between two.
    is_direct_ = are_copied(plan_.crossing->copies, member_.processes_.memory().is_far());
    if (is_direct_ || !member_.processes_.shares_heaps() || !plan_.crossing->direct) return;
    meets_ = member_.is_reached(plan_, slice_);
    Post& own = member_.processes_.memory().post(member_.worker());
    own.set_reach(slice_.call, meets_ ? Reach::node : Reach::worker);
  }

  bool all_are_reached() const {
    NodeMemory& memory = member_.processes_.memory();
    for (int worker = 0; worker < memory.worker_count(); ++worker) {
      if (memory.post(worker).reach(slice_.call) == Reach::worker) return false;
    }
    return true;
  }

  ProcessesMember& member_;
  const Plan& plan_;
  CallArguments arguments_;
  CallArguments slice_;  // of the next run, or the last one
  bool meets_ = false;   // in the next run
  bool has_met_ = false;
  bool is_direct_ = false;
  std::size_t next_ = 0;
};

ProcessesMember::ProcessesMember(ProcessGroup& group, NodeProcesses& processes, PlanCache& plans,
                                 CallGate* gate, int thread)
    : OneWorkerMember(plans, processes.memory(), processes.executor(thread), pool_, thread,
                      {.rank = processes.first_rank() + thread,
                       .member_count = processes.member_count(),
                       .slot = processes.worker() + thread,
                       .workers = {.first = thread, .count = 1},
                       .bits = group.options().bits,
                       .overlaps = group.options().overlaps,
                       .announcer = nullptr,
                       .gate = gate}),
      group_(group),
      processes_(processes),
      rank_(processes.first_rank() + thread),
      arrival_(arrival_of_others(worker(), processes.memory().worker_count())),
      // Background threads run where the process may: it has hardly more cores than threads.
      pool_(processes.executors(), group.topology(), processes.cores(),
            LeaderPool::Pinning::unpinned, processes.wait_policy()),
      keeper_({&deferred_run()}, processes.wait_policy().rest) {}

void ProcessesMember::provide_for(const Plan& plan, Waiting waiting) {
  if (processes_.has_rest()) return;
  const bool is_needed = !plan.is_compact();
  if (waiting == Waiting::forbidden) {
    if (!is_needed) return;
    rest_is_wished_ = true;
    forget_repeatable();
  } else if (is_needed || std::exchange(rest_is_wished_, false)) {
    if (expand() || !is_needed) return;
  } else {
    return;
  }
  throw MemoryRefused(ErrorKind::environment,
                      "the processes of this communicator do not share the memory that calls of "
                      "this length need, or not yet, if this one does not wait; raise the limit "
                      "(HYCOLL_STAGING_LIMIT, in MiB for a machine), or free communicators");
}

bool ProcessesMember::expand() {
  // Each attempt that fails makes the next one later: there is no room until others give theirs
  // back.
  if (refused_calls_ < calls_to_refuse_) {
    ++refused_calls_;
    return false;
  }
  std::uint8_t all_have = processes_.expand(group_) ? 1 : 0;
  try {
    // By a call of hycoll's, which finds out about members that make other ones.
    run(calls::allreduce(&all_have, &all_have, 1, DataType::uint8, Operator::min));
  } catch (const Error&) {
    processes_.end_expansion(false);
    throw;
  }
  processes_.end_expansion(all_have != 0);
  refused_calls_ = 0;
  calls_to_refuse_ = std::min(2 * calls_to_refuse_ + 1, kMaximumCallsToRefuse);
  return all_have != 0;
}

void ProcessesMember::look_around(const Plan& plan) {
  const bool crosses = plan.meets() || plan.crossing;
  if (crosses && index() == 0) processes_.look_around(plan.leaving());
}

void ProcessesMember::run_now(const Plan& plan, const CallArguments& arguments) {
  if (plan.meets()) {
    return PairsRun(executor(), processes_.memory(), *plan.pairs, arguments, run_numbers())
        .finish();
  }
  if (!plan.crossing) return executor().run(program(plan), arguments, next_run());
  // Short nonblocking calls may be deferred, on some members.
  const bool may_choose = arguments.is_blocking || !plan.is_short;
  SlicedRun run(*this, plan, arguments, may_choose ? Buffers::where_they_are : Buffers::staged);
  run.finish();
}

/// Runs of either kind, in place.
class ProcessesMember::RunStarter {
 public:
  explicit RunStarter(ProcessesMember& member) noexcept : member_(member) {}

  ExecutorRun& start(const CallRun& run) {
    const Plan& plan = *run.plan;
    if (plan.meets()) {
      return pairs_.emplace(member_.executor(), member_.processes_.memory(), *plan.pairs,
                            run.arguments, member_.run_numbers());
    }
    if (plan.crossing) {
      return sliced_.emplace(member_, plan, run.arguments, Buffers::where_they_are);
    }
    return single_.emplace(member_.executor(), member_.program(plan),
                           member_.as_next_run(run.arguments));
  }

 private:
  ProcessesMember& member_;
  std::optional<SingleRun> single_;
  std::optional<SlicedRun> sliced_;
  std::optional<PairsRun<RunNumbers>> pairs_;
};

std::unique_ptr<DrivenRun> ProcessesMember::driver(CallRuns& runs) {
  return std::make_unique<RunsByOne<RunStarter>>(runs, *this);
}

bool ProcessesMember::is_reached(const Plan& plan, const CallArguments& arguments) const {
  const auto is_shared = [&](const void* buffer) {
    return buffer == nullptr || processes_.is_shared(buffer);
  };
  return is_shared(arguments.input) && (!gets_result(plan.query) || is_shared(arguments.output));
}

bool ProcessesMember::gets_result(const PlanQuery& query) const {
  return traits_of(query.collective).output.are_held_by(rank_, query.root);
}

}  // namespace hycoll
