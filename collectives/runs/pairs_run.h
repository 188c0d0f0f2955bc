#ifndef HYCOLL_COLLECTIVES_RUNS_PAIRS_RUN_H_
#define HYCOLL_COLLECTIVES_RUNS_PAIRS_RUN_H_

#include <cstddef>
#include <exception>
#include <optional>
#include <utility>

#include "collectives/plans/unequal_pairs.h"
#include "collectives/runs/driven_run.h"
#include "collectives/runs/run_arguments.h"
#include "threading/execution/executor.h"
#include "threading/execution/run_failure.h"
#include "threading/memory/node_memory.h"
#include "threading/transport/endpoint.h"

namespace hycoll {

/// The runs of an all-to-all of unequal blocks, by one worker: in the first one the node's members
/// tell one another of their blocks, in the others these pass, in slices where they are staged.
/// `NextRun` gives the number of a run.
///
/// What a member has told stays as it is as long as anybody reads it: threads read it where it is,
/// before they enter the run that moves blocks, which nobody leaves whose buffers another one
/// touches there before that one has entered it. Processes read it in staging, whose next use is
/// two runs later.
template <class NextRun>
class PairsRun final : public ExecutorRun {
 public:
  PairsRun(WorkerExecutor& executor, NodeMemory& memory, UnequalPairs& pairs,
           const CallArguments& arguments, NextRun next_run)
      : ExecutorRun(executor),
        memory_(memory),
        pairs_(pairs),
        arguments_(arguments),
        next_run_(std::move(next_run)),
        is_far_(memory.is_far()) {}

  bool start_next() override {
    if (!has_met_) {
      has_met_ = true;
      start(pairs_.meet(), true);
      return true;
    }
    if (next_ == 0 && (has_failed() || take_what_is_told())) return false;
    if (next_ == 0) learn();
    if (next_ == run_count_) return false;
    start(pairs_.bind(next_).front(), next_ + 1 < run_count_);
    if (trouble_) executor().fail(*trouble_);
    ++next_;
    return true;
  }

 private:
  void start(const Program& program, bool is_followed) {
    CallArguments run = as_run(arguments_, next_run_());
    run.is_agreed_on = arguments_.is_agreed_on || is_followed;
    last_run_ = run.call;
    executor().start(program, run);
  }

  /// Whether all members have told their data, too: then the call is over. All find it alike.
  bool take_what_is_told() {
    if (!pairs_.may_tell_data()) return false;
    for (int slot = 0; slot < pairs_.member_count(); ++slot) {
      if (row_of(slot).data() == ToldData::nowhere) return false;
    }
    for (int from = 0; from < pairs_.member_count(); ++from) {
      if (const auto mismatch = pairs_.take(from, row_of(from), staging_of(from))) {
        note(RunFailure(*mismatch, RunFailure::Scope::run));
      }
    }
    return true;
  }

  void learn() {
    try {
      pairs_.learn([&](int slot) { return told_by(slot); }, is_far_);
      trouble_ = pairs_.mismatch();
    } catch (const std::exception&) {
      trouble_ = handled_failure();
    }
    run_count_ = pairs_.run_count();
    if (pairs_.is_single_node()) return;
    // Another node may have longer blocks: what follows has the same tags on all of them.
    const std::size_t further = run_count_ - 1;
    run_count_ += (kTagEpochs - further % kTagEpochs) % kTagEpochs;
  }

  ToldRow row_of(int slot) const {
    return ToldRow(
        memory_.lines(NodeMemory::Section::rest, slot, TellingMeeting::kLinesBuffer, last_run_));
  }
  const std::byte* staging_of(int slot) const { return memory_.staging(slot, last_run_, 0); }
  ToldBlocks told_by(int slot) const {
    const std::byte* const told =
        pairs_.is_told_in_staging()
            ? staging_of(slot)
            : memory_.resolve(slot, memory_.post(slot).input.load(std::memory_order_relaxed));
    return {told, pairs_.member_count()};
  }

  NodeMemory& memory_;
  UnequalPairs& pairs_;
  CallArguments arguments_;
  NextRun next_run_;
  bool is_far_;  // on all members, in the first run
  bool has_met_ = false;
  CallNumber last_run_ = 0;
  std::size_t next_ = 0;
  std::size_t run_count_ = 1;
  std::optional<Error> trouble_;
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_RUNS_PAIRS_RUN_H_
