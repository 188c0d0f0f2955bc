#include "collectives/node_process_member.h"

#include <utility>

namespace hycoll {
namespace {

/// A run in which a worker does nothing but wait until all others have entered it.
Program arrival_of_others(int worker, int worker_count) {
  Program program;
  StrandProgram& strand = program.strands.emplace_back();
  for (int other = 0; other < worker_count; ++other) {
    if (other == worker) continue;
    strand.instructions.push_back({.kind = InstructionKind::wait_post, .worker = other});
  }
  return program;
}

}  // namespace

NodeProcessMember::NodeProcessMember(ProcessGroup& group, NodeProcesses& processes,
                                     PlanCache& plans, CallGate* gate, int thread)
    : Caller(plans, processes.memory(),
             {.rank = processes.first_rank() + thread,
              .member_count = processes.member_count(),
              .slot = processes.worker() + thread,
              .bits = group.options().bits,
              .announcer = nullptr,
              .gate = gate}),
      processes_(processes),
      thread_(thread),
      rank_(processes.first_rank() + thread),
      arrival_(arrival_of_others(worker(), processes.memory().worker_count())),
      deferred_(executor()),
      // Background threads run where the process may: it has hardly more cores than threads.
      pool_(processes.executors(), group.topology(), processes.cores(),
            LeaderPool::Pinning::unpinned, processes.wait_policy()),
      keeper_({&deferred_}) {}

void NodeProcessMember::execute(const Plan& plan, const CallArguments& arguments) {
  if (!deferred_.finished()) deferred_.finish();
  if (background_ != nullptr && !background_->finished()) {
    const std::shared_ptr<PoolJob> job = submit(plan, arguments, {});
    job->wait();
    return job->throw_if_failed();
  }
  run_here(plan, arguments);
}

std::shared_ptr<PoolJob> NodeProcessMember::submit(const Plan& plan, const CallArguments& arguments,
                                                   PoolJob::Before before) {
  if (!deferred_.finished()) pool_.submit(std::make_shared<PoolJob>(deferred_), thread_, thread_);
  background_ = std::make_shared<PoolJob>(
      [this, &plan](const CallArguments& job_arguments) { run_here(plan, job_arguments); },
      arguments, std::move(before));
  pool_.submit(background_, thread_, thread_);
  return background_;
}

DeferredRun* NodeProcessMember::defer(const Plan& plan, const CallArguments& arguments,
                                      DeferredOutcome& outcome) {
  const bool is_idle = deferred_.finished() && (background_ == nullptr || background_->finished());
  const bool is_one_run = !plan.crossing || plan.crossing->staged.run_count == 1;
  if (!plan.is_short || !is_one_run || !is_idle) return nullptr;
  const Program& only = plan.crossing ? plan.crossing->staged.program(0, worker()) : program(plan);
  deferred_.start(only, next_run(arguments), outcome);
  if (!deferred_.finished()) keeper_.watch();
  return &deferred_;
}

const Program& NodeProcessMember::program(const Plan& plan) const {
  return plan.programs[static_cast<std::size_t>(worker())];
}

CallArguments NodeProcessMember::next_run(const CallArguments& arguments) {
  CallArguments numbered = arguments;
  numbered.member_call = arguments.call;
  numbered.call = ++run_;
  return numbered;
}

void NodeProcessMember::run_here(const Plan& plan, const CallArguments& arguments) {
  if (!plan.crossing) return executor().run(program(plan), arguments, ++run_);
  CallArguments slice = next_run(arguments);
  // Short nonblocking calls may be deferred, on some members.
  const bool may_choose = arguments.is_blocking || !plan.is_short;
  const bool directly = may_choose && (plan.crossing->copies || all_reach_all(plan, slice));
  const SlicedPrograms& sliced = directly ? *plan.crossing->direct : plan.crossing->staged;
  for (std::size_t run = 0; run < sliced.run_count; ++run) {
    if (run > 0) slice = slice_of(arguments, run * sliced.displacement_bytes);
    slice.is_agreed_on = arguments.is_agreed_on || run + 1 < sliced.run_count;
    executor().run(sliced.program(run, worker()), slice);
  }
}

CallArguments NodeProcessMember::slice_of(const CallArguments& arguments,
                                          std::size_t displacement_bytes) {
  CallArguments slice = next_run(arguments);
  if (slice.input != nullptr) {
    slice.input = static_cast<const std::byte*>(slice.input) + displacement_bytes;
  }
  if (slice.output != nullptr) {
    slice.output = static_cast<std::byte*>(slice.output) + displacement_bytes;
  }
  return slice;
}

bool NodeProcessMember::all_reach_all(const Plan& plan, const CallArguments& arguments) {
  if (!processes_.shares_heaps() || !plan.crossing->direct) return false;
  const auto is_reached = [&](const void* buffer) {
    return buffer == nullptr || processes_.is_shared(buffer);
  };
  const bool is_own_reached =
      is_reached(arguments.input) && (!gets_result(plan.query) || is_reached(arguments.output));
  NodeMemory& memory = processes_.memory();
  memory.post(worker()).set_reach(arguments.call, is_own_reached ? Reach::node : Reach::worker);
  if (!is_own_reached) return false;
  // The same run, up to the moment when all have announced it.
  CallArguments beginning = arguments;
  beginning.is_agreed_on = true;
  executor().run(arrival_, beginning);
  for (int worker = 0; worker < memory.worker_count(); ++worker) {
    if (memory.post(worker).reach(arguments.call) == Reach::worker) return false;
  }
  return true;
}

bool NodeProcessMember::gets_result(const PlanQuery& query) const {
  if (query.collective == Collective::reduce) return rank_ == query.root;
  if (query.collective == Collective::broadcast) return rank_ != query.root;
  return query.collective != Collective::exscan || rank_ > 0;
}

}  // namespace hycoll
