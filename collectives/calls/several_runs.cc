// Calls that are several runs: how they are made blocking, in the background, or driven by their
// owner.

#include <algorithm>
#include <cstddef>
#include <exception>
#include <utility>

#include "collectives/calls/caller.h"
#include "collectives/runs/single_call.h"

namespace hycoll {

std::unique_ptr<CallRuns> Caller::single_call(const Call& call) {
  PreparedCall prepared = resolve(call);
  find_plan(prepared);
  const Plan* const agreement = prepared.is_custom ? &plans_.find(agreement_query()) : nullptr;
  return std::make_unique<SingleCall>(*this, std::move(prepared), agreement);
}

std::unique_ptr<CallRuns> Caller::several_runs(const Call& call) {
  if (auto runs = long_call(call)) return runs;
  return combines(call.collective) && call.op.is_custom() ? single_call(call) : nullptr;
}

void Caller::provide_for_all(const CallRuns& runs, Waiting waiting) {
  for (const Plan* const plan : runs.plans()) provide_for(*plan, waiting);
}

void Caller::enter(CallRuns& runs, Waiting waiting) {
  provide_for_all(runs, waiting);
  CallArguments arguments{.reducer = {}, .signature = runs.signature()};
  CallRuns::Before before;
  enter(arguments, runs.number_count());
  if (CallGate* const gate = identity_.gate) {
    before = [gate, number = arguments.call] { gate->pass(number); };
  }
  runs.start(arguments.call, std::move(before));
}

void Caller::announce(const CallRuns& runs) {
  if (identity_.announcer == nullptr) return;
  for (std::size_t index = 0; index < runs.number_count(); ++index) {
    const CallRun run = runs.outline(index);
    announced(*run.plan, run.arguments);
  }
}

int Caller::thread_count(const CallRuns& runs) const {
  int most = 1;
  for (const Plan* const plan : runs.plans()) most = std::max(most, participants(*plan));
  return most;
}

std::shared_ptr<PoolJob> Caller::hand_in(std::shared_ptr<PoolJob> job, int thread_count) {
  const auto [pool, deferred, first] = background();
  if (!deferred.finished()) pool.submit(std::make_shared<PoolJob>(deferred), first, first);
  pool.submit(job, first, first + thread_count - 1);
  return background_ = std::move(job);
}

std::shared_ptr<PoolJob> Caller::job_of(CallRuns& runs, Blocking blocking) {
  const int count = thread_count(runs);
  auto joint = std::make_shared<JointRuns>(runs, count);
  return std::make_shared<PoolJob>(
      [this, joint, blocking](int worker, const CallArguments& job) {
        joint->take_part([&](const CallRun& run) {
          CallArguments arguments = run.arguments;
          arguments.is_blocking = blocking == Blocking::yes;
          arguments.hurried = job.hurried;
          execute_part(worker, *run.plan, arguments);
        });
      },
      CallArguments{}, count);
}

std::shared_ptr<PoolJob> Caller::begin(CallRuns& runs, Blocking blocking) {
  try {
    announce(runs);
    return hand_in(job_of(runs, blocking), thread_count(runs));
  } catch (const std::exception&) {
    take_back(runs.first_number());
    throw;
  }
}

void Caller::run(CallRuns& runs) {
  if (!is_idle() || thread_count(runs) > 1) {
    begin(runs, Blocking::yes)->wait();
    return runs.finish();
  }
  announce(runs);
  while (const CallRun* const run = runs.next()) {
    CallArguments arguments = run->arguments;
    arguments.is_blocking = true;
    try {
      execute(*run->plan, arguments);
    } catch (const std::exception&) {
      runs.note(handled_failure());
    }
  }
  runs.finish();
}

}  // namespace hycoll
