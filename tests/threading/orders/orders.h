#ifndef HYCOLL_TESTS_THREADING_ORDERS_ORDERS_H_
#define HYCOLL_TESTS_THREADING_ORDERS_ORDERS_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/threading/orders/memory_model.h"

/// A model checker: executes a small program of several threads in all ways that the memory model
/// of C++ allows on weakly ordered processors, and looks for data races, failed requirements and
/// threads that wait for ever.
///
/// The program is what it always is: std::atomic, fences and plain accesses, compiled with
/// -fsanitize=thread, whose calls this library answers in the place of ThreadSanitizer's runtime
/// (instrumentation.cc). Nothing else of the program knows, and its sources stay as they are. What
/// is compiled without that option is not seen. Mutexes, the start and the end of a thread, and the
/// kernel's futexes belong to the model; sleeps take no time. How std::atomic waits and notifies is
/// the C++ library's code, and executed.
///
/// Limits: no load buffering (a load never reads what a later store of its own thread leads to,
/// which no compiler and few processors do), compare_exchange_weak() does not fail spuriously, and
/// what the threads do must depend on nothing but what they read.
namespace hycoll::orders {

/// The threads of one execution, and what is to hold when all have ended.
struct Program {
  std::vector<std::function<void()>> threads;
  std::function<void()> afterwards = {};
};

/// Brings all memory into its first state, and says what the threads do. Called before each
/// execution. Memory that threads share should lie at the same addresses every time.
using Setup = std::function<Program()>;

/// In a program: what must hold in all executions.
void require(bool holds, const char* what);

/// In a program: waits until the attempt returns something that is true, and returns that. An
/// attempt that fails must do nothing that an attempt after it would not do as well.
void begin_attempt();
void end_attempt();
[[noreturn]] void fail_attempt();
template <class Attempt>
auto await(Attempt attempt) {
  begin_attempt();
  auto result = attempt();
  // Only the attempt that succeeds matters. Its reads are postponed until they can read what they
  // need; so one that fails is an execution that others cover, or a wait for ever.
  if (!result) fail_attempt();
  end_attempt();
  return result;
}

/// In a program: is the thread that another one starts, by std::thread. There is one at most.
void run_started_thread();

/// A place in the program where something atomic is done.
struct Site {
  const void* instruction = nullptr;
  const void* caller = nullptr;  ///< If the instruction is in the standard library.
  friend auto operator<=>(const Site&, const Site&) = default;
};

/// A place whose order is more than relaxed.
struct Ordered {
  Site site;
  Order order;
  std::string what;  ///< "FifoSlots::look_at: load, acquire".
};

/// One place is executed with another order than it asks for.
struct Weakening {
  Site site;
  Order order;
};

struct Options {
  std::optional<Weakening> weakening = {};
  /// Every step of every thread is a choice: many more executions, with the same outcomes.
  bool is_reduced = true;
  std::size_t most_executions = 2'000'000;
};

struct Failure {
  std::string what;
  std::vector<std::size_t> choices;  ///< For replay().
  std::string trace;                 ///< What each thread did, step by step.
};

struct Result {
  std::size_t executions = 0;  ///< That came to their end.
  std::size_t abandoned = 0;   ///< That others cover.
  std::optional<Failure> failure;
  std::vector<Ordered> sites;
};

/// All executions, up to the first failure.
Result explore(const Setup& setup, const Options& options = {});

/// The execution with these choices again.
Result replay(const Setup& setup, const std::vector<std::size_t>& choices,
              const Options& options = {});

/// Each order that is more than relaxed, weakened by one step, one at a time: those without which
/// the program fails, and those which it does not need. In words, sorted.
struct Weakened {
  std::vector<std::string> needed;
  std::vector<std::string> not_needed;
};
Weakened weaken_each(const Setup& setup);

}  // namespace hycoll::orders

#endif  // HYCOLL_TESTS_THREADING_ORDERS_ORDERS_H_
