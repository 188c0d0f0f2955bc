#include "tools/command/bench_layouts.h"

#include <fmt/format.h>

#include <thread>
#include <utility>

#include "collectives/hycoll.h"
#include "collectives/registry.h"
#include "core/errors.h"
#include "core/shape.h"
#include "numa/binding.h"
#include "tools/command/arguments.h"
#include "tools/command/contestants.h"
#include "tools/command/crew.h"

namespace hycoll::command {
namespace {

constexpr Layout kLayouts[] = {Layout::threads, Layout::per_node, Layout::native};

/// One benchmark on one process.
class LayoutRun {
 public:
  LayoutRun(const MpiSession& session, const Topology& machine, const BenchSettings& settings,
            const std::function<void(const BenchRow&)>& on_row)
      : session_(session),
        share_(machine.share(session.local_rank, session.local_size, LauncherBinding::none)),
        settings_(settings),
        on_row_(on_row) {}

  BenchResult run() && {
    check_root(settings_.measurement.problem.root, member_count());
    if (settings_.layout == Layout::native) {
      bind_to_share();
      run_native();
    } else {
      const int members = settings_.layout == Layout::threads ? workers() : 1;
      if (settings_.layout == Layout::per_node) bind_to_share();
      for (const std::string& algorithm : algorithms(members)) {
        settings_.layout == Layout::threads ? run_threads(algorithm) : run_per_node(algorithm);
      }
    }
    return std::move(result_);
  }

 private:
  int workers() const {
    return settings_.workers > 0 ? settings_.workers : share_.usable_core_count();
  }

  /// Of all processes, which may have different numbers of workers.
  int member_count() const {
    int count = settings_.layout == Layout::threads ? workers() : 1;
    MPI_Allreduce(MPI_IN_PLACE, &count, 1, MPI_INT, MPI_SUM, session_.world);
    return count;
  }

  std::size_t count_of(std::size_t size_bytes) const {
    return size_bytes / size_of(settings_.measurement.problem.type);
  }

  void bind_to_share() const {
    try {
      bind_this_thread(share_, share_.affinity());
    } catch (const Error&) {
      // A container may forbid binding; the process then runs wherever it may.
    }
  }

  std::vector<std::string> algorithms(int members) const {
    if (settings_.algorithm != "all") return {settings_.algorithm};
    const std::vector<Node> nodes(static_cast<std::size_t>(session_.size), {members, members});
    const Shape shape(nodes, settings_.lanes > 0 ? settings_.lanes : 1);
    std::vector<std::string> names;
    const Collective collective = collective_of(settings_.measurement.problem.routine);
    for (const Algorithm& algorithm : algorithms_of(collective)) {
      if (algorithm.serves_shape(shape)) names.emplace_back(algorithm.name);
    }
    return names;
  }

  Options options(const std::string& algorithm) const {
    Options options = Options::from_environment();
    options.algorithm = algorithm;
    options.workers = settings_.workers;
    options.lanes = settings_.lanes;
    options.bits = settings_.bits;
    return options;
  }

  /// `caller` is a Communicator, or a Team of which `member_count` threads call.
  template <class Caller>
  Communicator::Choice choice_of(const Caller& caller, std::size_t size_bytes, int members) const {
    return caller.choice(
        call_of(settings_.measurement.problem, count_of(size_bytes), members, nullptr, nullptr));
  }

  void run_native();
  void run_per_node(const std::string& algorithm);
  void run_threads(const std::string& algorithm);
  void run_member(Team& team, Crew& crew, int thread, const std::string& algorithm);
  void record(BenchRow row, const SizeTimings& measured);

  const MpiSession& session_;
  Topology share_;
  const BenchSettings& settings_;
  const std::function<void(const BenchRow&)>& on_row_;
  BenchResult result_;
};

void LayoutRun::record(BenchRow row, const SizeTimings& measured) {
  if (measured.timings.empty()) {
    result_.refusals.push_back(
        fmt::format("{}, {} bytes: {}", row.algorithm, row.size_bytes, measured.refusal));
    return;
  }
  row.timing = measured.timings.front();
  if (measured.timings.size() > 1) row.native = measured.timings.back();
  if (session_.speaks()) on_row_(row);
  result_.rows.push_back(std::move(row));
}

void LayoutRun::run_native() {
  Crew crew(session_.world, 1);
  const MeasuringMember member{crew, 0, session_.rank, session_.size};
  for (const std::size_t size_bytes : settings_.sizes_bytes) {
    Contestants contestants;
    contestants.push_back(
        native_contestant(session_.world, settings_.measurement.problem, count_of(size_bytes)));
    record({.algorithm = kNativeName,
            .nodes = session_.size / session_.local_size,
            .members = session_.local_size,
            .workers = session_.local_size,
            .size_bytes = size_bytes},
           measure_size(member, size_bytes, contestants, settings_.measurement));
  }
}

void LayoutRun::run_per_node(const std::string& algorithm) {
  Communicator communicator(session_.world, options(algorithm));
  Crew crew(session_.world, 1);
  const MeasuringMember member{crew, 0, session_.rank, session_.size};
  for (const std::size_t size_bytes : settings_.sizes_bytes) {
    Contestants contestants;
    const Problem& problem = settings_.measurement.problem;
    const std::size_t count = count_of(size_bytes);
    contestants.push_back(hycoll_contestant(communicator, problem, count, algorithm));
    if (settings_.native == NativeToo::yes) {
      contestants.push_back(native_contestant(session_.world, problem, count));
    }
    const SizeTimings measured =
        measure_size(member, size_bytes, contestants, settings_.measurement);
    const Communicator::Choice choice = choice_of(communicator, size_bytes, session_.size);
    record({.algorithm = choice.algorithm,
            .nodes = session_.size,
            .members = 1,
            .workers = communicator.worker_count(),
            .lanes = choice.lanes,
            .segments = choice.segments,
            .size_bytes = size_bytes},
           measured);
  }
}

void LayoutRun::run_threads(const std::string& algorithm) {
  Team team(session_.world, workers(), options(algorithm));
  Crew crew(session_.world, team.thread_count());
  // The calling thread takes no part, because joining a team binds a thread for good, and the next
  // team looks for cores where the threads of the process may run.
  std::vector<std::thread> threads;
  for (int thread = 0; thread < team.thread_count(); ++thread) {
    threads.emplace_back([&, thread] {
      try {
        run_member(team, crew, thread, algorithm);
      } catch (const Error& error) {
        // The others wait for this member and cannot be told.
        fmt::print(stderr, "hycoll: thread {} of rank {}: {}\n", thread, session_.rank,
                   error.what());
        MPI_Abort(MPI_COMM_WORLD, kUsage);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

void LayoutRun::run_member(Team& team, Crew& crew, int thread, const std::string& algorithm) {
  Member hycoll_member = team.join(thread);
  const MeasuringMember member{crew, thread, hycoll_member.rank(), hycoll_member.size()};
  for (const std::size_t size_bytes : settings_.sizes_bytes) {
    Contestants contestants;
    contestants.push_back(hycoll_contestant(hycoll_member, settings_.measurement.problem,
                                            count_of(size_bytes), algorithm));
    const SizeTimings measured =
        measure_size(member, size_bytes, contestants, settings_.measurement);
    if (thread != 0) continue;
    const Communicator::Choice choice = choice_of(team, size_bytes, member.member_count);
    record({.algorithm = choice.algorithm,
            .nodes = session_.size,
            .members = team.thread_count(),
            .workers = team.thread_count(),
            .lanes = choice.lanes,
            .segments = choice.segments,
            .size_bytes = size_bytes},
           measured);
  }
}

}  // namespace

std::string_view name_of(Layout layout) {
  switch (layout) {
    case Layout::threads:
      return "threads";
    case Layout::per_node:
      return "per_node";
    default:
      return "native";
  }
}

Layout parse_layout(std::string_view argument, std::string_view name) {
  for (const Layout layout : kLayouts) {
    if (name_of(layout) == name) return layout;
  }
  throw Error(
      ErrorKind::invalid_argument,
      fmt::format("{} '{}' is no layout. Give threads, per_node or native", argument, name));
}

BenchResult run_bench(const MpiSession& session, const Topology& machine,
                      const BenchSettings& settings,
                      const std::function<void(const BenchRow&)>& on_row) {
  return LayoutRun(session, machine, settings, on_row).run();
}

}  // namespace hycoll::command
