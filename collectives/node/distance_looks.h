#ifndef HYCOLL_COLLECTIVES_NODE_DISTANCE_LOOKS_H_
#define HYCOLL_COLLECTIVES_NODE_DISTANCE_LOOKS_H_

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "collectives/node/distance_agreement.h"
#include "threading/memory/handoff.h"
#include "threading/memory/node_memory.h"

namespace hycoll {

/// How far the parties of a node, processes or threads, are from one another may change while a
/// program runs: a host moves the cores of a virtual machine, a system its processes. All look
/// again from time to time, and all change their ways before the same run (DistanceAgreement).
///
/// A look takes two parties at the same time. So the first party calls for one, 50 ms or more after
/// the last one, and says before which run it is. When all have looked it says what they have seen,
/// and from which run on that holds. Whoever is late for a look only makes the others look in vain,
/// for a tenth of a millisecond.
///
/// One for each party, used by one thread at a time.
class DistanceLooks {
 public:
  /// The time of a handoff to another party in nanoseconds, or 0 if that is late.
  using Probe = std::function<double()>;
  /// Is told the longest such time, in whole nanoseconds: the same for all, before the same run.
  using Agreed = std::function<void(double handoff_ns)>;

  /// `workers`: the first one of each party, the same for all. With `is_known` the parties know
  /// their distance now; otherwise the first look is soon.
  DistanceLooks(NodeMemory& memory, std::span<const int> workers, int party, bool is_known,
                Probe probe, Agreed agreed);

  /// Instead of that probe.
  void set_probe(Probe probe) { probe_ = std::move(probe); }

  /// Instead of 50 ms; said to the first party.
  void set_interval(std::chrono::nanoseconds interval) { interval_ = interval; }

  /// Before calls that all parties make alike, in which they are members. `run` is the number of
  /// the next run. `leaving`, the same on all, says how it ends unless something changes here.
  void before(CallNumber run, Leaving leaving) {
    if (const auto notice = agreement_.due(board_, run)) return follow(*notice);
    if (is_first_) lead(run, leaving);
  }

 private:
  using Clock = std::chrono::steady_clock;

  /// For DistanceAgreement, in the node's memory.
  class Board {
   public:
    Board(NodeMemory& memory, std::span<const int> workers, int party)
        : memory_(memory),
          workers_(workers.begin(), workers.end()),
          own_worker_(workers[static_cast<std::size_t>(party)]) {}

    // Notices are released, and acquired, by the announcements of the runs between.
    DistanceNotice notice() const noexcept {
      return DistanceNotice::unpack(memory_.distance_notice().load(std::memory_order_relaxed));
    }
    void give(const DistanceNotice& notice) noexcept {
      memory_.distance_notice().store(notice.packed(), std::memory_order_relaxed);
    }
    void answer(const DistanceNotice& notice) noexcept {
      // Pairs with the acquiring load below.
      memory_.distance_answer(own_worker_).store(notice.packed(), std::memory_order_release);
    }
    DistanceNotice answer_of(int party) const noexcept {
      const int worker = workers_[static_cast<std::size_t>(party)];
      // Pairs with the releasing store above: the party does not use the ball any more.
      return DistanceNotice::unpack(
          memory_.distance_answer(worker).load(std::memory_order_acquire));
    }
    int party_count() const noexcept { return static_cast<int>(workers_.size()); }
    HandoffBall& own_ball() noexcept { return memory_.handoff_ball(own_worker_); }

   private:
    NodeMemory& memory_;
    std::vector<int> workers_;
    int own_worker_;
  };

  /// Reading the clock takes as long as half a short call; long calls are few.
  static constexpr std::uint32_t kMostCallsPerClock = 64;

  void follow(const DistanceNotice& notice);
  void lead(CallNumber run, Leaving leaving);
  bool is_time();
  void adapt_calls_per_clock(Clock::time_point now);

  Board board_;
  DistanceAgreement agreement_;
  bool is_first_;
  bool is_soon_;  // the first look
  Probe probe_;
  Agreed agreed_;
  std::chrono::nanoseconds interval_;
  std::uint32_t calls_ = 0;
  std::uint32_t calls_per_clock_ = 1;
  Clock::time_point clock_;  // when it was read last
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_NODE_DISTANCE_LOOKS_H_
