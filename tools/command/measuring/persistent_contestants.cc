#include "tools/command/measuring/persistent_contestants.h"

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace hycoll::command {
namespace {

/// Calls of which a part is timed: timed(input, output), then the rest, completed(input, output).
template <class Timed, class Completed>
class SplitCalls final : public Contestant {
 public:
  SplitCalls(std::string name, Timed timed, Completed completed)
      : name_(std::move(name)), timed_(std::move(timed)), completed_(std::move(completed)) {}

  void run(const MemberBuffers& buffers, int calls) override { timed_run(buffers, calls); }

  double timed_run(const MemberBuffers& buffers, int calls) override {
    using Clock = std::chrono::steady_clock;
    Clock::duration time{0};
    for (int done = 0, slot = 0; done < calls; ++done) {
      const std::byte* const input = buffers.input(slot);
      std::byte* const output = buffers.output(slot);
      const Clock::time_point start = Clock::now();
      timed_(input, output);
      time += Clock::now() - start;
      completed_(input, output);
      if (++slot == buffers.slot_count()) slot = 0;
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

constexpr auto kNothing = [](const std::byte*, std::byte*) {};

/// The persistent calls of one member, by their buffers.
template <class Caller>
class PersistentCalls {
 public:
  PersistentCalls(Caller& caller, const Problem& problem, std::size_t count)
      : caller_(caller), problem_(problem), count_(count) {}

  Persistent& of(const std::byte* input, std::byte* output) {
    // The timed calls' buffers come last.
    for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry) {
      if (entry->input == input && entry->output == output) return entry->call;
    }
    const Call call = call_of(problem_, count_, caller_.size(), input, output);
    return entries_.emplace_back(Entry{input, output, caller_.prepare(call)}).call;
  }

 private:
  struct Entry {
    const std::byte* input;
    std::byte* output;
    Persistent call;
  };

  Caller& caller_;
  Problem problem_;
  std::size_t count_;
  std::vector<Entry> entries_;
};

#if MPI_VERSION >= 4
/// The MPI library's persistent calls of one process, by their buffers.
class NativePersistentCalls {
 public:
  NativePersistentCalls(MPI_Comm comm, const Problem& problem, std::size_t count)
      : comm_(comm), problem_(problem), count_(count) {}
  ~NativePersistentCalls() {
    for (Entry& entry : entries_) MPI_Request_free(&entry.request);
  }
  NativePersistentCalls(const NativePersistentCalls&) = delete;
  NativePersistentCalls& operator=(const NativePersistentCalls&) = delete;

  MPI_Request& of(const std::byte* input, std::byte* output) {
    // The timed calls' buffers come last.
    for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry) {
      if (entry->input == input && entry->output == output) return entry->request;
    }
    const MPI_Request request = prepare_native(comm_, problem_, count_, input, output);
    return entries_.emplace_back(Entry{input, output, request}).request;
  }

 private:
  struct Entry {
    const std::byte* input;
    std::byte* output;
    MPI_Request request;
  };

  MPI_Comm comm_;
  Problem problem_;
  std::size_t count_;
  std::vector<Entry> entries_;
};
#endif

template <class Caller>
PersistentContestants contestants_of(Caller& caller, const Problem& problem, std::size_t count) {
  const auto calls = std::make_shared<PersistentCalls<Caller>>(caller, problem, count);
  PersistentContestants all;
  all.call = split_calls(
      "blocking",
      [&caller, problem, count, members = caller.size()](const std::byte* input,
                                                         std::byte* output) {
        caller.run(call_of(problem, count, members, input, output));
      },
      kNothing);
  all.start = split_calls(
      "start", [calls](const std::byte* in, std::byte* out) { calls->of(in, out).start(); },
      [calls](const std::byte* in, std::byte* out) { calls->of(in, out).wait(); });
  all.start_and_wait = split_calls(
      "start and wait",
      [calls](const std::byte* in, std::byte* out) {
        Persistent& call = calls->of(in, out);
        call.start();
        call.wait();
      },
      kNothing);
  all.run = split_calls(
      "run", [calls](const std::byte* in, std::byte* out) { calls->of(in, out).run(); }, kNothing);
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
  return split_calls(kNativeName, native_call(comm, problem, count), kNothing);
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
      [calls](const std::byte* in, std::byte* out) {
        MPI_Request& request = calls->of(in, out);
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
