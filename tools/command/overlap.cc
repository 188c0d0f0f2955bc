#include "tools/command/overlap.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "threading/mpi_endpoint.h"
#include "tools/command/bench_data.h"
#include "tools/command/contestants.h"
#include "tools/measure/statistics.h"

namespace hycoll::command {
namespace {

constexpr int kCalibrationCalls = 15;
constexpr std::int64_t kCalibrationIterations = 1 << 16;
constexpr int kMinimumRounds = 5;
constexpr int kMaximumRounds = 1000;
constexpr int kSlots = 2;

class HycollCalls final : public NonblockingCalls {
 public:
  HycollCalls(Communicator& communicator, const Problem& problem, std::size_t count)
      : communicator_(communicator), problem_(problem), count_(count), name_("hycoll") {}

  const std::string& name() const override { return name_; }
  void start(const std::byte* input, std::byte* output) override {
    request_ = communicator_.start(call_of(problem_, count_, communicator_.size(), input, output));
  }
  void wait() override { request_.wait(); }

 private:
  Communicator& communicator_;
  Problem problem_;
  std::size_t count_;
  std::string name_;
  Request request_;
};

class NativeCalls final : public NonblockingCalls {
 public:
  NativeCalls(MPI_Comm comm, const Problem& problem, std::size_t count)
      : comm_(comm), problem_(problem), count_(count), name_(kNativeName) {}

  const std::string& name() const override { return name_; }
  void start(const std::byte* input, std::byte* output) override {
    request_ = start_native(comm_, problem_, count_, input, output);
  }
  void wait() override { check_mpi(MPI_Wait(&request_, MPI_STATUS_IGNORE), "MPI_Wait"); }

 private:
  MPI_Comm comm_;
  Problem problem_;
  std::size_t count_;
  std::string name_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

/// Chains of dependent multiplications and additions: memory and caches are left alone.
void compute(std::int64_t iterations) {
  double a = 1.0;
  double b = 2.0;
  for (std::int64_t i = 0; i < iterations; ++i) {
    a = a * 0.999999 + 1e-6;
    b = b * 0.999998 + 2e-6;
  }
  // The results count as used: otherwise the compiler drops the loop.
  asm volatile("" : : "x"(a), "x"(b) : "memory");
}

template <class Work>
double seconds_of(Work work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// What a sample is taken of.
enum class Part { communication, computation, both };
constexpr Part kParts[] = {Part::communication, Part::computation, Part::both};

/// One library at one size, on one process.
class OverlapMeter {
 public:
  OverlapMeter(Crew& crew, int rank, int size, std::size_t size_bytes, NonblockingCalls& calls,
               const Problem& problem)
      : crew_(crew),
        rank_(rank),
        calls_(calls),
        data_{problem.type, problem.op, size, 0},
        count_(size_bytes / size_of(problem.type)),
        expected_(expected_output(problem, count_, rank, size)),
        buffers_(size_bytes, expected_.count * size_of(problem.type), kSlots) {}

  /// Whether the results of start, computation and wait are right on all processes.
  bool verify(std::uint64_t salt) {
    data_.salt = salt;
    for (int slot = 0; slot < kSlots; ++slot) data_.fill(rank_, buffers_.input(slot), count_);
    buffers_.poison();
    std::optional<std::string> problem;
    for (int slot = 0; slot < kSlots; ++slot) sample(Part::both);
    for (int slot = 0; slot < kSlots && !problem; ++slot) {
      problem = data_.first_difference(buffers_.output(slot), expected_);
    }
    if (!problem && !buffers_.guards_intact()) problem = "memory after a buffer was overwritten";
    if (problem) {
      fmt::print(stderr, "hycoll: wrong result: {}, {} bytes, rank {}: {}\n", calls_.name(),
                 buffers_.size_bytes(), rank_, *problem);
    }
    return crew_.maximum(0, problem ? 1.0 : 0.0) == 0;
  }

  /// Makes the loop as long as the communication. Returns the latter, in seconds.
  double calibrate() {
    std::vector<double> communication;
    std::vector<double> computation;
    iterations_ = kCalibrationIterations;
    for (int i = 0; i < kCalibrationCalls; ++i) {
      communication.push_back(sample(Part::communication));
      computation.push_back(sample(Part::computation));
    }
    const double target = crew_.maximum(0, measure::median(communication));
    const double loop = crew_.maximum(0, measure::median(computation));
    iterations_ = std::llround(static_cast<double>(kCalibrationIterations) * target / loop);
    return target;
  }

  /// One timed part, as this process sees it.
  double sample(Part part) {
    slot_ = (slot_ + 1) % kSlots;
    crew_.meet(0);
    return seconds_of([&] {
      if (part != Part::computation) calls_.start(buffers_.input(slot_), buffers_.output(slot_));
      if (part != Part::communication) compute(iterations_);
      if (part != Part::computation) calls_.wait();
    });
  }

 private:
  Crew& crew_;
  int rank_;
  NonblockingCalls& calls_;
  CheckedData data_;
  std::size_t count_;
  ExpectedOutput expected_;
  MemberBuffers buffers_;
  std::int64_t iterations_ = 1;
  int slot_ = 0;
};

/// The samples of one library, by part.
struct OverlapSamples {
  std::vector<double> of[std::size(kParts)];

  double median_us(Crew& crew, Part part) {
    std::vector<double>& samples = of[static_cast<std::size_t>(part)];
    crew.maximum(0, samples);
    return 1e6 * measure::median(samples);
  }
};

int rounds_for(const OverlapOptions& options, double seconds_per_round) {
  if (options.rounds > 0) return options.rounds;
  const double rounds = options.seconds / std::max(seconds_per_round, 1e-9);
  return static_cast<int>(std::clamp<double>(rounds, kMinimumRounds, kMaximumRounds));
}

}  // namespace

std::unique_ptr<NonblockingCalls> hycoll_nonblocking(Communicator& communicator,
                                                     const Problem& problem, std::size_t count) {
  return std::make_unique<HycollCalls>(communicator, problem, count);
}

std::unique_ptr<NonblockingCalls> native_nonblocking(MPI_Comm comm, const Problem& problem,
                                                     std::size_t count) {
  return std::make_unique<NativeCalls>(comm, problem, count);
}

std::vector<OverlapTimes> measure_overlap(
    Crew& crew, int rank, int size, std::size_t size_bytes,
    const std::vector<std::unique_ptr<NonblockingCalls>>& libraries,
    const OverlapOptions& options) {
  std::vector<OverlapMeter> meters;
  std::vector<OverlapTimes> times(libraries.size());
  std::vector<OverlapSamples> samples(libraries.size());
  double seconds_per_round = 0;
  for (std::size_t i = 0; i < libraries.size(); ++i) {
    meters.emplace_back(crew, rank, size, size_bytes, *libraries[i], options.problem);
    times[i].name = libraries[i]->name();
    times[i].verified = meters[i].verify(1);
    seconds_per_round += 4 * meters[i].calibrate();
  }
  const int rounds = rounds_for(options, seconds_per_round);
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < libraries.size(); ++i) {
      for (const Part part : kParts) {
        samples[i].of[static_cast<std::size_t>(part)].push_back(meters[i].sample(part));
      }
    }
  }
  for (std::size_t i = 0; i < libraries.size(); ++i) {
    times[i].communication_us = samples[i].median_us(crew, Part::communication);
    times[i].compute_us = samples[i].median_us(crew, Part::computation);
    times[i].both_us = samples[i].median_us(crew, Part::both);
    times[i].rounds = rounds;
    times[i].verified = meters[i].verify(2) && times[i].verified;
  }
  return times;
}

}  // namespace hycoll::command
