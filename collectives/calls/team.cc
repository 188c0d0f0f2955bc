// The layout threads: the threads of a parallel region are the members. They and those of other
// processes of the machine may form one node.

#include <fmt/format.h>

#include <cstdio>
#include <mutex>
#include <utility>
#include <vector>

#include "collectives/api/hycoll.h"
#include "collectives/calls/aggregators.h"
#include "collectives/calls/call_gate.h"
#include "collectives/calls/caller.h"
#include "collectives/calls/processes_member.h"
#include "collectives/calls/threads_member.h"
#include "collectives/job/process_group.h"
#include "collectives/node/node_processes.h"
#include "collectives/node/workers.h"
#include "collectives/plans/plan_cache.h"
#include "numa/placement/binding.h"
#include "numa/topology/openmp_runtime.h"
#include "threading/execution/leader_pool.h"
#include "threading/transport/mpi/joint_setup.h"

namespace hycoll {

namespace {

int checked(int thread_count) {
  if (thread_count >= 1) return thread_count;
  throw Error(ErrorKind::invalid_argument,
              fmt::format("Team: thread_count is {}; a team needs at least 1 thread, e.g. "
                          "omp_get_max_threads()",
                          thread_count));
}

}  // namespace

/// What a thread's handle stands for.
struct Member::State {
  std::unique_ptr<Caller> caller;
  int rank;
  int size;
  bool bound = false;
};

struct Team::State {
  /// Of all processes of `parent`, or none: throws Error on all.
  static std::unique_ptr<State> make(MPI_Comm parent, int thread_count, const Options& options) {
    ProcessGroup::require_mpi();
    return JointSetup::run(parent, [&](JointSetup& setup) {
      return std::make_unique<State>(setup, parent, thread_count, options);
    });
  }

  State(JointSetup& setup, MPI_Comm parent, int thread_count, const Options& options)
      : group(setup, parent, options) {
    if (options.layout == Options::Layout::processes) {
      share_node(checked(thread_count));
    } else {
      make_node(checked(thread_count));
    }
  }

  /// The process is a node.
  void make_node(int thread_count);
  void add_members(int thread_count);
  /// It forms one together with others.
  void share_node(int thread_count);
  void make_gate(int thread_count);

  const std::vector<Core>& cores() const {
    return processes != nullptr ? processes->cores() : workers->cores();
  }

  ProcessGroup group;
  std::unique_ptr<NodeProcesses> processes;  // null but with the layout processes
  std::unique_ptr<NodeWorkers> workers;      // null with the layout processes
  std::unique_ptr<PlanCache> plans;
  std::unique_ptr<PlanCache> staging_plans;  // null unless the workers may stage
  std::unique_ptr<PlanCache> far_plans;      // the same
  std::unique_ptr<CallAnnouncer> announcer;  // null but for member 0 where there are aggregators
  std::unique_ptr<CallGate> gate;            // null unless all processes are compared
  std::vector<Member::State> members;        // none on aggregators
  // Last: their threads use the others.
  std::unique_ptr<LeaderPool> pool;            // null with the layout processes
  std::unique_ptr<ProgressKeeper> keeper;      // the same, and on aggregators
  std::unique_ptr<AggregatorService> service;  // null but on aggregators
};

void Team::State::make_node(int thread_count) {
  const Options& options = group.options();
  workers = std::make_unique<NodeWorkers>(group, thread_count, MemberCount::every_worker);
  plans = std::make_unique<PlanCache>(workers->plan_options(group));
  if (workers->may_stage()) {
    staging_plans = std::make_unique<PlanCache>(workers->staging_plan_options(group));
    far_plans = std::make_unique<PlanCache>(workers->far_plan_options(group));
  }
  if (group.announces()) announcer = std::make_unique<CallAnnouncer>(group);
  pool = std::make_unique<LeaderPool>(workers->executors(), group.topology(), workers->cores(),
                                      options.pinning == Options::Pinning::pinned
                                          ? LeaderPool::Pinning::pinned
                                          : LeaderPool::Pinning::unpinned,
                                      workers->wait_policy());
  if (group.aggregator_count() > 0) group.setup().meet();  // the announcer ends the services
  if (group.is_aggregator()) {
    service = std::make_unique<AggregatorService>(group, *workers, *plans);
    return;
  }
  make_gate(thread_count);
  add_members(thread_count);
}

void Team::State::add_members(int thread_count) {
  std::vector<ThreadsMember*> threads;
  std::vector<LookedAfter*> runs;
  std::optional<ThreadsMember::FarPlans> far;
  if (workers->may_stage()) far.emplace(*staging_plans, *far_plans);
  for (int index = 0; index < thread_count; ++index) {
    const int rank = workers->first_rank() + index;
    auto member = std::make_unique<ThreadsMember>(
        *plans, far ? &*far : nullptr, *workers, *pool,
        CallerIdentity{.rank = rank,
                       .member_count = workers->member_count(),
                       .slot = index,
                       .bits = group.options().bits,
                       .overlaps = group.options().overlaps,
                       .announcer = index == 0 ? announcer.get() : nullptr,
                       .gate = gate.get()});
    threads.push_back(member.get());
    runs.push_back(member->deferred());
    members.push_back({std::move(member), rank, workers->member_count()});
  }
  keeper = std::make_unique<ProgressKeeper>(std::move(runs), workers->wait_policy().rest);
  for (ThreadsMember* thread : threads) thread->set_keeper(*keeper);
}

void Team::State::share_node(int thread_count) {
  processes = std::make_unique<NodeProcesses>(group, ThreadNumbering(group.gather(thread_count)));
  plans = std::make_unique<PlanCache>(processes->plan_options(group));
  make_gate(thread_count);
  for (int index = 0; index < thread_count; ++index) {
    auto member = std::make_unique<ProcessesMember>(group, *processes, *plans, gate.get(), index);
    members.push_back(
        {std::move(member), processes->first_rank() + index, processes->member_count()});
  }
}

void Team::State::make_gate(int thread_count) {
  if (group.options().checking != Options::Checking::all_processes) return;
  gate = std::make_unique<CallGate>(group, thread_count);
}

namespace {

/// Binds the calling thread to the core that is planned for it, unless OpenMP has bound it. Where
/// that is another core, the first one says so.
void bind_member(const ProcessGroup& group, const Core& planned) {
  static std::once_flag told;
  try {
    if (!openmp_binds_this_thread()) return bind_this_thread(group.topology(), planned);
    const AffinityMask own = this_thread_affinity(group.topology());
    if (own.contains(planned.os_index)) return;
    std::call_once(told, [&] {
      std::fprintf(stderr,
                   "hycoll: process %d: OpenMP has bound a thread to CPUs %s, and hycoll planned "
                   "it for CPU %d; it stays where it is. Where processes share a machine, let the "
                   "launcher give each cores of its own, or unset OMP_PROC_BIND: hycoll binds "
                   "threads then. HYCOLL_PIN=0 leaves all threads alone\n",
                   group.rank(), own.to_string().c_str(), planned.os_index);
    });
  } catch (const Error&) {
    // A container may forbid binding; the thread then runs wherever the process may.
  }
}

}  // namespace

Team::Team(MPI_Comm parent, int thread_count, const Options& options)
    : state_(State::make(parent, thread_count, options)) {}

Team::~Team() = default;
Team::Team(Team&&) noexcept = default;
Team& Team::operator=(Team&&) noexcept = default;

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
  const int region_threads = openmp_region_threads();
  if (region_threads > 0 && region_threads < thread_count()) {
    throw Error(
        ErrorKind::invalid_argument,
        fmt::format("Team::join: the parallel region has {} threads, but the team has {} here, and "
                    "those that are missing would be waited for. Open the region with "
                    "num_threads({}), or make the team with as many threads as OpenMP gives",
                    region_threads, thread_count(), thread_count()));
  }
  Member::State& member = state_->members[static_cast<std::size_t>(thread_index)];
  if (!member.bound && state_->group.options().pinning == Options::Pinning::pinned) {
    member.bound = true;
    bind_member(state_->group, state_->cores()[static_cast<std::size_t>(thread_index)]);
  }
  return Member(&member);
}

Communicator::Choice Team::choice(const Call& call) const {
  if (is_aggregator()) throw_aggregator_calls(state_->group);
  return choice_of(state_->members.front().caller->choice(call));
}

int Member::rank() const noexcept { return state_->rank; }
int Member::size() const noexcept { return state_->size; }

void Member::run(const Call& call) {
  const CallSite site(__builtin_return_address(0));
  state_->caller->run(call);
}

Request Member::start(const Call& call) { return Request(state_->caller->start(call)); }

Persistent Member::prepare(const Call& call) { return Persistent(state_->caller->prepare(call)); }

}  // namespace hycoll
