// The system refuses memory in the midst of a call, wherever hycoll asks for it: nobody waits for
// ever, no result is wrong, and the next call is as good as ever.

#include <doctest/doctest.h>
#include <hycoll/hycoll.h>
#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/call_sweeps.h"
#include "tests/support/sanitized.h"

namespace {

/// How many requests for memory the thread may make before one is refused; -1: any number.
thread_local int granted = -1;

void* allocate(std::size_t size_bytes, std::size_t alignment) {
  if (granted >= 0 && --granted < 0) throw std::bad_alloc();
  const std::size_t rounded = (size_bytes + alignment) / alignment * alignment;
  if (void* memory = std::aligned_alloc(alignment, rounded)) return memory;
  throw std::bad_alloc();
}

// Not inline: compilers would take the pair that std::vector calls for one that does not match.
[[gnu::noinline]] void release(void* memory) { std::free(memory); }

}  // namespace

void* operator new(std::size_t size_bytes) {
  return allocate(size_bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
}
void* operator new(std::size_t size_bytes, std::align_val_t alignment) {
  return allocate(size_bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t size_bytes, const std::nothrow_t& /*tag*/) noexcept {
  return std::malloc(size_bytes);
}
void operator delete(void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept { release(memory); }
void operator delete(void* memory, std::size_t /*size*/, std::align_val_t /*alignment*/) noexcept {
  release(memory);
}

namespace hycoll::tests {
namespace {

/// How a member's attempts at a call have ended.
struct Outcome {
  int refused = 0;  ///< Attempts that were no call: the member may try again.
  bool has_failed = false;
  std::string complaint;
};

/// Makes a call, whatever it takes, with the memory refused once after so many requests.
template <class Caller, class Make>
Outcome attempt(Caller& caller, const CollectiveReference& reference, int requests_before,
                const Make& make) {
  Outcome outcome;
  CallTrial trial(reference, caller.rank(), Placement::separate);
  trial.fill(1);
  const Call call = trial.call();
  for (;;) {
    try {
      granted = requests_before;
      make(caller, call);
      granted = -1;
      outcome.complaint = trial.complaint();
      return outcome;
    } catch (const Error&) {
      granted = -1;
      outcome.has_failed = true;
      return outcome;
    } catch (const std::bad_alloc&) {
      granted = -1;
      requests_before = -1;
      ++outcome.refused;
    }
  }
}

/// A call that a member makes with its memory refused, and one that nothing is refused.
template <class Caller, class Make>
Outcome attempt_twice(Caller& caller, std::size_t count, int requests_before, const Make& make,
                      std::string& first) {
  const CollectiveReference reference{
      .member_count = caller.size(), .count = count, .block_counts = {}};
  const Outcome outcome = attempt(caller, reference, requests_before, make);
  note(first, outcome.complaint);
  const Outcome next = attempt(caller, reference, -1, make);
  note(first, next.complaint);
  if (next.has_failed || next.refused > 0) note(first, "the next call has failed");
  return outcome;
}

/// The first requests of calls that have been made before, each of them refused in turn; and some
/// of the many requests of calls for which everything is made anew. Counts the calls that something
/// has been refused in `disturbed`.
template <class Caller, class Make>
std::string refuse_in_turn(Caller& caller, bool is_refused, std::size_t base, const Make& make,
                           std::atomic<int>& disturbed) {
  std::string first;
  Sample of_long;
  const auto try_one = [&](std::size_t count, int requests_before) {
    if (base > 5'000 && !of_long.takes_next()) return;
    const Outcome outcome =
        attempt_twice(caller, count, is_refused ? requests_before : -1, make, first);
    if (outcome.refused > 0 || outcome.has_failed) ++disturbed;
  };
  for (int requests_before = 0; requests_before < 30; ++requests_before) {
    try_one(base, requests_before);
  }
  std::size_t count = base;
  for (int requests_before = 0; requests_before < 2'000;
       requests_before += 1 + requests_before / 4) {
    try_one(++count, requests_before);
  }
  return first;
}

const auto kBlocking = [](auto& caller, const Call& call) { caller.run(call); };
const auto kNonblocking = [](auto& caller, const Call& call) { caller.start(call).wait(); };
const auto kDriven = [](auto& caller, const Call& call) { make_driven(caller, call); };

Call with_own_operator(const Call& call) {
  Call custom = call;
  custom.op = Operation::custom(
      [](const void* left, void* right, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
          static_cast<std::int64_t*>(right)[i] += static_cast<const std::int64_t*>(left)[i];
        }
      },
      Commutativity::commutative);
  return custom;
}

/// With an operator of the program's, after whose calls the members agree.
const auto kCustom = [](auto& caller, const Call& call) {
  caller.start(with_own_operator(call)).wait();
};
const auto kDrivenCustom = [](auto& caller, const Call& call) {
  make_driven(caller, with_own_operator(call));
};

TEST_CASE("a thread of a team") {
  Team team(MPI_COMM_SELF, 3);
  std::atomic<int> disturbed{0};
  for (const std::size_t base : {std::size_t{5}, std::size_t{20'000}}) {
    CHECK(in_every_thread(team, [&](Member& member) {
            return refuse_in_turn(member, member.rank() == 1, base, kBlocking, disturbed);
          }) == "");
    CHECK(in_every_thread(team, [&](Member& member) {
            return refuse_in_turn(member, member.rank() == 1, base + 1'000, kNonblocking,
                                  disturbed);
          }) == "");
    CHECK(in_every_thread(team, [&](Member& member) {
            return refuse_in_turn(member, member.rank() == 1, base + 2'000, kCustom, disturbed);
          }) == "");
  }
  CHECK(disturbed > 20);
}

TEST_CASE("a process whose threads work for it") {
  Options options = Options::from_environment();
  options.workers = 2;
  Communicator communicator(MPI_COMM_WORLD, options);
  const bool is_refused = communicator.rank() == communicator.size() - 1;
  std::atomic<int> disturbed{0};
  for (const std::size_t base : {std::size_t{5}, std::size_t{200'000}}) {
    CHECK(refuse_in_turn(communicator, is_refused, base, kBlocking, disturbed) == "");
    CHECK(refuse_in_turn(communicator, is_refused, base + 1'000, kNonblocking, disturbed) == "");
    CHECK(refuse_in_turn(communicator, is_refused, base + 2'000, kCustom, disturbed) == "");
    CHECK(refuse_in_turn(communicator, is_refused, base + 3'000, kDriven, disturbed) == "");
    CHECK(refuse_in_turn(communicator, is_refused, base + 4'000, kDrivenCustom, disturbed) == "");
  }
  CHECK((!is_refused || disturbed > 20));
}

TEST_CASE("processes that form a node") {
  Options options = Options::from_environment();
  options.layout = Options::Layout::processes;
  Communicator communicator(MPI_COMM_WORLD, options);
  const bool is_refused = communicator.rank() == communicator.size() - 1;
  std::atomic<int> disturbed{0};
  for (const std::size_t base : {std::size_t{5}, std::size_t{100'000}}) {
    CHECK(refuse_in_turn(communicator, is_refused, base, kBlocking, disturbed) == "");
    CHECK(refuse_in_turn(communicator, is_refused, base + 1'000, kNonblocking, disturbed) == "");
    CHECK(refuse_in_turn(communicator, is_refused, base + 3'000, kDriven, disturbed) == "");
    CHECK(refuse_in_turn(communicator, is_refused, base + 4'000, kDrivenCustom, disturbed) == "");
  }
  CHECK((!is_refused || disturbed > 20));
}

}  // namespace
}  // namespace hycoll::tests
