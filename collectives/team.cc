// The layout threads: the threads of a parallel region are the members.

#include <fmt/format.h>

#include <vector>

#include "collectives/arguments.h"
#include "collectives/hycoll.h"
#include "collectives/plan_cache.h"
#include "collectives/process_group.h"
#include "collectives/workers.h"
#include "numa/binding.h"

namespace hycoll {

/// What one thread keeps to itself.
struct alignas(kCacheLineBytes) Member::State {
  State(Team::State& its_team, int its_index);

  void check_processes(const CallArguments& arguments);

  Team::State& team;
  int index;
  bool bound = false;
  CallNumber call = 0;
  WorkerExecutor& executor;
  RecentPlans plans;
  RecentKernel kernel;
  Token token;
};

struct Team::State {
  State(MPI_Comm parent, int thread_count, const Options& options)
      : group(parent, options),
        workers(group, checked(thread_count), MemberCount::every_worker),
        plans(workers.plan_options(group)) {
    for (int index = 0; index < thread_count; ++index) {
      members.push_back(std::make_unique<Member::State>(*this, index));
    }
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
  std::vector<std::unique_ptr<Member::State>> members;
};

Member::State::State(Team::State& its_team, int its_index)
    : team(its_team),
      index(its_index),
      executor(its_team.workers.executor(its_index)),
      plans(its_team.plans) {}

/// One member speaks for its process; the others meet a failure while they wait for it.
void Member::State::check_processes(const CallArguments& arguments) {
  if (team.group.options().checking != Options::Checking::all_processes || index != 0) return;
  try {
    team.group.check_signature(arguments.signature, "allreduce");
  } catch (const Error& error) {
    team.workers.memory().fail(arguments.call, error);
    throw;
  }
}

Team::Team(MPI_Comm parent, int thread_count, const Options& options)
    : state_(std::make_unique<State>(parent, thread_count, options)) {}

Team::~Team() = default;

int Team::thread_count() const noexcept { return state_->workers.count(); }

Member Team::join(int thread_index) {
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

Communicator::Choice Team::choice(std::size_t count, DataType type) const {
  return choice_of(state_->plans.select(count, size_of(type)));
}

int Member::rank() const noexcept { return state_->team.workers.first_rank() + state_->index; }
int Member::size() const noexcept { return state_->team.workers.member_count(); }

void Member::allreduce(const void* input, void* output, std::size_t count, DataType type,
                       Operator op) {
  check_arguments(input, output, count, type, op);
  State& state = *state_;
  const PreparedCall call =
      prepare_call(++state.call, input, output, count, type, op, state.kernel, state.token);
  state.check_processes(call.arguments);
  const Plan& plan = state.plans.find(call.count, call.element_bytes);
  state.executor.run(plan.programs[static_cast<std::size_t>(state.index)], call.arguments);
}

void Member::barrier() { allreduce(nullptr, nullptr, 0, DataType::uint8, Operator::max); }

void Member::require_same_size(std::size_t input_size, std::size_t output_size) {
  hycoll::require_same_size(input_size, output_size);
}

}  // namespace hycoll
