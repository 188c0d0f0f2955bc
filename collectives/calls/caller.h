#ifndef HYCOLL_COLLECTIVES_CALLS_CALLER_H_
#define HYCOLL_COLLECTIVES_CALLS_CALLER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "collectives/api/hycoll.h"
#include "collectives/calls/aggregators.h"
#include "collectives/calls/call_gate.h"
#include "collectives/calls/channels.h"
#include "collectives/elements/reduction.h"
#include "collectives/elements/vector_elements.h"
#include "collectives/plans/plan_cache.h"
#include "collectives/runs/call_runs.h"
#include "collectives/runs/driven_run.h"
#include "collectives/runs/pair_buffers.h"
#include "collectives/runs/prepared_call.h"
#include "collectives/runs/repeatable_call.h"
#include "collectives/runs/result_copies.h"
#include "core/base/collective_traits.h"
#include "threading/execution/deferred_run.h"
#include "threading/execution/executor.h"
#include "threading/execution/leader_pool.h"
#include "threading/execution/run_failure.h"
#include "threading/memory/node_memory.h"

namespace hycoll {

/// Who makes calls.
struct CallerIdentity {
  int rank = 0;  ///< Among the members.
  int member_count = 1;
  int slot = 0;              ///< The member's index on its node.
  WorkerRange workers = {};  ///< Of the process: those that execute the member's calls.
  Bits bits = Bits::same_on_all_members;
  Options::Overlaps overlaps = Options::Overlaps::refused;
  CallAnnouncer* announcer = nullptr;  ///< Member 0's, where there are aggregators.
  CallGate* gate = nullptr;            ///< The process's, where all processes are compared.
};

/// One member's way from a Call to executed programs: what both layouts share. Checks arguments,
/// looks up elements, reduction and plan, numbers the calls, copies where the user's buffers cannot
/// be used themselves, and after a call with a custom operator agrees with all members on whether
/// that has failed anywhere. Used by one thread at a time.
class Caller : public RunsOwner {
 public:
  Caller(PlanCache& plans, NodeMemory& memory, const CallerIdentity& identity)
      : plan_cache_(plans), plans_(plans, identity.workers), memory_(memory), identity_(identity) {}
  virtual ~Caller() = default;
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;

  /// Makes the call and returns when it has completed. Throws the Error that it meets.
  void run(const Call& call);

  /// Starts the call.
  std::unique_ptr<Request::State> start(const Call& call);

  /// Makes the call ready to be driven.
  std::unique_ptr<DrivenCall::State> drive(const Call& call);

  /// Sets up a call to be driven, and provides what its starts take.
  std::unique_ptr<DrivenCall::State> prepare_driven(const Call& call);

  /// Makes it ready to be driven.
  void start(DrivenCall::State& driven);

  /// Sets up a call: checks it, and makes its plan.
  std::unique_ptr<Persistent::State> prepare(const Call& call);

  /// Starts, or makes, a call that has been set up.
  void start(Persistent::State& persistent);
  void run(Persistent::State& persistent);

  /// What the call would use.
  SelectedPlan choice(const Call& call);

 protected:
  /// Executes a plan with the caller as a worker, after everything that is under way.
  virtual void execute(const Plan& plan, const CallArguments& arguments) = 0;
  /// The same with the arguments `like`, but with this number and these buffers: what every
  /// repeated call passes through. By execute() unless overridden.
  [[gnu::cold]] virtual void execute_like(const Plan& plan, const CallArguments& like,
                                          CallNumber call, const void* input, void* output);
  /// Starts to execute a plan in the background, after everything that is under way, and after
  /// `before` has returned. Throws what the system refuses; then nothing has been started.
  virtual std::shared_ptr<PoolJob> submit(const Plan& plan, const CallArguments& arguments,
                                          PoolJob::Before before) = 0;
  /// Starts to execute a plan that is not worth a thread of its own, to be finished by whoever asks
  /// for it; null if something is under way, or the plan is.
  virtual DeferredRun* defer(const Plan& plan, const CallArguments& arguments,
                             DeferredOutcome& outcome) = 0;
  /// What drives the runs of a call as their owner asks for it, whose first run begins with the
  /// first advance. Throws what the system refuses. By the threads of submit() unless overridden.
  virtual std::unique_ptr<DrivenRun> driver(CallRuns& runs);
  /// How many workers of this process take part in a plan.
  virtual int participants(const Plan& /*plan*/) const { return 1; }
  /// A worker's part of a plan, by the thread of the pool that has its number, or any thread of a
  /// member that is one worker.
  virtual void execute_part(int worker, const Plan& plan, const CallArguments& arguments) = 0;

  /// What works in the background.
  struct Background {
    LeaderPool& pool;
    DeferredRun& deferred;
    int first_worker;
  };
  virtual Background background() noexcept = 0;

  /// Whether no job is under way there.
  bool is_idle() const noexcept { return background_ == nullptr || background_->finished(); }
  /// Hands a job to its threads, after everything that is under way.
  std::shared_ptr<PoolJob> hand_in(std::shared_ptr<PoolJob> job, int thread_count);

  /// The threads that work on runs in the background.
  int thread_count(const CallRuns& runs) const;

  enum class Waiting { allowed, forbidden };
  /// Before a call has its number: provides what its plan needs and is not there yet, by calls of
  /// its own if it may wait. Throws on all members or on none; then the call has not been made.
  virtual void provide_for(const Plan& /*plan*/, Waiting /*waiting*/) {}
  /// The next call passes through provide_for(), whatever it is like.
  void forget_repeatable() noexcept { repeatable_ = {}; }

 private:
  enum class Blocking : bool { no, yes };
  friend struct Request::State;

  /// Checks a call and looks up what it needs; gives it no number.
  PreparedCall resolve(const Call& call);
  /// The same, as the next call, with its plan. What throws before the call has its number throws
  /// as if the member had not called.
  PreparedCall make_next(const Call& call, Waiting waiting);
  /// What `prepare()` makes, as the next call.
  template <class Prepare>
  auto as_next(const Prepare& prepare);
  bool is_repeatable(const Call& call, const PreparedCall& prepared);
  /// Makes a call that is like one that has been remembered.
  void repeat(const RepeatableCall& like, const Call& call);
  /// Makes a call that is one run.
  void run_whole(const Call& call);

  /// A call that is several runs; null for others. Gives it no number.
  std::unique_ptr<CallRuns> several_runs(const Call& call);
  /// One of more data than are packed at once; null for others. For the same call it is one on all
  /// members or on none.
  std::unique_ptr<CallRuns> long_call(const Call& call);
  std::unique_ptr<CallRuns> long_movement(const Call& call);
  std::unique_ptr<CallRuns> long_reduction(const Call& call);
  /// Any other, as one run, and the agreement after it.
  std::unique_ptr<CallRuns> single_call(const Call& call);
  /// Throws Error where calls are compared between all processes, for which a call must wait.
  void require_no_gate() const;
  /// Gives a driven call's runs their numbers, and what executes them.
  void enter_driven(DrivenCall::State& driven);
  /// provide_for() for all of them.
  void provide_for_all(const CallRuns& runs, Waiting waiting);
  /// Gives the runs their numbers, after that.
  void enter(CallRuns& runs, Waiting waiting);
  /// The same, if there are any.
  std::unique_ptr<CallRuns> entered(std::unique_ptr<CallRuns> runs, Waiting waiting) {
    if (runs != nullptr) enter(*runs, waiting);
    return runs;
  }
  /// Tells the aggregators of all of them.
  void announce(const CallRuns& runs);
  /// Makes the runs, which have their numbers, and returns when they have ended.
  void run(CallRuns& runs);
  /// The same in the background.
  std::shared_ptr<PoolJob> begin(CallRuns& runs, Blocking blocking);
  std::shared_ptr<PoolJob> job_of(CallRuns& runs, Blocking blocking);
  /// Gives the call its number, and shows it to the others where that is asked for.
  void enter(CallArguments& arguments, CallNumber number_count = 1);
  /// Waits until the others have been found to make the same call; throws if they do not.
  void pass_gate(CallNumber call);
  /// After a call that this member has shown to the others, but does not make.
  void leave_gate(CallNumber call);
  /// After the last call has got its number, but has not been started: it has not been made.
  void take_back(CallNumber call);
  PreparedCall resolve_reduction_call(const Call& call);
  /// Of data that are moved and not combined: bytes, of no type and without an operator.
  PreparedCall resolve_movement(const Call& call);
  /// Of an all-to-all of unequal blocks (unequal_pairs.cc).
  PreparedCall resolve_unequal_pairs(const Call& call);
  /// The plan of a call that has been resolved.
  void find_plan(PreparedCall& prepared);
  /// Of unequal pairs: one of the call's own.
  Telling telling_for(const PairBinding& binding) const;
  /// Before a call whose members are compared: whether all mean the same by their blocks, by calls
  /// of its own. Throws on all members or on none.
  void compare_pairs(UnequalPairs& pairs);
  PlanPointer plan_of_pairs(const Plan& found, PreparedCall& prepared);
  PlanQuery query_for(const Call& call, const Reduction& reduction) const;
  /// The query's block counts are valid until the next one.
  PlanQuery movement_query(const Call& call, const VectorElements& elements);
  CallSignature signature_of(const Call& call, const Reduction& reduction) const;
  void use_token(PreparedCall& prepared);
  /// Executes a plan; returns what that has ended with.
  std::optional<RunFailure> execute_announced(const Plan& plan, const CallArguments& arguments);
  /// Tells the aggregators of a call whose plan needs them, before it is executed; returns the
  /// plan.
  const Plan& announced(const Plan& plan, const CallArguments& arguments);
  void retract(CallNumber call) override;
  void begin(const Plan& plan, const CallArguments& arguments, Request::State& state);
  void begin(CallRuns& runs, Request::State& state);

  static PlanQuery unequal_pairs_query();
  static PlanQuery agreement_query();
  CallArguments agreement_into(std::uint64_t& mark) const override;
  void throw_if_operator_failed(std::uint64_t mark, CallNumber first,
                                CallNumber last) const override;

  PlanCache& plan_cache_;
  RecentPlans plans_;
  RecentReductions reductions_;
  RecentMovedElements moved_;
  RepeatableCalls repeatable_;
  // Of the last call with unequal pairs, for the next one:
  PlanPointer pairs_plan_;
  std::unique_ptr<PairBuffers> pair_buffers_;
  std::vector<std::size_t> block_bytes_;  // of the last query for data that are moved
  NodeMemory& memory_;
  CallerIdentity identity_;
  CallNumber call_ = 0;
  std::shared_ptr<PoolJob> background_;  ///< The last one handed in.
  /// What an empty call reduces, so that it synchronises like any other, and to what.
  std::uint64_t token_ = 0;
  std::uint64_t tokens_reduced_ = 0;
};

/// A nonblocking call under way: several runs, deferred, or a job of the pool.
struct Request::State {
  Caller* caller = nullptr;
  CallNumber call = 0;
  std::unique_ptr<CallRuns> own_runs;
  CallRuns* runs = nullptr;  ///< Those, a persistent call's, or null.
  PlanPointer plan;          ///< Of a call that is one run.
  DeferredRun* deferred = nullptr;
  DeferredOutcome outcome;
  std::shared_ptr<PoolJob> job;
  std::shared_ptr<const ForeignReducer> foreign_owner;
  std::unique_ptr<ResultCopies> work;
  std::optional<Error> error;
  bool is_complete = false;

  bool test();
  /// Returns when the call has completed.
  void finish();

 private:
  /// After the end: delivers results, keeps the error.
  void complete();
  void deliver();
};

/// A call with lists of its own, for later.
class KeptCall {
 public:
  explicit KeptCall(const Call& call);
  KeptCall(const KeptCall&) = delete;
  KeptCall& operator=(const KeptCall&) = delete;

  const Call& call() const noexcept { return call_; }

 private:
  Call call_;
  std::vector<std::size_t> block_counts_;
  std::vector<std::ptrdiff_t> displacements_;
  std::vector<std::size_t> received_counts_;
  std::vector<std::ptrdiff_t> received_displacements_;
  std::vector<ElementType> block_types_;
  std::vector<ElementType> received_types_;
};

/// A call that its owner drives.
struct DrivenCall::State {
  ChannelUse channel;  ///< Of the starts, if they have one; ends after all else.
  Caller* caller = nullptr;
  std::optional<KeptCall> kept;  ///< To be started; the runs refer to its lists.
  std::unique_ptr<CallRuns> runs;
  std::unique_ptr<DrivenRun> driver;
  Waiter waiter{WaitPolicy{}};  ///< Since the start, or the last progress.
  bool is_complete = false;
};

struct Persistent::State {
  explicit State(const Call& call) : kept(call) {}

  Caller* caller = nullptr;
  KeptCall kept;
  /// The plan and the arguments of every start, for calls that need nothing else: no buffers of
  /// their own, and no agreement. Null for others, which are started like any call.
  PlanPointer plan = {};
  CallArguments arguments;
  std::shared_ptr<const ForeignReducer> foreign_owner;
  std::unique_ptr<CallRuns> runs;  ///< Of every start of a long call; null for others.
  std::unique_ptr<Request::State> request;
  bool is_active = false;
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_CALLS_CALLER_H_
