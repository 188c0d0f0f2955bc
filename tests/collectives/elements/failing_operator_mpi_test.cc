// Custom operators that throw on some processes: every member gets the error, in every collective,
// form and layout, and later calls work.

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <hycoll/hycoll.h>
#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/base/collective_traits.h"
#include "tests/support/call_sweeps.h"
#include "tests/support/world.h"

namespace hycoll::tests {
namespace failing_operator_mpi_test {

/// A sum that throws in this process while it is armed.
class Trap {
 public:
  explicit Trap(Commutativity commutativity, Concurrency concurrency = Concurrency::any_thread)
      : operation_(Operation::custom(
            [this](const void* left, void* right, std::size_t count) {
              if (armed_) {
                sprung_ = true;
                throw std::runtime_error("the trap is sprung");
              }
              for (std::size_t i = 0; i < count; ++i) {
                static_cast<std::int64_t*>(right)[i] += static_cast<const std::int64_t*>(left)[i];
              }
            },
            commutativity, concurrency)) {}
  Trap(const Trap&) = delete;

  const Operation& operation() const { return operation_; }
  void set(bool armed) {
    armed_ = armed;
    sprung_ = false;
  }
  bool sprung() const { return sprung_; }

 private:
  std::atomic<bool> armed_{false};
  std::atomic<bool> sprung_{false};
  Operation operation_;
};

/// What the threads of a process share.
struct Shared {
  Trap trap{Commutativity::non_commutative};
  Trap other_trap{Commutativity::commutative};
  std::atomic<int> sprung_anywhere{0};
};

/// Between barriers of all members: one thread of each process does something for it.
template <class Caller, class Action>
void once_per_process(Caller& caller, bool speaks, const Action& action) {
  caller.barrier();
  if (speaks) action();
  caller.barrier();
}

/// Learns on every process whether a trap was sprung on any.
void agree(Shared& shared, const Trap& trap) {
  int sprung = trap.sprung() ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &sprung, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  shared.sprung_anywhere = sprung;
}

template <class Action>
std::string error_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.kind() == ErrorKind::user_operator ? error.what()
                                                    : fmt::format("wrong kind: {}", error.what());
  }
  return "";
}

/// A failed call must say so on every member; one that has not failed must be right.
std::string complaint_about(const std::string& error, const CallTrial& trial, bool must_fail) {
  if (!must_fail) return error.empty() ? trial.complaint() : trial.describe() + ": " + error;
  const bool is_told = error.find("the trap is sprung") != std::string::npos ||
                       error.find("the operator failed on rank") != std::string::npos;
  return is_told ? "" : fmt::format("{}: not told of the failure: '{}'", trial.describe(), error);
}

enum class Form { blocking, nonblocking, polled, persistent, driven };

/// One call in which a process's operator throws, and the same call again, without.
template <class Caller>
std::string try_call(Caller& caller, bool speaks, Shared& shared,
                     const CollectiveReference& reference, Form form, int armed_process) {
  std::string first;
  CallTrial trial(reference, caller.rank(), Placement::separate);
  Call call = trial.call();
  call.op = shared.trap.operation();
  Persistent persistent = caller.prepare(call);
  for (const bool armed : {true, false}) {
    once_per_process(caller, speaks,
                     [&] { shared.trap.set(armed && world_rank() == armed_process); });
    trial.fill(armed ? 1 : 2);
    const std::string error = error_of([&] {
      if (form == Form::blocking) return caller.run(call);
      if (form == Form::driven) return make_driven(caller, call);
      if (form == Form::persistent) {
        persistent.start();
        return persistent.wait();
      }
      Request request = caller.start(call);
      while (form == Form::polled && !request.test()) std::this_thread::yield();
      request.wait();
    });
    once_per_process(caller, speaks, [&] { agree(shared, shared.trap); });
    note(first, complaint_about(error, trial, shared.sprung_anywhere != 0));
  }
  return first;
}

/// Several calls under way, of which the first and the last fail.
template <class Caller>
std::string try_overlapping(Caller& caller, bool speaks, Shared& shared, std::size_t count) {
  std::string first;
  const CollectiveReference reference{
      .member_count = caller.size(), .count = count, .block_counts = {}};
  once_per_process(caller, speaks, [&] {
    shared.trap.set(world_rank() == world_size() - 1);
    shared.other_trap.set(false);
  });
  std::vector<CallTrial> trials;
  std::vector<Request> requests;
  for (int number = 0; number < 5; ++number) {
    trials.emplace_back(reference, caller.rank(), Placement::separate);
    trials.back().fill(number);
    Call call = trials.back().call();
    if (number % 2 == 0) call.op = (number == 2 ? shared.other_trap : shared.trap).operation();
    requests.push_back(caller.start(call));
  }
  std::vector<std::string> errors(requests.size());
  for (std::size_t r = requests.size(); r-- > 0;) {
    errors[r] = error_of([&] { requests[r].wait(); });
  }
  once_per_process(caller, speaks, [&] { agree(shared, shared.trap); });
  for (std::size_t r = 0; r < errors.size(); ++r) {
    const bool must_fail = shared.sprung_anywhere != 0 && (r == 0 || r == 4);
    note(first, complaint_about(errors[r], trials[r], must_fail));
  }
  return first;
}

template <class Caller>
std::string try_all(Caller& caller, bool speaks, Shared& shared) {
  std::string first;
  int number = 0;
  for (const std::size_t count : {std::size_t{2}, std::size_t{4'000}, std::size_t{50'000}}) {
    for (const CollectiveReference& reference : references_of_all(caller.size(), count)) {
      if (!combines(reference.collective)) continue;
      for (const int process : {0, world_size() - 1}) {
        const Form form = static_cast<Form>(++number % 5);
        note(first, try_call(caller, speaks, shared, reference, form, process));
      }
    }
    note(first, try_overlapping(caller, speaks, shared, count));
  }
  return first;
}

TEST_CASE("one member per process") {
  for (const int workers : {1, 2, 3}) {
    CAPTURE(workers);
    Options options = Options::from_environment();
    options.workers = workers;
    Communicator communicator(MPI_COMM_WORLD, options);
    Shared shared;
    CHECK(try_all(communicator, true, shared) == "");
  }
}

TEST_CASE("every thread is a member") {
  Team team(MPI_COMM_WORLD, 1 + (world_rank() + 1) % 2);
  Shared shared;
  const int first_rank = team.join(0).rank();
  CHECK(in_every_thread(team, [&](Member& member) {
          return try_all(member, member.rank() == first_rank, shared);
        }) == "");
}

TEST_CASE("the member whose operator fails is told why, whatever it throws") {
  Team team(MPI_COMM_SELF, 2);
  const Operation thrower = Operation::custom([](const void*, void*, std::size_t) { throw 17; },
                                              Commutativity::commutative);
  CHECK(in_every_thread(team, [&](Member& member) {
          int value = 1;
          const std::string error =
              error_of([&] { member.allreduce(&value, &value, 1, DataType::int32, thrower); });
          const bool is_told = error.find("no std::exception") != std::string::npos ||
                               error.find("the operator failed on rank") != std::string::npos;
          return is_told ? std::string() : "not told: " + error;
        }) == "");
}

}  // namespace failing_operator_mpi_test
}  // namespace hycoll::tests
