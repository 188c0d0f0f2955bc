#ifndef HYCOLL_TESTS_THREADING_ORDERS_EXECUTION_H_
#define HYCOLL_TESTS_THREADING_ORDERS_EXECUTION_H_

#include <array>
#include <chrono>
#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "tests/threading/orders/memory_model.h"
#include "tests/threading/orders/orders.h"

namespace hycoll::orders {

/// The choices of an execution, and from one to the next in depth-first order.
class Choices {
 public:
  Choices() = default;
  /// The first ones are given.
  explicit Choices(const std::vector<std::size_t>& taken) {
    for (const std::size_t choice : taken) made_.push_back({choice, choice + 1});
  }
  std::size_t choose(std::size_t count) {
    if (next_ == made_.size()) made_.push_back({0, count});
    return made_[next_++].taken;
  }
  /// Goes back to the last choice that had another possibility. Returns false if there is none.
  bool advance() {
    made_.resize(next_);
    next_ = 0;
    while (!made_.empty() && made_.back().taken + 1 >= made_.back().count) made_.pop_back();
    if (made_.empty()) return false;
    ++made_.back().taken;
    return true;
  }
  std::vector<std::size_t> taken() const {
    std::vector<std::size_t> taken;
    for (std::size_t c = 0; c < next_; ++c) taken.push_back(made_[c].taken);
    return taken;
  }

 private:
  struct Choice {
    std::size_t taken, count;
  };
  std::vector<Choice> made_;
  std::size_t next_ = 0;
};

/// What a thread is about to do. Operations that others' steps depend on, and that depend on
/// others' steps, wait for the scheduler.
struct Operation {
  enum class Kind : std::uint8_t { load, store, rmw, fence, futex_wait, futex_wake };
  Kind kind;
  const char* name;
  const std::string* place;  ///< For messages.
  std::size_t site_hash;     ///< Of the call stack.
  Order order;
  Order failure_order = Order::relaxed;  ///< Of a compare-and-exchange.
  Location* location = nullptr;
  std::uint64_t value = 0;  ///< To be stored; that a futex must have.
  /// Of a read-modify-write: what it writes over a value, if anything.
  std::function<std::optional<std::uint64_t>(std::uint64_t)> modify = {};
  bool waits = false;        ///< Until there is a value over which it writes something.
  std::uint64_t result = 0;  ///< What it has read.
};

/// What executions of one program have in common. Grows from one to the next.
struct Knowledge {
  bool is_assumed = false;  ///< Nothing is known: anybody may do anything.
  /// Which threads ever write to an atomic object, or try to, a bit each: nobody waits for others.
  std::unordered_map<std::uintptr_t, unsigned> writers;
  unsigned ordering_threads = 0;  ///< Those with sequentially consistent operations.
  bool has_grown = false;
  std::map<Site, Order> sites;
  std::map<Site, std::string> names;

  /// A thread is about to do this.
  void note(std::size_t thread, const Operation& operation, bool is_ordered);
};

/// What a std::thread runs: the virtual functions of libstdc++'s std::thread::_State, which is
/// private, in their order.
struct ThreadBody {
  virtual ~ThreadBody() = default;
  virtual void run() = 0;
};

/// One execution of a program. Its threads are coroutines on stacks of their own; all is done by
/// one thread of the system.
///
/// The executions that are left out are those which differ from others only in the order of
/// independent steps. Stores are executed at once: they may come before others in modification
/// order that are already there, and whoever has not yet read can still read older messages. Loads
/// are postponed: a thread either reads one of the messages that are there, or sleeps until there
/// is another one, which it then must read.
class Execution {
 public:
  enum class End : std::uint8_t { complete, abandoned, failed };

  Execution(const Setup& setup, const Options& options, Choices& choices, Knowledge& knowledge,
            bool is_traced);
  ~Execution();

  End run();
  const std::string& failure() const { return failure_; }
  const std::string& trace() const { return trace_; }
  /// Whose threads have ended, while that is checked.
  static Execution* checked() noexcept;

  // Called on the stacks of the threads.
  Location& location(const void* address, std::size_t size_bytes);
  std::uint64_t perform(Operation& operation);
  void plain_access(const void* address, std::size_t size_bytes, bool is_write,
                    const void* instruction);
  /// Memory that an allocator gives.
  void forget(const void* address, std::size_t size_bytes) {
    memory_->forget_accesses(reinterpret_cast<std::uintptr_t>(address), size_bytes);
    memory_->forget_objects(reinterpret_cast<std::uintptr_t>(address), size_bytes);
  }
  void enter_function(const void* caller) { running().callers.push_back(caller); }
  void leave_function() { running().callers.pop_back(); }
  /// Its order is as weak as the options say.
  Operation operation(Operation::Kind kind, const char* name, Order order, const void* instruction);
  /// A place in the program: this instruction, and who has called the function that it is in.
  Site site(const void* instruction);
  /// The innermost function that has a name, from this instruction on outwards.
  const std::string& place(const void* instruction) const;
  Order order_at(const Site& site, Order order, const char* name);
  /// The same for what libraries do: their orders are as they are.
  Operation library_operation(Operation::Kind kind, const char* name, Order order,
                              const void* instruction);
  void lock(std::uint32_t* mutex, const void* instruction);
  bool try_lock(std::uint32_t* mutex, const void* instruction);
  void unlock(std::uint32_t* mutex, const void* instruction);
  /// The one thread that a program may start while it runs.
  void start_thread(std::unique_ptr<ThreadBody> thread, const void* instruction);
  void run_started_thread(const void* instruction);
  void join_thread(const void* instruction);
  /// Time passes for each thread by its looks at the clock only.
  std::chrono::nanoseconds time() { return std::chrono::milliseconds(++running().clock_looks); }
  void require(bool holds, const char* what);
  void begin_attempt();
  void end_attempt();
  void fail_attempt();

 private:
  struct Seen {  // by reads at one site in a row, between writes
    std::uint64_t value;
    int message;
    int count;
  };
  struct Read {
    Location* location;
    int message;
  };
  enum class State : std::uint8_t { ready, waiting, failed_attempt, asleep_in_kernel, finished };
  struct Thread {
    State state = State::ready;
    std::jmp_buf context;
    bool has_started = false;
    std::vector<const void*> callers;
    std::array<void*, 2> exceptions{};  // those being handled, of the C++ runtime
    Operation* operation = nullptr;
    // If the thread has decided to read none of the messages that were there:
    bool is_postponed = false;
    std::size_t messages_then = 0;
    std::size_t ordered_then = 0;
    std::map<std::pair<std::size_t, std::uintptr_t>, Seen> seen;  // by call stack and address
    bool is_attempting = false;
    std::vector<Read> reads;  // in the current attempt
    int clock_looks = 0;
  };

  /// Only if it is to be told: to look names up takes time.
  const std::string& told_place(const void* instruction) const;
  Thread& running() { return threads_[running_]; }
  void resume(std::size_t thread);
  void suspend();
  static void run_thread();

  void wait_for(std::uint32_t* word, std::uint64_t before, std::uint64_t after, const char* name,
                const void* instruction);
  void set(std::uint32_t* word, std::uint64_t value, const char* name, const void* instruction);
  bool is_immediate(const Operation& operation) const;
  std::optional<int> repeated_look(const Operation& operation);
  bool is_locked_out(const Operation& operation) const;
  static bool is_ordered(const Operation& operation);
  /// The messages that a thread's operation may read now; one without meaning if it reads none.
  std::vector<int> choices_of(std::size_t thread) const;
  bool others_may_matter(std::size_t thread) const;
  bool is_hopeless(std::size_t thread) const;
  /// Whether others have written something newer than what the thread's last attempt has read.
  bool is_stale(std::size_t thread) const;
  void execute(std::size_t thread, Operation& operation, int message);
  void execute_store(std::size_t thread, Operation& operation);
  void execute_read(std::size_t thread, Operation& operation, int message);
  void check_access(std::size_t thread, const Operation& operation, bool is_write);
  void note_read(Thread& thread, const Operation& operation, int message, bool has_changed);
  void tell(std::size_t thread, const Operation& operation);
  void fail(const std::string& what);
  End end_without_candidates();

  const Options& options_;
  Choices& choices_;
  Knowledge& knowledge_;
  bool is_traced_;
  Program program_;
  std::optional<Memory> memory_;
  std::vector<Thread> threads_;
  std::size_t running_ = 0;
  std::size_t ordered_count_ = 0;
  std::size_t steps_ = 0;
  std::jmp_buf scheduler_;
  std::array<void*, 2> own_exceptions_{};
  std::unique_ptr<ThreadBody> started_;
  std::string failure_;
  std::string trace_;
};

/// The execution on one of whose stacks this is called, if it is to be told; null otherwise.
Execution* current() noexcept;

/// While one exists, what this thread does is the checker's own.
class Aside {
 public:
  Aside() noexcept;
  ~Aside();
  Aside(const Aside&) = delete;
  Aside& operator=(const Aside&) = delete;

 private:
  Execution* execution_;
};

}  // namespace hycoll::orders

#endif  // HYCOLL_TESTS_THREADING_ORDERS_EXECUTION_H_
