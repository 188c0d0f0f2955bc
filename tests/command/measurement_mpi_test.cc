// The benchmark's way to measure: it accepts right calls of every collective, and finds wrong ones.
// All processes and threads are the members.
#include <doctest/doctest.h>
#include <mpi.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/base/errors.h"
#include "tools/command/measuring/contestants.h"
#include "tools/command/measuring/crew.h"
#include "tools/command/measuring/limit_team.h"
#include "tools/command/measuring/measurement.h"
#include "tools/command/measuring/overlap.h"

namespace hycoll::command {
namespace {

constexpr std::size_t kBytes = 960;
constexpr Routine kRoutines[] = {Routine::allreduce, Routine::reduce, Routine::reduce_scatter,
                                 Routine::scan,      Routine::exscan, Routine::broadcast,
                                 Routine::allgather, Routine::gather, Routine::scatter,
                                 Routine::alltoall,  Routine::barrier};

int process_count() {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

int process_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

MeasurementOptions options_of(const Problem& problem) {
  return {.problem = problem, .rounds = 2, .seconds = 0.001};
}

/// Of the processes; a reduce delivers to the last one, and a broadcast begins there.
Problem problem_of(Routine routine) {
  return {.routine = routine,
          .type = DataType::int32,
          .op = Operator::sum,
          .root = process_count() - 1};
}

using Function = std::function<void(const std::byte*, std::byte*)>;

/// The timing of `function` as the call of one process; each is a member.
SizeTimings measure_processes(const Problem& problem, const Function& function) {
  Crew crew(MPI_COMM_WORLD, 1);
  std::vector<std::unique_ptr<Contestant>> contestants;
  contestants.push_back(make_contestant("function", function));
  const std::size_t size_bytes = problem.routine == Routine::barrier ? 0 : kBytes;
  return measure_size({crew, 0, process_rank(), process_count()}, size_bytes, contestants,
                      options_of(problem));
}

TEST_CASE("right calls of every collective are verified, and timed") {
  for (const Routine routine : kRoutines) {
    CAPTURE(name_of(routine));
    const Problem problem = problem_of(routine);
    const std::size_t count = routine == Routine::barrier ? 0 : kBytes / 4;
    const SizeTimings timings =
        measure_processes(problem, native_call(MPI_COMM_WORLD, problem, count));
    REQUIRE(timings.timings.size() == 1);
    CHECK(timings.timings[0].verified);
    CHECK(timings.timings[0].call_us.minimum > 0);
    CHECK(timings.timings[0].call_us.minimum <= timings.timings[0].call_us.maximum);
    CHECK(timings.timings[0].rounds == 2);
  }
}

TEST_CASE("calls that do nothing are found on all processes, wherever there is something to do") {
  for (const Routine routine : kRoutines) {
    CAPTURE(name_of(routine));
    const SizeTimings timings =
        measure_processes(problem_of(routine), [](const std::byte*, std::byte*) {});
    // One process has met itself, has no exclusive prefix, and nobody to send to.
    const bool nothing_to_do =
        process_count() == 1 && (routine == Routine::barrier || routine == Routine::exscan ||
                                 routine == Routine::broadcast);
    CHECK(timings.timings.at(0).verified == nothing_to_do);
  }
}

TEST_CASE("writing to an output that is not the member's is found") {
  for (const Routine routine : {Routine::reduce, Routine::exscan, Routine::broadcast}) {
    if (process_count() == 1) continue;
    CAPTURE(name_of(routine));
    const Problem problem = problem_of(routine);
    const auto right = native_call(MPI_COMM_WORLD, problem, kBytes / 4);
    // Who has no result: all but the root, the first one, and the root.
    int other = 0;
    if (routine == Routine::reduce) other = process_count() - 2;
    if (routine == Routine::broadcast) other = problem.root;
    const SizeTimings timings =
        measure_processes(problem, [&](const std::byte* in, std::byte* out) {
          right(in, out);
          if (process_rank() == other) out[kBytes - 1] = std::byte{7};
        });
    CHECK_FALSE(timings.timings.at(0).verified);
  }
}

TEST_CASE("a contestant that refuses and a size without equal blocks are left out with a reason") {
  const SizeTimings refused = measure_processes(
      problem_of(Routine::scan),
      [](const std::byte*, std::byte*) { throw Error(ErrorKind::unsupported, "not this size"); });
  CHECK(refused.timings.empty());
  CHECK(refused.refusal == "not this size");

  Crew crew(MPI_COMM_WORLD, 1);
  const SizeTimings uneven = measure_size({crew, 0, process_rank(), 7}, 8 * 4, {},
                                          options_of(problem_of(Routine::reduce_scatter)));
  CHECK(uneven.refusal.find("7 equal blocks") != std::string::npos);
}

TEST_CASE("an input that a call changes is found") {
  const Problem problem = problem_of(Routine::allreduce);
  const auto right = native_call(MPI_COMM_WORLD, problem, kBytes / 4);
  const SizeTimings timings = measure_processes(problem, [&](const std::byte* in, std::byte* out) {
    right(in, out);
    if (process_rank() == 0) const_cast<std::byte*>(in)[17] ^= std::byte{1};
  });
  CHECK_FALSE(timings.timings.at(0).verified);
}

TEST_CASE("a single wrong result is found, among pipelined calls and in a block as those timed") {
  const Problem problem = problem_of(Routine::allreduce);
  const auto right = native_call(MPI_COMM_WORLD, problem, kBytes / 4);
  // The first call, which asks for refusals, and 32 pipelined ones.
  for (const Verification verification : {Verification::pipelined, Verification::timed_calls}) {
    int calls = 0;
    Crew crew(MPI_COMM_WORLD, 1);
    std::vector<std::unique_ptr<Contestant>> contestants;
    contestants.push_back(make_contestant("once wrong", [&](const std::byte* in, std::byte* out) {
      right(in, out);
      if (++calls == 20 && process_rank() == 0) out[3] ^= std::byte{1};
    }));
    MeasurementOptions options = options_of(problem);
    options.verification = verification;
    const SizeTimings timings =
        measure_size({crew, 0, process_rank(), process_count()}, kBytes, contestants, options);
    CHECK(timings.timings.at(0).verified == (verification == Verification::timed_calls));
  }
  for (const InputUse inputs : {InputUse::fresh, InputUse::reused}) {
    bool wrong = false;
    Crew crew(MPI_COMM_WORLD, 1);
    std::vector<std::unique_ptr<Contestant>> contestants;
    contestants.push_back(
        make_contestant("wrong at last", [&](const std::byte* in, std::byte* out) {
          right(in, out);
          if (wrong && process_rank() == 0) out[3] ^= std::byte{1};
        }));
    MeasurementOptions options = options_of(problem);
    options.inputs = inputs;
    options.verification = Verification::timed_calls;
    const MeasuringMember member{crew, 0, process_rank(), process_count()};
    CHECK(measure_size(member, kBytes, contestants, options).timings.at(0).verified);
    wrong = true;
    CHECK_FALSE(measure_size(member, kBytes, contestants, options).timings.at(0).verified);
  }
}

TEST_CASE("separate calls are timed one by one from a common beginning") {
  for (const Routine routine : kRoutines) {
    CAPTURE(name_of(routine));
    const Problem problem = problem_of(routine);
    const bool barrier = routine == Routine::barrier;
    Crew crew(MPI_COMM_WORLD, 1);
    std::vector<std::unique_ptr<Contestant>> contestants;
    contestants.push_back(make_contestant(
        "function", native_call(MPI_COMM_WORLD, problem, barrier ? 0 : kBytes / 4)));
    MeasurementOptions options = options_of(problem);
    options.pace = Pace::separate;
    options.rounds = 50;
    const SizeTimings timings = measure_size({crew, 0, process_rank(), process_count()},
                                             barrier ? 0 : kBytes, contestants, options);
    if (timings.timings.empty()) {  // more processes than cores, at most times
      CHECK(timings.refusal.find("begin together") != std::string::npos);
      continue;
    }
    CHECK(timings.timings[0].verified);
    CHECK(timings.timings[0].calls_per_round == 1);
    CHECK(timings.timings[0].rounds <= 50);
    CHECK(timings.timings[0].call_us.minimum > 0);
    CHECK(timings.timings[0].call_us.maximum < 1e9);
  }
}

TEST_CASE("the other threads of a process wait until the first has done what it does alone") {
  Crew crew(MPI_COMM_SELF, 3);
  int done = 0;
  const auto run = [&](int thread) {
    for (int i = 1; i <= 50; ++i) {
      crew.alone(thread, [&] { ++done; });
      CHECK(done == i);
    }
  };
  std::thread first([&] { run(1); });
  std::thread second([&] { run(2); });
  run(0);
  first.join();
  second.join();
}

/// What thread 0 of two threads of one process found.
SizeTimings measure_threads(const Problem& problem,
                            const std::function<std::unique_ptr<Contestant>(Crew&, int)>& make) {
  Crew crew(MPI_COMM_SELF, 2);
  SizeTimings result;
  const auto run = [&](int thread) {
    std::vector<std::unique_ptr<Contestant>> contestants;
    contestants.push_back(make(crew, thread));
    const std::size_t size_bytes = problem.routine == Routine::barrier ? 0 : kBytes;
    const SizeTimings timings =
        measure_size({crew, thread, thread, 2}, size_bytes, contestants, options_of(problem));
    if (thread == 0) result = timings;
  };
  std::thread other([&] { run(1); });
  run(0);
  other.join();
  return result;
}

TEST_CASE("threads that do not wait for one another make no barrier") {
  const Problem problem = problem_of(Routine::barrier);
  const auto meeting = [](Crew& crew, int thread) {
    return make_contestant("meet",
                           [&crew, thread](const std::byte*, std::byte*) { crew.meet(thread); });
  };
  CHECK(measure_threads(problem, meeting).timings.at(0).verified);
  const auto passing = [](Crew&, int) {
    return make_contestant("pass", [](const std::byte*, std::byte*) {});
  };
  CHECK_FALSE(measure_threads(problem, passing).timings.at(0).verified);
}

TEST_CASE("the limit's threads do what the collective does") {
  for (const Routine routine : kRoutines) {
    if (routine == Routine::barrier) continue;
    CAPTURE(name_of(routine));
    Problem problem = problem_of(routine);
    problem.root = 1;
    for (int kernel = 0; kernel < measure::kLimitKernelCount; ++kernel) {
      CAPTURE(kernel);
      std::unique_ptr<LimitTeam> team;
      const SizeTimings timings = measure_threads(problem, [&](Crew& crew, int thread) {
        if (thread == 0) team = std::make_unique<LimitTeam>(crew);
        crew.meet(thread);
        return team->contestant(static_cast<measure::LimitKernel>(kernel), problem, thread,
                                kBytes / 4);
      });
      CHECK(timings.timings.at(0).verified);
    }
  }
  CHECK_FALSE(LimitTeam::serves({.routine = Routine::barrier}));
  CHECK_FALSE(LimitTeam::serves({.routine = Routine::allreduce, .op = Operator::max}));
}

/// Forgets the result, or does as the MPI library does.
class Nonblocking final : public NonblockingCalls {
 public:
  explicit Nonblocking(bool right) : right_(right) {}
  const std::string& name() const override { return name_; }
  void start(const std::byte* input, std::byte* output) override {
    if (right_) calls_->start(input, output);
  }
  void wait() override {
    if (right_) calls_->wait();
  }

 private:
  bool right_;
  std::string name_ = "calls";
  std::unique_ptr<NonblockingCalls> calls_ =
      native_nonblocking(MPI_COMM_WORLD, problem_of(Routine::allreduce), kBytes / 4);
};

TEST_CASE("overlapped calls are verified, and their hidden share follows from the times") {
  Crew crew(MPI_COMM_WORLD, 1);
  std::vector<std::unique_ptr<NonblockingCalls>> libraries;
  libraries.push_back(std::make_unique<Nonblocking>(true));
  libraries.push_back(std::make_unique<Nonblocking>(false));
  const std::vector<OverlapTimes> times =
      measure_overlap(crew, process_rank(), process_count(), kBytes, libraries,
                      {.problem = problem_of(Routine::allreduce), .rounds = 3, .seconds = 0.001});
  REQUIRE(times.size() == 2);
  CHECK(times[0].verified);
  CHECK_FALSE(times[1].verified);
  CHECK(times[0].rounds == 3);
  CHECK(times[0].communication_us > 0);
  CHECK(times[0].compute_us > 0);
  CHECK(times[0].both_us > 0);

  const auto hidden = [](double communication_us, double compute_us, double both_us) {
    OverlapTimes one;
    one.communication_us = communication_us;
    one.compute_us = compute_us;
    one.both_us = both_us;
    return one.hidden();
  };
  CHECK(hidden(10, 12, 12) == 1);
  CHECK(hidden(10, 12, 22) == 0);
  CHECK(hidden(10, 12, 15) == doctest::Approx(0.7));
  CHECK(hidden(10, 12, 24) == doctest::Approx(-0.2));
}

}  // namespace
}  // namespace hycoll::command
