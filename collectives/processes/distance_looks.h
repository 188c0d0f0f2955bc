#ifndef HYCOLL_COLLECTIVES_PROCESSES_DISTANCE_LOOKS_H_
#define HYCOLL_COLLECTIVES_PROCESSES_DISTANCE_LOOKS_H_

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "threading/memory/node_memory.h"

namespace hycoll {

/// How far the parties of a node, processes or threads, are from one another may change while a
/// program runs: a host moves the cores of a virtual machine, a system its processes. All look
/// again from time to time, and all change their ways before the same run.
///
/// A look takes two parties at the same time. So the first party says, 50 ms or more after the last
/// look, before which run the next one is, so many runs ahead that all know it by then. Later, when
/// it knows what all have seen, it says what holds, and from which run on. Whoever is late for a
/// look only makes the others look in vain, for a tenth of a millisecond.
///
/// One for each party, used by one thread at a time.
class DistanceLooks {
 public:
  /// The time of a handoff to another party in nanoseconds, or 0 if that is late.
  using Probe = std::function<double()>;
  /// Is told the longest such time: the same for all, before the same run.
  using Agreed = std::function<void(double handoff_ns)>;

  /// `workers`: the first one of each party, the same for all. With `is_known` the parties know
  /// their distance now; otherwise the first look is soon.
  DistanceLooks(NodeMemory& memory, std::span<const int> workers, int party, bool is_known,
                Probe probe, Agreed agreed);

  /// Instead of that probe.
  void set_probe(Probe probe) { probe_ = std::move(probe); }

  /// Before calls that all parties make alike, in which they are members. `run` is the number of
  /// the next run, and `leaving` how it ends: the same on all.
  void before(CallNumber run, Leaving leaving) {
    if (is_used_) make_ready();
    const AgreedHandoff agreed = memory_.agreed_handoff();
    if (agreed.first_run > changed_ && run >= agreed.first_run) {
      change(agreed);
      leaving = Leaving::ahead;  // perhaps: the run may be another one now
    }
    const CallNumber next = memory_.next_look();
    if (next > latest_ && run >= next) return look(next, known_before(run, leaving));
    if (is_first_ && next <= latest_) lead(run, leaving);
  }

 private:
  /// Reading the clock takes as long as half a short call; long calls are few.
  static constexpr std::uint32_t kMostCallsPerClock = 64;

  /// The run before which all know what a party has written before run `run`.
  static CallNumber known_before(CallNumber run, Leaving leaving) noexcept;

  void make_ready();
  void change(const AgreedHandoff& agreed);
  void look(CallNumber announced, CallNumber all_have_seen);
  void lead(CallNumber run, Leaving leaving);
  void decide(CallNumber first_run);
  void announce(CallNumber first_run);
  void adapt_calls_per_clock(std::int64_t now);

  NodeMemory& memory_;
  std::vector<int> workers_;
  int worker_;
  bool is_first_;
  bool is_soon_;  // the first look
  Probe probe_;
  Agreed agreed_;
  bool is_used_ = false;    // what the last look has left
  CallNumber latest_ = 0;   // of the looks, as announced
  CallNumber changed_ = 0;  // from which run on
  CallNumber seen_ = 0;     // of the first party: from here on it knows what all have seen; 0: told
  std::uint32_t calls_ = 0;
  std::uint32_t calls_per_clock_ = 1;
  std::int64_t clock_ = 0;  // when it was read last
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_PROCESSES_DISTANCE_LOOKS_H_
