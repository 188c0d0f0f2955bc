#include "tools/command/measuring/measurement.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <string>
#include <thread>

#include "core/base/errors.h"

namespace hycoll::command {
namespace {

constexpr double kMinimumBlockSeconds = 20e-6;
constexpr int kMaximumCallsPerBlock = 4096;
constexpr int kTrials = 3;
constexpr double kLongBlockSeconds = 1e-3;
/// How many calls in a row are verified: as many as their buffers fit, within limits.
constexpr std::size_t kVerifiedCalls = 32;
constexpr std::size_t kLeastVerifiedCalls = 2;
constexpr std::size_t kVerifiedBytes = std::size_t{16} << 20;
/// At a separate pace: how long before the beginning members agree on it, and the time of a call
/// for which somebody came late.
constexpr double kAppointmentSeconds = 20e-6;
constexpr double kLate = 1e9;
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
        buffers_(buffers_for(size_bytes, is_separate() ? 1 : kReusedSlots)) {
    fill(warm_up_, 0);
    prepare(buffers_);
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

  /// Whether calls that follow one another give the right results on all members.
  bool verify_pipelined(Contestant& contestant) {
    if (is_barrier()) return agreed(contestant, problem_of_barrier(contestant));
    const std::size_t bytes = 2 * std::max<std::size_t>(buffers_.size_bytes(), 1);
    const std::size_t calls =
        std::clamp<std::size_t>(kVerifiedBytes / bytes, kLeastVerifiedCalls, kVerifiedCalls);
    MemberBuffers buffers = buffers_for(buffers_.size_bytes(), static_cast<int>(calls));
    prepare(buffers);
    member_.crew.meet(member_.thread);
    contestant.run(buffers, buffers.slot_count());
    return agreed(contestant, problem_of(buffers, buffers.slot_count()));
  }

  /// The same of a block as those that are timed.
  bool verify_timed(Contestant& contestant, int calls) {
    if (is_barrier()) return agreed(contestant, problem_of_barrier(contestant));
    buffers_.poison();
    timed_block(contestant, calls);
    return agreed(contestant, problem_of(buffers_, std::min(calls, buffers_.slot_count())));
  }

  /// Finds the number of calls of a block. Returns the block's time.
  double calibrate(Contestant& contestant, int& calls) {
    for (calls = 1;; calls *= 2) {
      const double seconds = least_block(contestant, calls);
      if (is_separate() || seconds >= kMinimumBlockSeconds || 2 * calls > kMaximumCallsPerBlock) {
        return seconds;
      }
    }
  }

  /// With fresh inputs every call of a block needs buffers of its own.
  void provide_slots(int calls) {
    if (options_.inputs == InputUse::reused || calls <= buffers_.slot_count()) return;
    buffers_ = buffers_for(buffers_.size_bytes(), calls);
    prepare(buffers_);
  }

  /// The time of a block in seconds, as this member sees it; above all others if the members did
  /// not begin together.
  double timed_block(Contestant& contestant, int calls) {
    if (options_.inputs == InputUse::fresh) {
      buffers_.use();
    } else {
      contestant.run(is_separate() ? warm_up_ : buffers_, is_separate() ? 1 : kReusedSlots);
    }
    if (is_separate()) return separate_call(contestant);
    member_.crew.meet(member_.thread);
    if (calls > 1 || options_.inputs == InputUse::reused) contestant.run(warm_up_, 1);
    return contestant.timed_run(buffers_, calls);
  }

 private:
  bool is_separate() const { return options_.pace == Pace::separate; }
  bool is_barrier() const { return options_.problem.routine == Routine::barrier; }

  /// Of one slot: other data in every slot.
  CheckedData data(int slot) const {
    return {options_.problem.type, options_.problem.op, member_.member_count,
            static_cast<std::uint64_t>(slot) + 1};
  }

  MemberBuffers buffers_for(std::size_t size_bytes, int slot_count) const {
    return {size_bytes, expected_.count * size_of(options_.problem.type), slot_count,
            options_.memory};
  }

  void fill(MemberBuffers& buffers, int slot) const {
    data(slot).fill(member_.rank, buffers.input(slot), count_);
  }

  /// Fills the inputs, and touches the outputs' pages.
  void prepare(MemberBuffers& buffers) const {
    for (int slot = 0; slot < buffers.slot_count(); ++slot) fill(buffers, slot);
    buffers.poison();
  }

  /// The least time of several blocks on all members: a hiccup must not make blocks short. One is
  /// enough where it is no more than a hiccup would be.
  double least_block(Contestant& contestant, int calls) {
    double least = kLate;
    for (int trial = 0; trial < kTrials; ++trial) {
      const double seconds = timed_block(contestant, calls);
      least = std::min(least, member_.crew.maximum(member_.thread, seconds));
      if (least > kLongBlockSeconds && least < kLate) break;
    }
    return least;
  }

  double separate_call(Contestant& contestant) {
    const double start = member_.crew.maximum(member_.thread, now_seconds()) + kAppointmentSeconds;
    double now = now_seconds();
    const bool late = now > start;
    while (now < start) now = now_seconds();
    contestant.run(buffers_, 1);
    return late ? kLate : now_seconds() - start;
  }

  /// What is wrong after a call on each of the first slots.
  std::optional<std::string> problem_of(const MemberBuffers& buffers, int slots) const {
    for (int slot = 0; slot < slots; ++slot) {
      if (auto difference = data(slot).first_difference(buffers.output(slot), expected_)) {
        return difference;
      }
      if (auto change = data(slot).first_change(member_.rank, buffers.input(slot), count_)) {
        return "the input was changed: " + *change;
      }
    }
    if (!buffers.guards_intact()) return "memory after an input or a result was overwritten";
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

  /// Reports a problem; whether no member has one.
  bool agreed(const Contestant& contestant, const std::optional<std::string>& problem) const {
    if (problem) {
      fmt::print(stderr, "hycoll: wrong result: {}, {} bytes, rank {}: {}\n", contestant.name(),
                 buffers_.size_bytes(), member_.rank, *problem);
    }
    return member_.crew.maximum(member_.thread, problem ? 1.0 : 0.0) == 0;
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

/// Samples of which not too many are of calls for which somebody came late; without those.
std::vector<double> punctual(const std::vector<double>& samples_us) {
  std::vector<double> kept;
  for (const double sample : samples_us) {
    if (sample < 1e6 * kLate) kept.push_back(sample);
  }
  if (4 * kept.size() < samples_us.size()) kept.clear();
  return kept;
}

/// Why members like these cannot measure this at all.
std::optional<std::string> refusal_of_problem(const MeasuringMember& member,
                                              const MeasurementOptions& options,
                                              std::size_t count) {
  if (auto reason = unsuitable_count(options.problem, count, member.member_count)) return reason;
  if (options.pace == Pace::separate && !member.crew.is_on_one_machine()) {
    return "separate calls need members on one machine, whose clocks are one";
  }
  return std::nullopt;
}

}  // namespace

std::vector<bool> who_serves(const MeasuringMember& member, std::size_t size_bytes,
                             std::span<const std::unique_ptr<Contestant>> contestants,
                             const MeasurementOptions& options) {
  const std::size_t count = size_bytes / size_of(options.problem.type);
  std::vector<bool> serve(contestants.size(), false);
  if (refusal_of_problem(member, options, count)) return serve;
  SizeMeter meter(member, size_bytes, options);
  for (std::size_t i = 0; i < contestants.size(); ++i) serve[i] = !meter.refusal(*contestants[i]);
  return serve;
}

SizeTimings measure_size(const MeasuringMember& member, std::size_t size_bytes,
                         std::span<const std::unique_ptr<Contestant>> contestants,
                         const MeasurementOptions& options) {
  const std::size_t count = size_bytes / size_of(options.problem.type);
  if (auto reason = refusal_of_problem(member, options, count)) return {{}, *reason};
  SizeMeter meter(member, size_bytes, options);
  for (const auto& contestant : contestants) {
    if (auto refusal = meter.refusal(*contestant)) return {{}, *refusal};
  }
  std::vector<Timing> timings(contestants.size());
  double seconds_per_round = 0;
  int most_calls = 1;
  for (std::size_t i = 0; i < contestants.size(); ++i) {
    timings[i].verified = options.verification == Verification::timed_calls ||
                          meter.verify_pipelined(*contestants[i]);
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
    const bool verified = meter.verify_timed(*contestants[i], timings[i].calls_per_round);
    timings[i].verified = verified && timings[i].verified;
    member.crew.maximum(member.thread, samples_us[i]);
    const std::vector<double> kept = punctual(samples_us[i]);
    if (kept.empty()) return {{}, "the members could not begin together: they share cores"};
    timings[i].call_us = measure::summarize(kept);
    timings[i].rounds = static_cast<int>(kept.size());
  }
  return {timings, ""};
}

}  // namespace hycoll::command
