#include "tools/command/tuning/tuning_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "collectives/algorithms/registry.h"
#include "collectives/api/hycoll.h"
#include "collectives/selection/selection.h"
#include "core/base/collective_traits.h"
#include "core/base/errors.h"
#include "numa/placement/binding.h"
#include "threading/transport/mpi/end_job.h"
#include "tools/command/measuring/contestants.h"
#include "tools/command/measuring/crew.h"
#include "tools/command/measuring/measurement.h"
#include "tools/command/tuning/tuning_search.h"

namespace hycoll::command {
namespace {

/// Small differences are noise, and rules that gain so little are not worth having.
constexpr double kWorthAChange = 1.05;
constexpr const char* kByRule = "auto";
constexpr std::size_t kByRuleNumber = 0;  // of the candidates

/// A size takes so long at least and at most, whatever there is to do.
constexpr double kLeastSeconds = 0.02;
constexpr double kMostSeconds = 2;
/// Into so many parts the time is divided: a size takes about two, with what is checked.
constexpr double kTypicalSizes = 24;

Topology share_of(const MpiSession& session, const Topology& machine) {
  return machine.share(session.local_rank, session.local_size, LauncherBinding::none);
}

/// Of the first process, if processes have different shares.
int workers_of(const Topology& share, const TuningTask& task) {
  int workers = task.workers > 0 ? task.workers : share.usable_core_count();
  MPI_Bcast(&workers, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return workers;
}

/// With sizes that so many members can share, where the vector is blocks of all.
TuningTask with_whole_blocks(TuningTask task, int member_count) {
  const Problem problem{.routine = task.routine};
  if (!has_blocks(collective_of(task.routine))) return task;
  const std::size_t unit = size_of(problem.type) * static_cast<std::size_t>(member_count);
  for (std::size_t& size : task.sizes_bytes) size = (size + unit - 1) / unit * unit;
  const auto same = std::ranges::unique(task.sizes_bytes);
  task.sizes_bytes.erase(same.begin(), same.end());
  return task;
}

/// "auto", and what else may be taken on such nodes.
std::vector<std::string> candidates_of(const TunedShape& shape) {
  const EqualNodes nodes{.node = {.members = shape.members, .workers = shape.workers},
                         .count = shape.nodes};
  std::vector<std::string> names = {kByRule};
  for (const Algorithm& algorithm : algorithms_of(shape.collective)) {
    const bool is_chosen_by_name_only = algorithm.exchange.help != ExchangeHelp::none;
    if (!is_chosen_by_name_only && algorithm.serves_shape(Shape(std::span(&nodes, 1), 1))) {
      names.emplace_back(algorithm.name);
    }
  }
  return names;
}

/// One who measures: a process, or a thread of one. `Caller` is a Communicator or a Member.
template <class Caller>
class TuningMember {
 public:
  TuningMember(const TuningTask& task, const TunedShape& shape, std::vector<std::string> names,
               std::vector<Caller*> callers, const MeasuringMember& member, MPI_Comm native)
      : task_(task),
        shape_(shape),
        names_(std::move(names)),
        callers_(std::move(callers)),
        member_(member),
        native_(native) {
    measurement_.problem.routine = task.routine;
    measurement_.seconds = std::clamp(task.seconds / kTypicalSizes, kLeastSeconds, kMostSeconds);
  }

  /// `choice(candidate, call)` is what that would use.
  template <class Choice>
  std::vector<TuningResult> run(const Choice& choice,
                                const std::function<void(std::size_t)>& on_size) {
    TuningSearch search(task_.sizes_bytes.size(), names_.size());
    std::vector<std::vector<std::optional<TunedTime>>> found(task_.sizes_bytes.size());
    std::vector<std::optional<double>> native(task_.sizes_bytes.size());
    const auto begin = std::chrono::steady_clock::now();
    while (const auto next = search.next()) {
      const std::size_t size_bytes = task_.sizes_bytes[next->size];
      if (on_size) on_size(size_bytes);
      found[next->size] = measure(*next, size_bytes, choice, native[next->size]);
      CandidateTimes times(names_.size());
      for (std::size_t c = 0; c < times.size(); ++c) {
        if (const auto& time = found[next->size][c]) times[c] = time->median_us;
      }
      search.measured(*next, std::move(times));
      const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
      if (member_.crew.maximum(member_.thread, spent.count()) > task_.seconds) {
        search.refine_no_more();
      }
    }
    std::vector<TuningResult> results;
    for (std::size_t s = 0; s < found.size(); ++s) {
      if (search.times()[s]) results.push_back(result_of(s, found[s], native[s]));
    }
    return results;
  }

 private:
  std::size_t count_of(std::size_t size_bytes) const {
    return size_bytes / size_of(measurement_.problem.type);
  }

  template <class Choice>
  std::vector<std::optional<TunedTime>> measure(const TuningSearch::Task& task,
                                                std::size_t size_bytes, const Choice& choice,
                                                std::optional<double>& native_us) {
    const std::size_t count = count_of(size_bytes);
    // What `auto` takes is always there to be compared with.
    std::vector<std::size_t> candidates = task.candidates;
    if (std::ranges::find(candidates, kByRuleNumber) == candidates.end()) {
      candidates.insert(candidates.begin(), kByRuleNumber);
    }
    Contestants contestants;
    for (const std::size_t candidate : candidates) {
      contestants.push_back(
          hycoll_contestant(*callers_[candidate], measurement_.problem, count, names_[candidate]));
    }
    if (native_ != MPI_COMM_NULL) {
      contestants.push_back(native_contestant(native_, measurement_.problem, count));
    }
    const std::vector<bool> serve = who_serves(member_, size_bytes, contestants, measurement_);
    Contestants serving;
    std::vector<std::size_t> measured;
    for (std::size_t c = 0; c < contestants.size(); ++c) {
      if (!serve[c]) continue;
      serving.push_back(std::move(contestants[c]));
      if (c < candidates.size()) measured.push_back(candidates[c]);
    }
    std::vector<std::optional<TunedTime>> times(names_.size());
    const SizeTimings sizes = measure_size(member_, size_bytes, serving, measurement_);
    if (sizes.timings.empty()) return times;
    for (std::size_t m = 0; m < measured.size(); ++m) {
      const Timing& timing = sizes.timings[m];
      if (!timing.verified) continue;  // a wrong result is never the best
      const Communicator::Choice chosen =
          choice(measured[m],
                 call_of(measurement_.problem, count, member_.member_count, nullptr, nullptr));
      times[measured[m]] = TunedTime{.algorithm = chosen.algorithm,
                                     .lanes = chosen.lanes,
                                     .median_us = timing.call_us.median,
                                     .p95_us = timing.call_us.p95};
    }
    if (serving.size() > measured.size()) native_us = sizes.timings.back().call_us.median;
    return times;
  }

  TuningResult result_of(std::size_t size, const std::vector<std::optional<TunedTime>>& times,
                         std::optional<double> native_us) const {
    std::vector<TunedTime> by_time;
    for (const auto& time : times) {
      if (time) by_time.push_back(*time);
    }
    std::ranges::stable_sort(by_time, {}, &TunedTime::median_us);
    TunedTime by_rule = times[kByRuleNumber].value_or(by_time.front());
    // What `auto` takes has been measured by its own name, too: two communicators may differ by how
    // far their processes have found one another.
    const auto same = std::ranges::find_if(by_time, [&](const TunedTime& time) {
      return time.algorithm == by_rule.algorithm && time.lanes == by_rule.lanes;
    });
    by_rule = *same;
    const bool is_worth_it = by_time.front().median_us * kWorthAChange < by_rule.median_us;
    const TunedTime best = is_worth_it ? by_time.front() : by_rule;
    const auto other = std::ranges::find_if(
        by_time, [&](const TunedTime& time) { return time.algorithm != best.algorithm; });
    return {.shape = shape_,
            .size_bytes = task_.sizes_bytes[size],
            .best = best,
            .runner_up = other == by_time.end() ? std::nullopt : std::optional(*other),
            .by_rule = by_rule,
            .native_us = native_us};
  }

  const TuningTask& task_;
  TunedShape shape_;
  std::vector<std::string> names_;
  std::vector<Caller*> callers_;  // by candidate
  MeasuringMember member_;
  MPI_Comm native_;
  MeasurementOptions measurement_;
};

Options options_for(const TuningTask& task, const std::string& algorithm) {
  BenchSettings settings;
  settings.layout = task.layout;
  settings.workers = task.workers;
  settings.emulated_nodes = task.emulated_nodes;
  Options options = hycoll_options(settings, algorithm);
  options.tuning.clear();  // the rules are what is compared with
  // All candidates have their memory at once, which programs do not.
  constexpr int kMostStagingMib = 1 << 16;
  options.staging_limit_mib = kMostStagingMib;
  return options;
}

std::vector<TuningResult> tune_communicators(const MpiSession& session, const TuningTask& task,
                                             const TunedShape& shape,
                                             const std::function<void(std::size_t)>& on_size) {
  std::vector<std::string> names = candidates_of(shape);
  std::vector<std::unique_ptr<Communicator>> communicators;
  std::vector<Communicator*> callers;
  for (const std::string& name : names) {
    communicators.push_back(std::make_unique<Communicator>(session.world, options_for(task, name)));
    callers.push_back(communicators.back().get());
  }
  Crew crew(session.world, 1);
  const MeasuringMember member{crew, 0, session.rank, session.size};
  TuningMember<Communicator> tuning(task, shape, std::move(names), callers, member, session.world);
  return tuning.run(
      [&](std::size_t candidate, const Call& call) { return callers[candidate]->choice(call); },
      session.speaks() ? on_size : nullptr);
}

std::vector<TuningResult> tune_threads(const MpiSession& session, const TuningTask& task,
                                       const TunedShape& shape,
                                       const std::function<void(std::size_t)>& on_size) {
  const std::vector<std::string> names = candidates_of(shape);
  const int thread_count = shape.members;
  std::vector<std::unique_ptr<Team>> teams;
  for (const std::string& name : names) {
    teams.push_back(std::make_unique<Team>(session.world, thread_count, options_for(task, name)));
  }
  Crew crew(session.world, thread_count);
  std::vector<TuningResult> results;
  std::mutex asking;
  // The calling thread takes no part: joining a team binds a thread for good.
  std::vector<std::thread> threads;
  for (int thread = 0; thread < thread_count; ++thread) {
    threads.emplace_back([&, thread] {
      try {
        std::vector<Member> members;
        std::vector<Member*> callers;
        members.reserve(teams.size());
        for (const auto& team : teams) {
          members.push_back(team->join(thread));
          callers.push_back(&members.back());
        }
        const MeasuringMember member{crew, thread, members.front().rank(), members.front().size()};
        TuningMember<Member> tuning(task, shape, names, callers, member, MPI_COMM_NULL);
        const bool speaks = session.speaks() && thread == 0;
        auto own = tuning.run(
            [&](std::size_t candidate, const Call& call) {
              // Of a team one thread at a time may ask.
              const std::lock_guard lock(asking);
              return teams[candidate]->choice(call);
            },
            speaks ? on_size : nullptr);
        if (thread == 0) results = std::move(own);
      } catch (const Error& error) {
        // The others wait for this member and cannot be told.
        end_job(fmt::format("hycoll: thread {} of rank {}: {}", thread, session.rank, error.what()),
                kUsage);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return results;
}

}  // namespace

TunedShape shape_of(const MpiSession& session, const Topology& machine, const TuningTask& task) {
  TunedShape shape{.collective = collective_of(task.routine)};
  if (shares_nodes(task.layout)) {
    shape.visibility = Visibility::staged;
    shape.nodes = session.size / session.local_size * std::max(task.emulated_nodes, 1);
    shape.members = shape.workers = (session.size + shape.nodes - 1) / shape.nodes;
    return shape;
  }
  shape.nodes = session.size;
  shape.workers = workers_of(share_of(session, machine), task);
  shape.members = task.layout == Layout::threads ? shape.workers : 1;
  return shape;
}

std::vector<TuningResult> run_tuning(const MpiSession& session, const Topology& machine,
                                     const TuningTask& asked,
                                     const std::function<void(std::size_t)>& on_size) {
  const TunedShape shape = shape_of(session, machine, asked);
  const TuningTask task = with_whole_blocks(asked, shape.nodes * shape.members);
  if (task.layout == Layout::threads) return tune_threads(session, task, shape, on_size);
  try {
    const Topology share = share_of(session, machine);
    bind_this_thread(share, share.affinity());
  } catch (const Error&) {
    // A container may forbid binding; the process then runs wherever it may.
  }
  return tune_communicators(session, task, shape, on_size);
}

}  // namespace hycoll::command
