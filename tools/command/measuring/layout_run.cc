#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <thread>
#include <utility>

#include "collectives/algorithms/registry.h"
#include "collectives/api/hycoll.h"
#include "collectives/selection/selection.h"
#include "core/base/errors.h"
#include "core/schedule/shape.h"
#include "numa/placement/binding.h"
#include "threading/transport/mpi/end_job.h"
#include "tools/command/line/arguments.h"
#include "tools/command/measuring/agenda.h"
#include "tools/command/measuring/bench_layouts.h"
#include "tools/command/measuring/contestants.h"
#include "tools/command/measuring/crew.h"
#include "tools/command/measuring/limit_team.h"
#include "tools/command/measuring/machine_context.h"
#include "tools/command/measuring/persistent_contestants.h"

namespace hycoll::command {
namespace {

/// How often a size is measured again when the state of the machine has changed meanwhile.
constexpr int kMaximumRepeats = 3;

/// Those that are measured in alternation, and what each of them is.
struct Lineup {
  Contestants contestants;
  std::vector<Role> roles;

  void add(Role role, std::unique_ptr<Contestant> contestant) {
    roles.push_back(role);
    contestants.push_back(std::move(contestant));
  }
};

/// What was measured of a task, between two looks at the machine.
struct ProbedTimings {
  SizeTimings sizes;
  measure::LatencyInterval latency = {};
  int repeats = 0;
};

/// The processes that have members: all but the last ones, the aggregators.
class MemberProcesses {
 public:
  /// Collective. Throws Error if no process would remain.
  MemberProcesses(const MpiSession& session, int aggregators)
      : count_(session.size - aggregators), is_aggregator_(session.rank >= count_) {
    if (count_ < 1) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("--aggregators {}: {} processes have been started, and the last {} "
                              "would have no members. Start more processes (--ranks), or ask for "
                              "fewer aggregators",
                              aggregators, session.size, aggregators));
    }
    MPI_Comm_split(session.world, is_aggregator_ ? 1 : 0, session.rank, &comm_);
  }
  ~MemberProcesses() { MPI_Comm_free(&comm_); }
  MemberProcesses(const MemberProcesses&) = delete;
  MemberProcesses& operator=(const MemberProcesses&) = delete;

  int count() const noexcept { return count_; }
  bool is_aggregator() const noexcept { return is_aggregator_; }
  /// Of those with members; only for them.
  MPI_Comm comm() const noexcept { return comm_; }

 private:
  int count_;
  bool is_aggregator_;
  MPI_Comm comm_ = MPI_COMM_NULL;
};

/// One benchmark on one process.
class LayoutRun {
 public:
  LayoutRun(const MpiSession& session, const Topology& machine, const BenchSettings& settings,
            Agenda& agenda)
      : session_(session),
        share_(machine.share(session.local_rank, session.local_size, LauncherBinding::none)),
        settings_(settings),
        agenda_(agenda),
        members_(session, settings.aggregators) {
    if (settings.probing == Probing::yes && session.speaks()) whole_machine_ = unbound_machine();
  }

  BenchResult run() && {
    std::optional<Error> failure;
    try {
      check_root(settings_.measurement.problem.root, member_count());
      run_layout();
    } catch (const Error& error) {
      failure = error;
    }
    if (settings_.aggregators > 0) tell_aggregators(failure.has_value() || result_.rows.empty());
    if (failure) throw Error(*failure);
    return std::move(result_);
  }

 private:
  void run_layout() {
    if (settings_.layout == Layout::native) {
      bind_to_share();
      return run_native();
    }
    const EqualNodes nodes = member_nodes();
    if (has_communicator(settings_.layout)) bind_to_share();
    for (const std::string& algorithm : algorithms(nodes)) {
      agenda_.begin();
      settings_.layout == Layout::threads ? run_threads(algorithm) : run_communicator(algorithm);
    }
  }

  int workers() const {
    return settings_.workers > 0 ? settings_.workers : share_.usable_core_count();
  }

  /// Of all processes, which may have different numbers of workers.
  int member_count() const {
    int count = settings_.layout == Layout::threads ? workers() : 1;
    if (members_.is_aggregator()) count = 0;
    MPI_Allreduce(MPI_IN_PLACE, &count, 1, MPI_INT, MPI_SUM, session_.world);
    return count;
  }

  /// Aggregators have no rows: they are told if there are none, so that all processes fail alike.
  void tell_aggregators(bool nothing_measured) {
    int is_refused = nothing_measured ? 1 : 0;
    MPI_Bcast(&is_refused, 1, MPI_INT, 0, session_.world);
    if (members_.is_aggregator() && is_refused != 0) {
      result_.refusals.emplace_back("the processes with members say why");
    }
  }

  static std::size_t count_of(const BenchTask& task) {
    return task.size_bytes / size_of(task.measurement.problem.type);
  }

  /// Calls measure_task(task) for all tasks; called by all threads of the process that measure.
  template <class MeasureTask>
  void for_all_tasks(Crew& crew, int thread, MeasureTask measure_task) {
    for (;;) {
      crew.alone(thread, [&] { task_ = agenda_.next(); });
      if (!task_) return;
      measure_task(BenchTask(*task_));
    }
  }

  void bind_to_share() const {
    try {
      bind_this_thread(share_, share_.affinity());
    } catch (const Error&) {
      // A container may forbid binding; the process then runs wherever it may.
    }
  }

  /// The nodes, as far as which algorithms serve them depends on it. Collective.
  EqualNodes member_nodes() const {
    int members = settings_.layout == Layout::threads ? workers() : 1;
    MPI_Bcast(&members, 1, MPI_INT, 0, session_.world);
    if (shares_nodes(settings_.layout)) members = members_per_node();
    return {.node = {members, members}, .count = node_count()};
  }

  int node_count() const {
    if (!shares_nodes(settings_.layout)) return members_.count();
    const int machines = session_.size / session_.local_size;
    return machines * std::max(settings_.emulated_nodes, 1);
  }

  /// Where the processes share nodes: of the largest ones.
  int members_per_node() const { return (members_.count() + node_count() - 1) / node_count(); }

  std::vector<std::string> algorithms(const EqualNodes& nodes) const {
    if (settings_.algorithm != "all") return {settings_.algorithm};
    const int lanes = settings_.lanes > 0 ? settings_.lanes : 1;
    const Shape shape(std::span(&nodes, 1), lanes);
    const Shape aggregated(with_aggregators({nodes}, settings_.aggregators), lanes);
    std::vector<std::string> names;
    const Collective collective = collective_of(settings_.measurement.problem.routine);
    for (const Algorithm& algorithm : algorithms_of(collective)) {
      if (settings_.aggregators > 0 && algorithm.exchange.help == ExchangeHelp::mpi_library)
        continue;
      if (algorithm.serves_shape(shape) || algorithm.serves_shape(aggregated)) {
        names.emplace_back(algorithm.name);
      }
    }
    return names;
  }

  /// `caller` is a Communicator, or a Team of which `member_count` threads call.
  template <class Caller>
  static Communicator::Choice choice_of(const Caller& caller, const BenchTask& task, int members) {
    return caller.choice(
        call_of(task.measurement.problem, count_of(task), members, nullptr, nullptr));
  }

  /// Whether calls of the team's threads can be compared with what they do to memory.
  bool has_limit(const BenchTask& task) const {
    const bool wanted = settings_.subject == Subject::limit ||
                        (settings_.subject == Subject::call && settings_.limit == LimitToo::yes &&
                         task.size_bytes >= kLimitBytes);
    return wanted && session_.size == 1 && LimitTeam::serves(task.measurement.problem);
  }

  /// hycoll's; `caller` is a Communicator or a Member of a Team.
  template <class Caller>
  void add_calls(Lineup& lineup, Caller& caller, const BenchTask& task,
                 const std::string& algorithm) {
    const Problem& problem = task.measurement.problem;
    const std::size_t count = count_of(task);
    if (settings_.subject == Subject::call) {
      lineup.add(Role::call, hycoll_contestant(caller, problem, count, algorithm));
    } else if (settings_.subject == Subject::persistent) {
      PersistentContestants forms = persistent_contestants(caller, problem, count);
      lineup.add(Role::call, std::move(forms.call));
      lineup.add(Role::start, std::move(forms.start));
      lineup.add(Role::start_and_wait, std::move(forms.start_and_wait));
      lineup.add(Role::persistent_run, std::move(forms.run));
    }
  }

  /// The MPI library's, beside hycoll's.
  void add_native(Lineup& lineup, const BenchTask& task) const {
    const Problem& problem = task.measurement.problem;
    if (settings_.subject == Subject::call) {
      return lineup.add(Role::native, native_contestant(members_.comm(), problem, count_of(task)));
    }
    lineup.add(Role::native, timed_native_contestant(members_.comm(), problem, count_of(task)));
    if (auto persistent = persistent_native_contestant(members_.comm(), problem, count_of(task))) {
      lineup.add(Role::native_persistent, std::move(persistent));
    }
  }

  void run_native();
  void run_communicator(const std::string& algorithm);
  void run_threads(const std::string& algorithm);
  void run_member(Team& team, Crew& crew, LimitTeam& limit, int thread,
                  const std::string& algorithm);
  double probe(const MeasuringMember& member) const;
  ProbedTimings measure(const MeasuringMember& member, const BenchTask& task,
                        const Lineup& lineup) const;
  void record(BenchRow row, const Lineup& lineup, const ProbedTimings& measured);

  const MpiSession& session_;
  Topology share_;
  const BenchSettings& settings_;
  Agenda& agenda_;
  std::optional<BenchTask> task_;          // written while all threads but one sleep
  std::optional<Topology> whole_machine_;  // of who looks at the machine's state
  MemberProcesses members_;
  BenchResult result_;
};

/// The latency between the cores while all members sleep; 0 with a single core.
double LayoutRun::probe(const MeasuringMember& member) const {
  double latency_ns = 0;
  member.crew.alone(member.thread, [&] {
    meet_idly(members_.comm());
    if (whole_machine_) {
      const std::optional<double> latency =
          measure::measure_latency_ns(*whole_machine_, whole_machine_->cores());
      latency_ns = latency.value_or(0);
    }
    meet_idly(members_.comm());
  });
  return member.crew.maximum(member.thread, latency_ns);
}

ProbedTimings LayoutRun::measure(const MeasuringMember& member, const BenchTask& task,
                                 const Lineup& lineup) const {
  ProbedTimings measured;
  const auto look = [&]() -> std::optional<double> {
    const double latency_ns = settings_.probing == Probing::yes ? probe(member) : 0;
    return latency_ns > 0 ? std::optional(latency_ns) : std::nullopt;
  };
  measured.latency.after_ns = look();
  for (;; ++measured.repeats) {
    measured.latency.before_ns = measured.latency.after_ns;
    measured.sizes = measure_size(member, task.size_bytes, lineup.contestants, task.measurement);
    if (measured.sizes.timings.empty()) return measured;
    measured.latency.after_ns = look();
    if (!state_changed(measured.latency) || measured.repeats == kMaximumRepeats) return measured;
  }
}

void LayoutRun::record(BenchRow row, const Lineup& lineup, const ProbedTimings& measured) {
  const std::vector<Timing>& timings = measured.sizes.timings;
  if (timings.empty()) {
    result_.refusals.push_back(fmt::format("{}, {} bytes: {}", row.algorithm, row.task.size_bytes,
                                           measured.sizes.refusal));
    return agenda_.refused(result_.refusals.back());
  }
  row.latency = measured.latency;
  row.repeats = measured.repeats;
  for (std::size_t i = 0; i < timings.size(); ++i) {
    row.timings.push_back({lineup.roles[i], lineup.contestants[i]->name(), timings[i]});
  }
  agenda_.measured(row);
  result_.rows.push_back(std::move(row));
}

void LayoutRun::run_native() {
  Crew crew(session_.world, 1);
  const MeasuringMember member{crew, 0, session_.rank, session_.size};
  for_all_tasks(crew, 0, [&](const BenchTask& task) {
    Lineup lineup;
    lineup.add(Role::call,
               native_contestant(session_.world, task.measurement.problem, count_of(task)));
    record({.task = task,
            .algorithm = kNativeName,
            .nodes = session_.size / session_.local_size,
            .members = session_.local_size,
            .workers = session_.local_size},
           lineup, measure(member, task, lineup));
  });
}

void LayoutRun::run_communicator(const std::string& algorithm) {
  Communicator communicator(session_.world, hycoll_options(settings_, algorithm));
  if (communicator.is_aggregator()) return communicator.serve();
  Crew crew(members_.comm(), 1);
  const MeasuringMember member{crew, 0, communicator.rank(), communicator.size()};
  for_all_tasks(crew, 0, [&](const BenchTask& task) {
    Lineup lineup;
    add_calls(lineup, communicator, task, algorithm);
    if (settings_.native == NativeToo::yes) add_native(lineup, task);
    const ProbedTimings measured = measure(member, task, lineup);
    const Communicator::Choice choice = choice_of(communicator, task, member.member_count);
    const int members = shares_nodes(settings_.layout) ? members_per_node() : 1;
    record({.task = task,
            .algorithm = choice.algorithm,
            .nodes = node_count(),
            .members = members,
            .workers = members * communicator.worker_count(),
            .lanes = choice.lanes,
            .segments = choice.segments},
           lineup, measured);
  });
}

void LayoutRun::run_threads(const std::string& algorithm) {
  Team team(session_.world, workers(), hycoll_options(settings_, algorithm));
  if (team.is_aggregator()) return team.serve();
  Crew crew(members_.comm(), team.thread_count());
  LimitTeam limit(crew);
  // The calling thread takes no part, because joining a team binds a thread for good, and the next
  // team looks for cores where the threads of the process may run.
  std::vector<std::thread> threads;
  for (int thread = 0; thread < team.thread_count(); ++thread) {
    threads.emplace_back([&, thread] {
      try {
        run_member(team, crew, limit, thread, algorithm);
      } catch (const Error& error) {
        // The others wait for this member and cannot be told.
        end_job(
            fmt::format("hycoll: thread {} of rank {}: {}", thread, session_.rank, error.what()),
            kUsage);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

void LayoutRun::run_member(Team& team, Crew& crew, LimitTeam& limit, int thread,
                           const std::string& algorithm) {
  Member hycoll_member = team.join(thread);
  const MeasuringMember member{crew, thread, hycoll_member.rank(), hycoll_member.size()};
  for_all_tasks(crew, thread, [&](const BenchTask& task) {
    Lineup lineup;
    add_calls(lineup, hycoll_member, task, algorithm);
    for (int kernel = 0; has_limit(task) && kernel < measure::kLimitKernelCount; ++kernel) {
      lineup.add(Role::limit, limit.contestant(static_cast<measure::LimitKernel>(kernel),
                                               task.measurement.problem, thread, count_of(task)));
    }
    const ProbedTimings measured = measure(member, task, lineup);
    if (thread != 0) return;
    const Communicator::Choice choice = choice_of(team, task, member.member_count);
    record({.task = task,
            .algorithm = choice.algorithm,
            .nodes = members_.count(),
            .members = team.thread_count(),
            .workers = team.thread_count(),
            .lanes = choice.lanes,
            .segments = choice.segments},
           lineup, measured);
  });
}

}  // namespace

BenchResult run_bench(const MpiSession& session, const Topology& machine,
                      const BenchSettings& settings, Agenda& agenda) {
  return LayoutRun(session, machine, settings, agenda).run();
}

}  // namespace hycoll::command
