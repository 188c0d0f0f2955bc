#include "tools/command/measuring/persistent_contestants.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace hycoll::command {
namespace {

/// The buffers of a call.
struct Slot {
  std::uint64_t buffers;  ///< MemberBuffers::number().
  const std::byte* input;
  std::byte* output;
};

/// Calls of which a part is timed: timed(slot), then the rest, completed(slot).
template <class Timed, class Completed>
class SplitCalls final : public Contestant {
 public:
  SplitCalls(std::string name, Timed timed, Completed completed)
      : name_(std::move(name)), timed_(std::move(timed)), completed_(std::move(completed)) {}

  void run(const MemberBuffers& buffers, int calls) override { timed_run(buffers, calls); }

  double timed_run(const MemberBuffers& buffers, int calls) override {
    std::chrono::steady_clock::duration time{0};
    for (int done = 0, index = 0; done < calls; ++done) {
      const Slot slot{buffers.number(), buffers.input(index), buffers.output(index)};
      const auto start = std::chrono::steady_clock::now();
      timed_(slot);
      time += std::chrono::steady_clock::now() - start;
      completed_(slot);
      if (++index == buffers.slot_count()) index = 0;
    }
    return std::chrono::duration<double>(time).count();
  }

  const std::string& name() const override { return name_; }

 private:
  std::string name_;
  Timed timed_;
  Completed completed_;
};

template <class Timed, class Completed>
std::unique_ptr<Contestant> split_calls(std::string name, Timed timed, Completed completed) {
  return std::make_unique<SplitCalls<Timed, Completed>>(std::move(name), std::move(timed),
                                                        std::move(completed));
}

constexpr auto kNothing = [](const Slot& /*slot*/) {};

/// What has been set up for one slot.
template <class Call>
struct SetUp {
  std::uint64_t buffers;
  const std::byte* input;
  Call call;
};

/// A slot's call, which `prepare()` sets up if it is not there yet. Found by the buffers' number:
/// members that found their calls by addresses alone would not find the same ones, where memory has
/// been given back and got again on one of them.
template <class Call, class Prepare>
Call& call_for(const Slot& slot, std::vector<SetUp<Call>>& calls, const Prepare& prepare) {
  // The timed calls' buffers come last.
  for (auto set_up = calls.rbegin(); set_up != calls.rend(); ++set_up) {
    if (set_up->buffers == slot.buffers && set_up->input == slot.input) return set_up->call;
  }
  return calls.emplace_back(SetUp<Call>{slot.buffers, slot.input, prepare()}).call;
}

/// The persistent calls of one member, by their buffers.
template <class Caller>
class PersistentCalls {
 public:
  PersistentCalls(Caller& caller, const Problem& problem, std::size_t count)
      : caller_(caller), problem_(problem), count_(count) {}

  Persistent& of(const Slot& slot) {
    return call_for(slot, calls_, [&] {
      return caller_.prepare(call_of(problem_, count_, caller_.size(), slot.input, slot.output));
    });
  }

 private:
  Caller& caller_;
  Problem problem_;
  std::size_t count_;
  std::vector<SetUp<Persistent>> calls_;
};

#if MPI_VERSION >= 4
/// The MPI library's persistent calls of one process, by their buffers.
class NativePersistentCalls {
 public:
  NativePersistentCalls(MPI_Comm comm, const Problem& problem, std::size_t count)
      : comm_(comm), problem_(problem), count_(count) {}
  ~NativePersistentCalls() {
    for (SetUp<MPI_Request>& set_up : calls_) MPI_Request_free(&set_up.call);
  }
  NativePersistentCalls(const NativePersistentCalls&) = delete;
  NativePersistentCalls& operator=(const NativePersistentCalls&) = delete;

  MPI_Request& of(const Slot& slot) {
    return call_for(slot, calls_, [&] {
      return prepare_native(comm_, problem_, count_, slot.input, slot.output);
    });
  }

 private:
  MPI_Comm comm_;
  Problem problem_;
  std::size_t count_;
  std::vector<SetUp<MPI_Request>> calls_;
};
#endif

template <class Caller>
PersistentContestants contestants_of(Caller& caller, const Problem& problem, std::size_t count) {
  const auto calls = std::make_shared<PersistentCalls<Caller>>(caller, problem, count);
  PersistentContestants all;
  all.call = split_calls(
      "blocking",
      [&caller, problem, count, members = caller.size()](const Slot& slot) {
        caller.run(call_of(problem, count, members, slot.input, slot.output));
      },
      kNothing);
  all.start = split_calls(
      "start", [calls](const Slot& slot) { calls->of(slot).start(); },
      [calls](const Slot& slot) { calls->of(slot).wait(); });
  all.start_and_wait = split_calls(
      "start and wait",
      [calls](const Slot& slot) {
        Persistent& call = calls->of(slot);
        call.start();
        call.wait();
      },
      kNothing);
  all.run = split_calls(
      "run", [calls](const Slot& slot) { calls->of(slot).run(); }, kNothing);
  return all;
}

}  // namespace

PersistentContestants persistent_contestants(Communicator& caller, const Problem& problem,
                                             std::size_t count) {
  return contestants_of(caller, problem, count);
}

PersistentContestants persistent_contestants(Member& caller, const Problem& problem,
                                             std::size_t count) {
  return contestants_of(caller, problem, count);
}

std::unique_ptr<Contestant> timed_native_contestant(MPI_Comm comm, const Problem& problem,
                                                    std::size_t count) {
  return split_calls(
      kNativeName,
      [call = native_call(comm, problem, count)](const Slot& slot) {
        call(slot.input, slot.output);
      },
      kNothing);
}

#if MPI_VERSION >= 4
std::unique_ptr<Contestant> persistent_native_contestant(MPI_Comm comm, const Problem& problem,
                                                         std::size_t count) {
#ifdef MPICH_NUMVERSION
  // Started again it does not gather anew on a power of two of processes, as of MPICH 4.0
  // (github.com/pmodels/mpich, issue 6423); what has a root copies its own block when it is set up.
  const bool is_wrong = problem.routine == Routine::allgather ||
                        problem.routine == Routine::gather || problem.routine == Routine::scatter;
  if (is_wrong) return nullptr;
#endif
  const auto calls = std::make_shared<NativePersistentCalls>(comm, problem, count);
  return split_calls(
      "mpi, start and wait",
      [calls](const Slot& slot) {
        MPI_Request& request = calls->of(slot);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
      },
      kNothing);
}
#else
std::unique_ptr<Contestant> persistent_native_contestant(MPI_Comm, const Problem&, std::size_t) {
  return nullptr;
}
#endif

}  // namespace hycoll::command
