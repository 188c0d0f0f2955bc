#include "tools/command/measuring/measurement.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <thread>

#include "core/base/errors.h"

namespace hycoll::command {
namespace {

constexpr double kMinimumBlockSeconds = 20e-6;
constexpr int kMaximumCallsPerBlock = 4096;
constexpr int kMinimumRounds = 5;
constexpr int kMaximumRounds = 2000;
/// Reused inputs alternate between two slots: no call finds its buffers as the last call left them.
constexpr int kReusedSlots = 2;
/// How long the last member of a barrier lets the others wait, and how many have their turn.
constexpr auto kLateness = std::chrono::milliseconds(1);
constexpr int kLateMembers = 4;

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Everything about one size, for one member.
class SizeMeter {
 public:
  SizeMeter(const MeasuringMember& member, std::size_t size_bytes,
            const MeasurementOptions& options)
      : member_(member),
        options_(options),
        count_(size_bytes / size_of(options.problem.type)),
        expected_(expected_output(options.problem, count_, member.rank, member.member_count)),
        warm_up_(buffers_for(size_bytes, 1)),
        buffers_(buffers_for(size_bytes, kReusedSlots)) {
    data(0).fill(member_.rank, warm_up_.input(0), count_);
  }

  /// Why the contestant does not serve this size; the same on all members.
  std::optional<std::string> refusal(Contestant& contestant) {
    std::optional<std::string> reason;
    member_.crew.meet(member_.thread);
    try {
      contestant.run(warm_up_, 1);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::unsupported) throw;
      reason = error.what();
    }
    const bool somebody_refused = member_.crew.maximum(member_.thread, reason ? 1.0 : 0.0) > 0;
    if (somebody_refused && !reason) reason = "another member refused";
    return reason;
  }

  /// Whether one call on every slot gives the right results on all members.
  bool verify(Contestant& contestant, std::uint64_t salt) {
    const std::optional<std::string> problem = options_.problem.routine == Routine::barrier
                                                   ? problem_of_barrier(contestant)
                                                   : problem_of_results(contestant, salt);
    if (problem) {
      fmt::print(stderr, "hycoll: wrong result: {}, {} bytes, rank {}: {}\n", contestant.name(),
                 buffers_.size_bytes(), member_.rank, *problem);
    }
    return member_.crew.maximum(member_.thread, problem ? 1.0 : 0.0) == 0;
  }

  /// Finds the number of calls of a block. Returns the block's time.
  double calibrate(Contestant& contestant, int& calls) {
    for (calls = 1;; calls *= 2) {
      const double seconds = member_.crew.maximum(member_.thread, timed_block(contestant, calls));
      if (seconds >= kMinimumBlockSeconds || 2 * calls > kMaximumCallsPerBlock) return seconds;
    }
  }

  /// With fresh inputs every call of a block needs buffers of its own.
  void provide_slots(int calls) {
    if (options_.inputs == InputUse::reused) return;
    buffers_ = buffers_for(buffers_.size_bytes(), calls);
    fill_inputs(1);
    buffers_.poison();  // touches the outputs' pages
  }

  /// The time of a block in seconds, as this member sees it.
  double timed_block(Contestant& contestant, int calls) {
    if (options_.inputs == InputUse::fresh) {
      buffers_.use();
    } else if (calls == 1) {
      contestant.run(buffers_, buffers_.slot_count());
    }
    member_.crew.meet(member_.thread);
    if (calls > 1) contestant.run(warm_up_, 1);
    return contestant.timed_run(buffers_, calls);
  }

 private:
  CheckedData data(std::uint64_t salt) const {
    return {options_.problem.type, options_.problem.op, member_.member_count, salt};
  }

  MemberBuffers buffers_for(std::size_t size_bytes, int slot_count) const {
    return {size_bytes, expected_.count * size_of(options_.problem.type), slot_count,
            options_.memory};
  }

  void fill_inputs(std::uint64_t salt) {
    for (int slot = 0; slot < buffers_.slot_count(); ++slot) {
      data(salt).fill(member_.rank, buffers_.input(slot), count_);
    }
  }

  std::optional<std::string> problem_of_results(Contestant& contestant, std::uint64_t salt) {
    fill_inputs(salt);
    buffers_.poison();
    member_.crew.meet(member_.thread);
    contestant.run(buffers_, buffers_.slot_count());
    for (int slot = 0; slot < buffers_.slot_count(); ++slot) {
      if (auto difference = data(salt).first_difference(buffers_.output(slot), expected_)) {
        return difference;
      }
    }
    if (!buffers_.guards_intact()) return "memory after an input or a result was overwritten";
    return std::nullopt;
  }

  std::optional<std::string> problem_of_barrier(Contestant& contestant) {
    std::optional<std::string> problem;
    for (int late = 0; late < std::min(member_.member_count, kLateMembers); ++late) {
      member_.crew.meet(member_.thread);
      if (member_.rank == late) std::this_thread::sleep_for(kLateness);
      const double entered = now_seconds();
      contestant.run(warm_up_, 1);
      const double left = now_seconds();
      const double last_entered = member_.crew.maximum_on_machine(member_.thread, entered);
      if (left < last_entered) {
        problem = fmt::format("left the barrier {:.1f} us before the last member entered",
                              1e6 * (last_entered - left));
      }
    }
    return problem;
  }

  MeasuringMember member_;
  MeasurementOptions options_;
  std::size_t count_;
  ExpectedOutput expected_;
  MemberBuffers warm_up_;
  MemberBuffers buffers_;
};

int rounds_for(const MeasurementOptions& options, double seconds_per_round) {
  if (options.rounds > 0) return options.rounds;
  const double rounds = options.seconds / std::max(seconds_per_round, 1e-9);
  return static_cast<int>(std::clamp<double>(rounds, kMinimumRounds, kMaximumRounds));
}

}  // namespace

std::string_view describe(InputUse inputs) {
  return inputs == InputUse::fresh
             ? "members write their inputs and read their outputs before every timed call"
             : "members leave their buffers alone between calls (--fresh-inputs changes that)";
}

SizeTimings measure_size(const MeasuringMember& member, std::size_t size_bytes,
                         std::span<const std::unique_ptr<Contestant>> contestants,
                         const MeasurementOptions& options) {
  const std::size_t count = size_bytes / size_of(options.problem.type);
  if (auto reason = unsuitable_count(options.problem, count, member.member_count)) {
    return {{}, *reason};
  }
  SizeMeter meter(member, size_bytes, options);
  for (const auto& contestant : contestants) {
    if (auto refusal = meter.refusal(*contestant)) return {{}, *refusal};
  }
  std::vector<Timing> timings(contestants.size());
  double seconds_per_round = 0;
  int most_calls = 1;
  for (std::size_t i = 0; i < contestants.size(); ++i) {
    timings[i].verified = meter.verify(*contestants[i], 1);
    seconds_per_round += meter.calibrate(*contestants[i], timings[i].calls_per_round);
    most_calls = std::max(most_calls, timings[i].calls_per_round);
  }
  meter.provide_slots(most_calls);

  const int rounds = rounds_for(options, seconds_per_round);
  std::vector<std::vector<double>> samples_us(contestants.size());
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < contestants.size(); ++i) {
      const int calls = timings[i].calls_per_round;
      samples_us[i].push_back(1e6 * meter.timed_block(*contestants[i], calls) / calls);
    }
  }
  for (std::size_t i = 0; i < contestants.size(); ++i) {
    timings[i].verified = meter.verify(*contestants[i], 2) && timings[i].verified;
    member.crew.maximum(member.thread, samples_us[i]);
    timings[i].call_us = measure::summarize(samples_us[i]);
    timings[i].rounds = rounds;
  }
  return {timings, ""};
}

}  // namespace hycoll::command
