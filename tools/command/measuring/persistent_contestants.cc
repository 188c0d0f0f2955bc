#include "tools/command/measuring/persistent_contestants.h"

#include <chrono>
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
    for (Entry& entry : entries_) {
      if (entry.input == input && entry.output == output) return entry.call;
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

}  // namespace hycoll::command
