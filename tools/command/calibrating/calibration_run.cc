#include "tools/command/calibrating/calibration_run.h"

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <memory>

#include "core/base/errors.h"
#include "numa/placement/placement.h"
#include "threading/latency/core_handoff.h"
#include "threading/latency/core_latencies.h"
#include "tools/command/measuring/leader_lanes.h"
#include "tools/measure/line_gap.h"
#include "tools/measure/memory_rates.h"

namespace hycoll::command {
namespace {

using measure::ConcurrentRuns;
using measure::MemoryWorkers;
using measure::Reach;
using measure::Stream;
using measure::StreamRole;

/// Of the time, for the workers' memory; where there are messages to measure.
constexpr double kMemoryPart = 0.3;
constexpr int kFewestRounds = Spread::kFewest;
constexpr int kMostWorkers = 256;
constexpr int kMostLanes = 16;
constexpr int kMostPairs = 64;
/// What a run of messages takes at least.
constexpr double kRunSeconds = 2e-3;
constexpr Stream kLatency{.size_bytes = 8, .window = 1};
constexpr Stream kShort{.size_bytes = 8, .window = 64};
constexpr std::size_t kWindowBytes = std::size_t{1} << 20;
constexpr HandoffRounds kHandoffs{.batches = 21, .round_trips_per_batch = 100};
constexpr int kGapBatches = 51;
constexpr std::chrono::milliseconds kPatience{50};

/// The time that has been given.
class Budget {
 public:
  Budget(double seconds, const std::function<void(double)>& on_progress)
      : seconds_(seconds), on_progress_(on_progress) {}

  double spent() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  /// Whether such a part of it is over; says how far it is.
  bool is_over(double part) const {
    on_progress_(std::min(1.0, spent() / seconds_));
    return spent() >= part * seconds_;
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  double seconds_;
  const std::function<void(double)>& on_progress_;
};

/// 1, 2, 4, ... and the most.
std::vector<int> doubled_up_to(int most) {
  std::vector<int> counts;
  for (int count = 1; count < most; count *= 2) counts.push_back(count);
  counts.push_back(most);
  return counts;
}

std::vector<MemoryPoint> measure_memory(const Topology& machine, const Budget& budget,
                                        double part) {
  const int most = std::min(machine.usable_core_count(), kMostWorkers);
  const std::vector<Core> cores = place_workers(machine, most, Placement::spread);
  const MemoryWorkers workers(machine, cores, measure::memory_vector_bytes(machine, most));
  struct Case {
    int workers;
    Samples copies = {};
    Samples reductions = {};
  };
  std::vector<Case> cases;
  for (const int count : doubled_up_to(most)) cases.push_back({.workers = count});
  for (int round = 0; round <= kFewestRounds || !budget.is_over(part); ++round) {
    for (Case& one : cases) {
      const MemoryWorkers::Rate copy = workers.measure(MemoryWorkers::Action::copies, one.workers);
      const MemoryWorkers::Rate reduction =
          workers.measure(MemoryWorkers::Action::reduces, one.workers);
      if (round == 0) continue;
      one.copies.add(copy.gb_per_s, copy.time);
      one.reductions.add(reduction.gb_per_s, reduction.time);
    }
  }
  std::vector<MemoryPoint> points;
  for (const Case& one : cases) {
    points.push_back({one.workers, one.copies.spread(), one.reductions.spread()});
  }
  return points;
}

Spread spread_of(const std::vector<double>& values) {
  Samples samples;
  for (const double value : values) samples.add(value);
  return samples.spread();
}

/// Of each distance that there is.
void measure_lines(const Topology& machine, Calibration& calibration) {
  for (std::size_t p = 0; p < kProximityCount; ++p) {
    const auto proximity = static_cast<Proximity>(p);
    const std::vector<CorePair> pairs = core_pairs(machine, proximity);
    if (pairs.empty()) continue;
    std::vector<double> batches_ns;
    try {
      for (const CorePair& pair : pairs) {
        std::ranges::copy(measure_core_handoff(machine, pair.a, pair.b, kHandoffs, kPatience),
                          std::back_inserter(batches_ns));
      }
      calibration.gap_ns = spread_of(
          measure::line_gap_ns(machine, pairs.front().a, pairs.front().b, kGapBatches, kPatience));
    } catch (const Error&) {
      // Threads may not be bound here.
    }
    calibration.latencies.push_back({proximity, spread_of(batches_ns)});
  }
}

/// By rank: the first process of its machine.
std::vector<int> machines_of(const MpiSession& session) {
  MPI_Comm machine = MPI_COMM_NULL;
  MPI_Comm_split_type(session.world, MPI_COMM_TYPE_SHARED, session.rank, MPI_INFO_NULL, &machine);
  int first = session.rank;
  MPI_Bcast(&first, 1, MPI_INT, 0, machine);
  MPI_Comm_free(&machine);
  std::vector<int> machines(static_cast<std::size_t>(session.size));
  MPI_Allgather(&first, 1, MPI_INT, machines.data(), 1, MPI_INT, session.world);
  return machines;
}

Stream stream_of(std::size_t size_bytes) {
  const std::size_t window = std::clamp<std::size_t>(kWindowBytes / size_bytes, 2, kShort.window);
  return {.size_bytes = size_bytes, .window = static_cast<int>(window)};
}

/// All streams of a reach, as one process takes part in them.
class ReachRun {
 public:
  ReachRun(Reach reach, const StreamRole& role, const ConcurrentRuns& runs,
           const std::vector<Endpoint*>& endpoints, const CalibrationSettings& settings)
      : reach_(reach), role_(role), runs_(runs), endpoints_(endpoints) {
    cases_ = {{.stream = kLatency}, {.stream = kShort}};
    const int most = std::min(role.process_pairs * runs.most_threads(), kMostPairs);
    for (const std::size_t size_bytes : settings.sizes) {
      for (const int pairs : doubled_up_to(most)) {
        cases_.push_back({.stream = stream_of(size_bytes), .pairs = pairs});
      }
    }
    // Connects, too.
    for (Case& one : cases_) {
      one.times = runs_.times_for(work_of(one), role_.lanes_of(one.pairs), kRunSeconds, 1);
    }
  }

  void run_round() {
    double latency_us = 0;
    double running = 1;  // when that was measured
    for (Case& one : cases_) {
      measure::RunTime time = runs_.run(work_of(one), role_.lanes_of(one.pairs), one.times);
      const double window_us = 1e6 * time.seconds / one.times;
      if (&one == &cases_[0]) {
        // To and fro.
        latency_us = window_us / 2;
        running = time.running;
        one.samples.add(latency_us, time);
      } else if (&one == &cases_[1]) {
        time.running = std::min(time.running, running);
        one.samples.add((window_us - 2 * latency_us) / (one.stream.window - 1), time);
      } else {
        one.samples.add(1e6 * one.stream.window * one.pairs / window_us, time);
      }
    }
  }

  MessageCosts costs() const {
    MessageCosts costs{.reach = reach_,
                       .latency_us = cases_[0].samples.spread(),
                       .message_us = cases_[1].samples.spread(),
                       .points = {}};
    for (auto one = cases_.begin() + 2; one != cases_.end(); ++one) {
      costs.points.push_back({one->stream.size_bytes, one->pairs, one->samples.spread()});
    }
    return costs;
  }

 private:
  struct Case {
    Stream stream;
    int pairs = 1;
    int times = 1;
    Samples samples = {};  // of latency, of a message, and then of messages a second
  };

  measure::Work work_of(const Case& one) const {
    return measure::stream_work(role_, one.stream, endpoints_);
  }

  Reach reach_;
  StreamRole role_;
  const ConcurrentRuns& runs_;
  const std::vector<Endpoint*>& endpoints_;
  std::vector<Case> cases_;
};

/// As the first process says.
bool agreed(const MpiSession& session, bool own) {
  int word = own ? 1 : 0;
  MPI_Bcast(&word, 1, MPI_INT, 0, session.world);
  return word == 1;
}

/// Of all reaches that processes have: messages in streams, by as many lanes as are asked for.
void measure_messages(const MpiSession& session, const CalibrationSettings& settings,
                      const Budget& budget, CalibrationRun& result) {
  const std::vector<int> machines = machines_of(session);
  const Topology share = core_share(session.world);
  int lanes = settings.lanes > 0 ? settings.lanes : std::min(share.usable_core_count(), kMostLanes);
  MPI_Allreduce(MPI_IN_PLACE, &lanes, 1, MPI_INT, MPI_MIN, session.world);
  const auto leader_lanes = LeaderLanes::make(session.world, Options::Transport::automatic,
                                              Options::Puts::automatic, lanes);
  result.lanes = lanes;
  result.transport = leader_lanes->description();
  std::vector<std::unique_ptr<Endpoint>> opened;
  std::vector<Endpoint*> endpoints;
  for (int lane = 0; lane < lanes; ++lane) {
    opened.push_back(leader_lanes->open(lane));
    endpoints.push_back(opened.back().get());
  }
  const ConcurrentRuns runs(session.world, share, place_workers(share, lanes, Placement::spread));
  std::vector<ReachRun> reaches;
  for (const Reach reach : {Reach::inside, Reach::between}) {
    const StreamRole role = measure::stream_role(reach, machines, session.rank);
    if (role.process_pairs > 0) reaches.emplace_back(reach, role, runs, endpoints, settings);
  }
  if (reaches.empty()) return;
  const auto goes_on = [&](int round) { return round < kFewestRounds || !budget.is_over(1); };
  for (int round = 0; agreed(session, session.speaks() && goes_on(round)); ++round) {
    for (ReachRun& reach : reaches) reach.run_round();
  }
  for (const ReachRun& reach : reaches) result.calibration.messages.push_back(reach.costs());
}

}  // namespace

CalibrationRun calibrate(const MpiSession& session, const Topology& machine,
                         const CalibrationSettings& settings,
                         const std::function<void(double part)>& on_progress) {
  const Budget budget(settings.seconds, on_progress);
  CalibrationRun result;
  session.wait_idly();
  if (session.speaks()) {
    result.calibration.memory = measure_memory(machine, budget, session.size > 1 ? kMemoryPart : 1);
    measure_lines(machine, result.calibration);
  }
  session.wait_idly();
  measure_messages(session, settings, budget, result);
  return result;
}

}  // namespace hycoll::command
