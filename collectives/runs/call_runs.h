#ifndef HYCOLL_COLLECTIVES_RUNS_CALL_RUNS_H_
#define HYCOLL_COLLECTIVES_RUNS_CALL_RUNS_H_

#include <barrier>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "collectives/plans/plan_cache.h"
#include "threading/execution/executor.h"
#include "threading/execution/run_failure.h"

namespace hycoll {

/// The member that makes a call, as the call's runs know it.
class RunsOwner {
 public:
  /// The run by which members agree, after those with a custom operator, but for its number; the
  /// mark of a failure ends up in `mark`.
  virtual CallArguments agreement_into(std::uint64_t& mark) const = 0;
  /// Throws Error (user_operator) if the mark tells of one of these calls.
  virtual void throw_if_operator_failed(std::uint64_t mark, CallNumber first,
                                        CallNumber last) const = 0;
  /// Tells who works for the members that those of this process do not make the call, or do not
  /// agree about it.
  virtual void retract(CallNumber call) = 0;

 protected:
  ~RunsOwner() = default;
};

/// One run of a call.
struct CallRun {
  const Plan* plan = nullptr;
  CallArguments arguments = {};
};

/// A call as the runs that it is made of, one after another: parts of its data, and at the end,
/// after an operator that may fail, the run by which the members agree on whether it has. Whoever
/// executes them asks for the next run when the last one has ended on all of its workers.
/// Everything that the runs take is there before the first one; so nothing is refused in between.
///
/// If a run fails, those that follow fail with it (decision 27).
class CallRuns {
 public:
  using Before = std::function<void()>;

  virtual ~CallRuns() = default;
  CallRuns(const CallRuns&) = delete;
  CallRuns& operator=(const CallRuns&) = delete;

  /// What members compare before the first run, where all processes do (CallGate).
  const PackedSignature& signature() const noexcept { return signature_; }

  /// The numbers of calls that the runs take, of which some may stay unused.
  CallNumber number_count() const noexcept { return part_count() + (is_custom() ? 1 : 0); }

  /// From the first run on, with numbers from `first` on; `before` is called before the first one,
  /// and what it throws is a failure. May be called again after the end.
  void start(CallNumber first, Before before);

  /// The next run, whose data are in place; null after the end. What the last one has yielded is
  /// taken. Valid until the next call.
  const CallRun* next() noexcept;

  /// Something that a run has met. By any of its workers.
  void note(const RunFailure& failure) noexcept;

  /// What the runs before the end have met.
  const std::optional<RunFailure>& failure() const noexcept { return failure_; }

  /// After the end: hands over what is left of the results, if there are any; throws what the call
  /// has met.
  void finish();

  /// The run of this index, without its data, as far as that is known already: the members may
  /// decide between runs what they make of some numbers.
  CallRun outline(std::size_t index) const;

  /// The plans that the runs may be made by.
  std::vector<const Plan*> plans() const;

  CallNumber first_number() const noexcept { return first_; }

 protected:
  /// `agreement` is the plan by which members agree after operators that may fail; null for others.
  CallRuns(RunsOwner& owner, const PackedSignature& signature, const Plan* agreement) noexcept
      : owner_(owner), signature_(signature), agreement_(agreement) {}

  /// At least 1.
  virtual std::size_t part_count() const noexcept = 0;
  /// The plans that parts may be made by.
  virtual std::vector<const Plan*> plans_of_parts() const = 0;
  /// A part's plan and arguments, but for its number.
  virtual CallRun part(std::size_t index) const noexcept = 0;
  /// Puts a part's data in place, before its run.
  virtual void load(std::size_t /*index*/) noexcept {}
  /// Takes its result, after it.
  virtual void unload(std::size_t /*index*/) noexcept {}
  /// The part that follows; part_count(): none.
  virtual std::size_t after(std::size_t index) const noexcept { return index + 1; }
  /// After all runs, if they have results.
  virtual void deliver() {}

 private:
  bool is_custom() const noexcept { return agreement_ != nullptr; }

  RunsOwner& owner_;
  PackedSignature signature_;
  PlanPointer agreement_;
  CallNumber first_ = 0;
  Before before_;
  bool has_begun_ = false;
  std::size_t index_ = 0;  // of the current run
  CallRun run_;
  mutable std::uint64_t failure_mark_ = 0;  // what the agreement yields
  std::mutex mutex_;                        // of note()
  std::optional<RunFailure> failure_;
};

/// Runs that several threads execute together, a worker each.
class JointRuns {
 public:
  /// The runs outlive this object.
  JointRuns(CallRuns& runs, int thread_count) : runs_(runs), barrier_(thread_count, Next{this}) {}

  /// A thread's part of all runs, `execute(run)` of each. Called once by each of the threads.
  template <class Execute>
  void take_part(const Execute& execute) {
    for (;;) {
      barrier_.arrive_and_wait();
      if (current_ == nullptr) return;
      try {
        execute(*current_);
      } catch (const std::exception&) {
        runs_.note(handled_failure());
      }
    }
  }

 private:
  struct Next {
    JointRuns* joint;
    void operator()() noexcept { joint->current_ = joint->runs_.next(); }
  };

  CallRuns& runs_;
  const CallRun* current_ = nullptr;
  std::barrier<Next> barrier_;
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_RUNS_CALL_RUNS_H_
