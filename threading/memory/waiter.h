#ifndef HYCOLL_THREADING_MEMORY_WAITER_H_
#define HYCOLL_THREADING_MEMORY_WAITER_H_

#include <chrono>
#include <cstdint>

#include "threading/memory/bell.h"

namespace hycoll {

/// Lets the processor know that this is a spinning loop.
inline void relax_processor() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  // Its `yield` does nothing on most processors; to refill the pipeline takes as long as a pause.
  asm volatile("isb" ::: "memory");
#endif
}

/// How patient a wait is. Values in loop turns; a turn is one look at what is waited for. The
/// default is for threads that do not know whose cores they run on.
struct WaitPolicy {
  std::uint32_t eager_turns =
      128;  ///< Looks at full speed: the expected case, well under a microsecond.
  std::uint32_t spin_turns =
      512;  ///< Then looks with a pause in between, before the slow path starts.
  /// What long waits do between looks. While they sleep, others can use the core, but whoever needs
  /// this thread waits until it looks: its messages are passed on later, and one-sided accesses to
  /// its memory are answered later.
  enum class Rest : std::uint8_t {
    seldom,  ///< They yield; very long ones sleep a hundredth of the time.
    naps,    ///< They sleep for some tens of microseconds.
    sleep,   ///< They sleep until they are woken, and look from time to time: SleepLength.
  } rest = Rest::naps;
  /// Of so many slow turns one drives the transport for everybody in the process.
  std::uint32_t turns_per_drive = 1;

  /// For workers that have cores of their own.
  static constexpr WaitPolicy own_core() noexcept {
    WaitPolicy policy;
    policy.rest = Rest::seldom;
    return policy;
  }
  /// For more workers than cores: whoever is waited for may need this core.
  static constexpr WaitPolicy oversubscribed() noexcept {
    return {.eager_turns = 2, .spin_turns = 4, .rest = Rest::naps};
  }
  /// This policy with another rest.
  constexpr WaitPolicy with_rest(Rest other) const noexcept {
    WaitPolicy policy = *this;
    policy.rest = other;
    return policy;
  }
  /// This policy for waits whose looks are known to be slow (Waiter::has_looked_slowly()): to give
  /// the core away between them costs little, and whoever is waited for may need it.
  constexpr WaitPolicy with_slow_looks() const noexcept {
    WaitPolicy policy = oversubscribed().with_rest(rest);
    policy.turns_per_drive = 16;
    return policy;
  }
};

/// For how long a thread sleeps between looks, so that these, with falling asleep and waking up,
/// take a fixed part of a core, whatever they take on this machine. Used by one thread.
class SleepLength {
 public:
  /// Who is woken looks for little else: less than 1 % of a core.
  static constexpr int kWoken = 128;
  /// Who is not notices the end of its wait after half of the time, on average: 2.5 %.
  static constexpr int kUnwoken = 40;

  /// The length of the next sleep: so many times what the thread has used since this was last
  /// asked, and from 150 us to 10 ms.
  std::chrono::nanoseconds next(int times) noexcept;

  void reset() noexcept { used_ = {}; }

 private:
  std::chrono::nanoseconds used_{};  // of the processor by this thread; 0: not known
};

/// The phases of one wait: spin, pause, and then, turn by turn, the slow path, where the owner
/// drives the transport, looks for failures and gives the core away. One object per wait, on the
/// stack.
class Waiter {
 public:
  explicit Waiter(const WaitPolicy& policy) noexcept : policy_(policy) {}
  ~Waiter() { stop_listening(); }
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  /// Spends one turn. Returns true when the caller should take its slow path in this turn.
  bool turn() noexcept {
    ++turns_;
    if (turns_ > policy_.spin_turns) return true;
    if (turns_ % kTurnsBetweenClocks == 0 && looks_slowly()) {
      turns_ = policy_.spin_turns;
      return true;
    }
    if (turns_ > policy_.eager_turns) relax_processor();
    return false;
  }

  /// Whether a slow turn should drive the transport for everybody, and not only for what this wait
  /// is for.
  bool drives_for_all() const noexcept { return turns_ % policy_.turns_per_drive == 0; }

  /// Gives the core to somebody else who can use it: for an instant; after a long wait, if the
  /// policy says so, for longer. To be called in slow turns, each followed by a look. `bell`: is
  /// rung after everything that the wait can end with, and outlives the wait; null: none is.
  void give_way(Bell* bell = nullptr) noexcept;

  /// Leaves the core to others for some tens of microseconds.
  static void nap() noexcept;

  /// The time since the first call of this function, looked at only in slow turns.
  std::chrono::steady_clock::duration slow_time() noexcept;

  /// Whether slow_time() has passed the interval, and then twice, four times, ... the interval:
  /// true once for each. Never if it is 0.
  bool has_passed(std::chrono::milliseconds interval) noexcept;

  /// Whether its looks were so slow at some time that they must have been calls of the system's.
  bool has_looked_slowly() const noexcept { return has_looked_slowly_; }

  /// The wait begins anew, for something else.
  void reset() noexcept {
    stop_listening();
    sleep_length_.reset();
    turns_ = 0;
    looking_since_ = {};
    slow_since_ = {};
    next_mark_ = {};
    next_nap_ = {};
  }

 private:
  static constexpr std::uint64_t kTurnsBetweenClocks = 32;

  /// Whether the looks so far have taken longer than all of a flag would: those at a network may be
  /// calls of the system's.
  bool looks_slowly() noexcept;
  void sleep_at(Bell* bell) noexcept;
  void stop_listening() noexcept {
    if (bell_ == nullptr) return;
    bell_->stop_listening();
    bell_ = nullptr;
  }

  WaitPolicy policy_;
  std::uint64_t turns_ = 0;
  bool has_looked_slowly_ = false;
  std::chrono::steady_clock::time_point looking_since_{};  // since the first look at the clock
  std::chrono::steady_clock::time_point slow_since_{};
  std::chrono::steady_clock::duration next_mark_{};  // of has_passed(); 0: the first one
  std::chrono::steady_clock::duration next_nap_{};   // at this slow time, if policy_ has none
  SleepLength sleep_length_;
  Bell* bell_ = nullptr;     // which this thread listens to
  std::uint32_t heard_ = 0;  // its rings, before the last look
};

}  // namespace hycoll

#endif  // HYCOLL_THREADING_MEMORY_WAITER_H_
