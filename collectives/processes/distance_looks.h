#ifndef HYCOLL_COLLECTIVES_PROCESSES_DISTANCE_LOOKS_H_
#define HYCOLL_COLLECTIVES_PROCESSES_DISTANCE_LOOKS_H_

#include <cstdint>
#include <functional>
#include <utility>

#include "threading/memory/node_memory.h"

namespace hycoll {

/// How far the processes of a node are from one another may change while a program runs: a host
/// moves the cores of a virtual machine, a system its processes. What a process does by itself
/// follows that: how it stores what others read from its staging (NodeMemory::streams_staging).
///
/// A look takes two processes at the same time. So the node's first process says, a second or more
/// after the last look, before which run the next one is, so many runs ahead that all know it by
/// then; before the first blocking call from there on that all make alike, all look. Who is late
/// only makes the others look in vain, for a fifth of a millisecond.
///
/// One for each process. Used by one of its threads, before blocking calls that stage.
class DistanceLooks {
 public:
  /// The time of a handoff to another process, or 0.
  using Probe = std::function<double()>;

  /// `process`: this one's number on its node, whose first worker is `worker`.
  DistanceLooks(NodeMemory& memory, int process, int worker, Probe probe);

  /// Instead of that probe.
  void set_probe(Probe probe) { probe_ = std::move(probe); }

  /// `run` is the number of the call's first run, the same on all processes.
  void before(CallNumber run) {
    if (is_used_) make_ready();
    const CallNumber next = memory_.next_look();
    if (next > latest_ && run >= next) return look(next);
    if (is_first_ && next <= latest_ && ++calls_ % kCallsPerClock == 0) announce(run);
  }

 private:
  /// Reading the clock is not free.
  static constexpr std::uint32_t kCallsPerClock = 8;

  void make_ready();
  void look(CallNumber announced);
  void announce(CallNumber run);

  NodeMemory& memory_;
  bool is_first_;
  int worker_;
  Probe probe_;
  bool is_used_ = false;   // what the last look has left
  CallNumber latest_ = 0;  // as announced
  std::uint32_t calls_ = 0;
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_PROCESSES_DISTANCE_LOOKS_H_
