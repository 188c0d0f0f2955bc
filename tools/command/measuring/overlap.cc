#include "tools/command/measuring/overlap.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <utility>

#include "threading/transport/mpi/mpi_endpoint.h"
#include "tools/command/measuring/bench_data.h"
#include "tools/command/measuring/contestants.h"
#include "tools/measure/statistics.h"

namespace hycoll::command {
namespace {

/// The loops are fitted twice, for how long communication takes depends on what lies between.
constexpr int kCalibrations = 2;
constexpr int kCalibrationRounds = 9;
constexpr std::int64_t kFirstIterations = 1 << 16;
constexpr int kFewestOverlaps = 5;
constexpr int kMostOverlaps = 1000;
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
  /// `buffers` are shared by all libraries, which take turns, and whose results are `expected`.
  OverlapMeter(Crew& crew, int rank, int size, NonblockingCalls& calls, const Problem& problem,
               const ExpectedOutput& expected, MemberBuffers& buffers)
      : crew_(crew),
        rank_(rank),
        calls_(calls),
        data_{problem.type, problem.op, size, 0},
        count_(buffers.size_bytes() / size_of(problem.type)),
        expected_(expected),
        buffers_(buffers) {}

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

  /// Makes the loop, which took `compute_us`, as long as the communication took.
  void calibrate(double communication_us, double compute_us) {
    iterations_ = std::llround(static_cast<double>(iterations_) * communication_us / compute_us);
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
  MemberBuffers& buffers_;
  std::int64_t iterations_ = kFirstIterations;
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

/// So many rounds of all parts of all libraries.
std::vector<OverlapSamples> run_rounds(std::vector<OverlapMeter>& meters, int rounds) {
  std::vector<OverlapSamples> samples(meters.size());
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < meters.size(); ++i) {
      for (const Part part : kParts) {
        samples[i].of[static_cast<std::size_t>(part)].push_back(meters[i].sample(part));
      }
    }
  }
  return samples;
}

/// Fits the loops under the conditions of the measurement. Returns the time of a round.
double calibrate(Crew& crew, std::vector<OverlapMeter>& meters) {
  double round_us = 0;
  for (int repetition = 0; repetition < kCalibrations; ++repetition) {
    std::vector<OverlapSamples> samples = run_rounds(meters, kCalibrationRounds);
    round_us = 0;
    for (std::size_t i = 0; i < meters.size(); ++i) {
      const double communication_us = samples[i].median_us(crew, Part::communication);
      meters[i].calibrate(communication_us, samples[i].median_us(crew, Part::computation));
      round_us += 4 * communication_us;
    }
  }
  return 1e-6 * round_us;
}

int rounds_for(const OverlapOptions& options, double seconds_per_round) {
  if (options.rounds > 0) return options.rounds;
  const double rounds = options.seconds / std::max(seconds_per_round, 1e-9);
  return static_cast<int>(std::clamp<double>(rounds, kFewestOverlaps, kMostOverlaps));
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
  const std::size_t element_bytes = size_of(options.problem.type);
  const ExpectedOutput expected =
      expected_output(options.problem, size_bytes / element_bytes, rank, size);
  MemberBuffers buffers(size_bytes, expected.count * element_bytes, kSlots);
  std::vector<OverlapMeter> meters;
  std::vector<OverlapTimes> times(libraries.size());
  for (std::size_t i = 0; i < libraries.size(); ++i) {
    meters.emplace_back(crew, rank, size, *libraries[i], options.problem, expected, buffers);
    times[i].name = libraries[i]->name();
    times[i].verified = meters[i].verify(1);
  }
  const int rounds = rounds_for(options, calibrate(crew, meters));
  std::vector<OverlapSamples> samples = run_rounds(meters, rounds);
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
