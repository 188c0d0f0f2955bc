#ifndef HYCOLL_THREADING_EXECUTION_EXECUTOR_H_
#define HYCOLL_THREADING_EXECUTION_EXECUTOR_H_

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/types.h"
#include "core/kernels/reducer.h"
#include "numa/placement/memory.h"
#include "threading/execution/remote_steps.h"
#include "threading/execution/run_failure.h"
#include "threading/execution/task_kernels.h"
#include "threading/memory/broadcast_fifo.h"
#include "threading/memory/node_memory.h"
#include "threading/memory/separate.h"
#include "threading/memory/waiter.h"
#include "threading/observing/observers.h"
#include "threading/program/program.h"
#include "threading/recording/call_records.h"
#include "threading/transport/endpoint.h"

namespace hycoll {

/// What a worker knows about one call.
struct CallArguments {
  CallNumber call = 0;
  /// What the member knows the call by, if it is executed as several runs of which this is one, or
  /// as one with another number: `call` is the run's then. 0: the same.
  CallNumber member_call = 0;
  const void* input = nullptr;  ///< Of the worker's member; unused by workers without one.
  void* output = nullptr;
  DataType type = DataType::float64;  ///< For native exchanges.
  Operator op = Operator::sum;        ///< The same.
  Reducer reducer;
  PackedSignature signature;
  /// The member waits for the call at once. All members do, or none: MPI matches no blocking
  /// operation with one that does not block.
  bool is_blocking = false;
  /// Whether somebody waits for the call; null if so from the start. While nobody does, long waits
  /// leave the core to the computation that the call is to overlap with.
  const std::atomic<bool>* hurried = nullptr;
  /// A further run of the same call, or a call by which members agree on this one's success,
  /// follows at once: it must not be left out because of the failure of an earlier call.
  bool is_agreed_on = false;
  /// What an earlier run of the same call has failed with: then this one fails with it. Read by
  /// WorkerExecutor::start() only.
  const Error* failure = nullptr;
  /// Calls of the same form, unless that is 0, differ by nothing but their numbers and buffers. No
  /// two callers of a process use the same forms.
  std::uint64_t form = 0;
};

/// Whether members may leave calls that others of their node have not entered yet, where nobody
/// needs them any more.
enum class RunningAhead : std::uint8_t { forbidden, allowed };

/// Who is told what a worker does, and by which numbers.
struct Observation {
  const Observers* by = nullptr;  ///< Null: nobody is.
  std::uint64_t worker = 0;
  std::uint64_t communicator = 0;
};

/// What stays the same from call to call.
struct ExecutorOptions {
  WaitPolicy wait_policy;
  const Topology* topology = nullptr;  ///< Of this machine; must outlive the executor.
  /// Where the worker's scratch is to lie if the thread that executes it runs outside the topology.
  int numa_domain = 0;
  int first_rank = 0;  ///< The number of the node's first member, for messages.
  /// How users number a member; null: the same.
  std::function<int(int member)> user_rank_of = nullptr;
  int member_count = 1;  ///< Members of the node: the owners of its first workers.
                         ///< An aggregator has none.
  /// The same for all workers of a node. Requires, if allowed, that calls are numbered without
  /// gaps.
  RunningAhead running_ahead = RunningAhead::forbidden;
  /// How long a wait is before it is told, to be told again after twice, four times, ... as long.
  /// 0: never.
  std::chrono::milliseconds warn_after{0};
  /// Called with a message that says who is missing, by one worker of the node. The wait goes on.
  std::function<void(const std::string&)> on_long_wait = {};
  std::chrono::milliseconds timeout{0};  ///< 0: wait for ever.
  /// Called by the first worker whose wait exceeds the timeout, with a message that says who is
  /// missing. If it returns, the wait goes on.
  std::function<void(const std::string&)> on_timeout;
  /// Called in slow turns of blocking calls: goes on with what others may wait for. Null: nothing.
  std::function<void()> while_waiting = nullptr;
  /// Names a process of the node that has ended before its time; "" if there is none. Looked at in
  /// slow turns. Null: nobody looks.
  std::function<std::string()> ended_process = {};
  /// Called by a worker that has found one, or has met PeerEnded, with a message that says which,
  /// and in which call. If it returns, the wait goes on, or the call fails.
  std::function<void(const std::string&)> on_ended_process = {};
  /// Tells the calls of those who take turns at the node's memory apart, so that different ones of
  /// them do not match. The same for all workers of a node.
  std::uint32_t salt = 0;
  Observation observation = {};
  /// Of the worker's member, which shows its calls to others in it. Null: it does not.
  std::shared_ptr<MemberRecord> record = nullptr;
  /// Says what the member of a worker of the node does instead of coming; "" if that is not known.
  /// For messages about long waits. Null: nobody knows.
  std::function<std::string(int worker)> whereabouts = {};
};

/// What an executor works with, where several take turns at a worker.
struct ExecutorContext {
  std::vector<Endpoint*> endpoints;
  ExecutorOptions options;
};

/// Executes the programs of one worker of a node: a state machine that never blocks in advance().
/// Blocking, nonblocking and persistent calls, and the random driver of the tests, are ways to
/// drive it. Used by one thread at a time.
class WorkerExecutor {
 public:
  enum class Progress { blocked, advanced, finished };

  /// `endpoints[lane]` is driven by this worker where its programs say so; null for lanes that they
  /// never use. `tasks` may be null: then large steps are not split.
  WorkerExecutor(NodeMemory& memory, int worker, std::vector<Endpoint*> endpoints,
                 const TaskKernels* tasks, ExecutorOptions options);
  ~WorkerExecutor();
  WorkerExecutor(const WorkerExecutor&) = delete;
  WorkerExecutor& operator=(const WorkerExecutor&) = delete;

  /// Takes this context, and leaves the one that it had in its place. Between runs, whose programs
  /// need not exist any more. All workers of the node do so between the same runs, and the number
  /// of members is the same.
  void exchange(ExecutorContext& context) noexcept;

  /// Enters a call: announces this worker to its node. The program must outlive the run, and stay
  /// as it is. What the
  /// run cannot get is its failure, which advance() throws.
  void start(const Program& program, const CallArguments& arguments);

  /// The same as the run with this number, for callers whose runs have numbers of their own.
  void start(const Program& program, const CallArguments& arguments, CallNumber run);

  /// The same as start(program, `like` with this number and these buffers, run), for calls that
  /// are often like the one before: by CallArguments::form that is known without a look at the
  /// rest.
  void start_like(const Program& program, const CallArguments& like, CallNumber call,
                  CallNumber run, const void* input, void* output);

  /// Issues what can be issued now, at most `step_limit` steps. Throws as a RunFailure what this or
  /// another worker of the node has met in this call; the run is over then, and nobody uses its
  /// buffers any more. A member that has run ahead of a call that then failed throws its failure at
  /// the end of a later one, whose results are right nevertheless.
  Progress advance(int step_limit = INT32_MAX);

  /// Issues what can be issued without looking at others' memory or at the transport. For whoever
  /// comes back later.
  Progress advance_blindly();

  /// advance() until finished, waiting as the policy says.
  void finish();

  /// start(), then finish().
  void run(const Program& program, const CallArguments& arguments);
  void run(const Program& program, const CallArguments& arguments, CallNumber run);

  /// start_like(), then finish().
  void run_like(const Program& program, const CallArguments& like, CallNumber call, CallNumber run,
                const void* input, void* output) {
    start_like(program, like, call, run, input, output);
    finish();
  }

  /// The run that has been started fails, here and for the others, unless it has failed already.
  /// advance() throws.
  void fail(const Error& error) noexcept;

  /// Gives up a run that others do not make, of a worker without a member: nothing is received any
  /// more, and what is being sent is kept.
  void abandon();

  /// One slow turn of somebody who waits for this worker's run: looks for trouble, drives the
  /// transport, gives the core away.
  void slow_turn(Waiter& waiter);

  /// Lets the transport progress, for everybody in the process.
  void drive_transport();

  /// Looks for failures of others in this run, for mismatches, and for members that are missing
  /// since the waiter's first slow turn. What it finds is thrown by advance().
  void look_for_trouble(Waiter& waiter);

  /// What the worker's schedules keep for themselves, such as what a leader gathers to send it, and
  /// receives to hand it on: as much as the largest one so far has needed.
  std::span<const std::byte> scratch() const noexcept { return scratch_.bytes(); }

  /// What the run is waiting for, in words. Only when advance() has returned Progress::blocked.
  std::string describe_wait() const;

 private:
  /// Written in every call; the programs that others read meanwhile must not share its lines.
  struct alignas(kSeparationBytes) StrandState {
    std::size_t next = 0;
    int lines_sources_read = 0;  // of the current step's sources in lines, those that have arrived
    std::size_t lines_read = 0;  // of the next one, the lines that have, from its first on
    std::size_t streamed_bytes = 0;  // of the current step, those that went through the FIFO
    int first_pending = 0;           // requests below have completed
    SeparateVector<EndpointRequest> requests;
    SeparateVector<Endpoint*> pending;  // where each request is under way; null: nowhere
  };
  /// Of several workers; apart from what other executors write.
  static constexpr std::size_t kSeenTogether = kSeparationBytes / sizeof(CallNumber);
  struct alignas(kSeparationBytes) SeenCalls {
    std::array<CallNumber, kSeenTogether> calls{};
  };
  enum class Looking { allowed, forbidden };
  /// Waits for messages after one whose looks were slow that are taken to look slowly, too.
  static constexpr int kImpatientWaits = 63;

  /// A source, or the part of one, that lies in lines.
  struct LinesPart {
    const Line* lines;
    std::size_t line_count;
    std::size_t begin_bytes;  ///< In the first line's payload.

    bool is_one_line() const noexcept { return line_count == 1; }
  };

  [[gnu::cold]] void start_unlike(const Program& program, const CallArguments& like,
                                  CallNumber call, CallNumber run, const void* input, void* output);
  /// Shows the others that this worker has entered the run.
  void announce(const Program& program);
  /// Acquires what a run of the program needs.
  void take_up(const Program& program);
  void begin_strands(const Program& program);
  /// Wakes who sleeps until this worker has written something.
  void wake_sleepers() noexcept {
    if (options_.wait_policy.rest == WaitPolicy::Rest::sleep) [[unlikely]]
      memory_.bell().ring();
  }
  /// For everybody in the process.
  void drive_for_all();
  /// Lets the run's own messages progress, but for those that have just been looked at.
  void advance_messages();
  /// Whether the transport has something of this run to do. Used between issuing steps.
  bool has_pending_messages() const noexcept;
  /// Waits for the end of a run that has not finished at the first look.
  [[gnu::noinline]] void wait_for_end();
  enum class Observed : bool { no, yes };
  template <Observed observed>
  Progress advance_strands(int step_limit);
  template <Observed observed>
  bool issue(StrandState& state, const Instruction& instruction);
  bool try_issue(StrandState& state, const Instruction& instruction);
  /// One of those that short calls do without.
  bool try_issue_other(StrandState& state, const Instruction& instruction);
  bool dependencies_completed(StrandState& state, const Instruction& instruction);
  bool all_completed(StrandState& state);
  bool completed(StrandState& state, int request);

  void issue_message(StrandState& state, const Instruction& instruction);
  void issue_write_lines(const Instruction& instruction);
  void issue_reduce(const Instruction& instruction);
  void issue_copy(const Instruction& instruction);
  /// With several members' blocks one after the other (Instruction::row_count).
  void copy_row(const Instruction& instruction);
  void copy(std::span<void* const> destinations, const std::byte* source, std::size_t size_bytes,
            const Instruction& instruction);
  /// A reduce or copy with operands in other processes' own memory.
  void issue_remote(const Instruction& instruction);
  bool is_remote(const Instruction& instruction) const;
  bool is_remote(const Operand& operand) const;
  OperandPlace place_of(const Operand& operand) const;
  /// Combines; an operator that throws is recorded.
  void combine(std::span<void* const> destinations, std::span<const void* const> sources,
               const Instruction& instruction, std::size_t count);
  Stores stores_of(const Instruction& instruction) const noexcept {
    return instruction.streams_if_far && memory_.is_far() ? Stores::streaming : instruction.stores;
  }
  bool write_stream(StrandState& state, const Instruction& instruction);
  bool read_stream(StrandState& state, const Instruction& instruction);
  std::optional<FifoMessage> next_message();
  bool lines_arrived(StrandState& state, const Instruction& instruction);
  /// Whether a source in lines can be read, and its data lie where arrived_source() says.
  bool part_arrived(StrandState& state, const Instruction& instruction, const LinesPart& part,
                    int lines_source);
  /// Unpacks lines from `first_line` on as far as they have arrived; returns the first one that has
  /// not.
  std::size_t read_lines(const Line* lines, std::size_t first_line, std::byte* destination,
                         std::size_t size_bytes) const;
  bool post_arrived(int worker);
  bool post_followed(int worker);
  /// The last call that a postponable wait has seen in a worker's post.
  CallNumber& call_seen(int worker) {
    const auto w = static_cast<std::size_t>(worker);
    return calls_seen_[w / kSeenTogether].calls[w % kSeenTogether];
  }
  bool may_run_ahead(CallNumber next, const PackedSignature& signature) const noexcept;
  /// Whether members may run ahead in `next` if it is like the last run, for all that the last one
  /// has ended with.
  bool follows_success(CallNumber next) const noexcept {
    const CallNumber last = arguments_.call;
    return next == last + 1 && options_.running_ahead == RunningAhead::allowed &&
           failed_calls_[last % kCallSets] != last;
  }
  /// Whether all others have left the runs before the last one.
  bool others_have_caught_up();
  bool some_failed() const { return memory_.last_failed_call() != last_failure_seen_; }
  /// At the end of a run, whose signals may be those of the next call of somebody who has failed:
  /// throws if the run has failed.
  void look_for_failures();
  void find_missed_failure(CallNumber last_left) noexcept;
  void throw_missed_failure();
  /// Of a run that has failed: throws, unless somebody may still use its buffers, or has not
  /// entered it.
  Progress end_failed();
  /// Other nodes do not wait for messages of this worker, nor for it to receive theirs: what it has
  /// not sent is replaced by failures, and what it has not received is discarded. Where members of
  /// the node disagree, other nodes may expect other messages; then nothing is sent or received.
  void give_up_messages() noexcept;
  void give_up(StrandState& state, const Instruction& instruction);
  void stand_in_for(const Instruction& instruction);
  /// Whether the transport uses no memory of the run any more.
  bool messages_have_ended() noexcept;
  Endpoint& endpoint_of(const Instruction& instruction) const {
    return *endpoints_[static_cast<std::size_t>(instruction.lane)];
  }
  int tag_of(const Instruction& instruction) const {
    return instruction.tag +
           static_cast<int>(arguments_.call % kTagEpochs) * endpoint_of(instruction).tag_count();
  }

  std::byte* address(const Operand& operand) const {
    if (operand.index == worker_ && operand.role == BufferRole::input) {
      return own_input() + operand.offset_bytes;
    }
    if (operand.index == worker_ && operand.role == BufferRole::output) {
      return static_cast<std::byte*>(arguments_.output) + operand.offset_bytes;
    }
    return address_elsewhere(operand);
  }
  std::byte* address_elsewhere(const Operand& operand) const;
  /// Inputs are only read; the pointer type is shared with the other roles.
  std::byte* own_input() const {
    return const_cast<std::byte*>(static_cast<const std::byte*>(arguments_.input));
  }
  std::byte* member_input(int member) const;
  std::byte* member_output(int member) const;
  LinesPart lines_part(const Instruction& instruction, const Operand& operand) const {
    const Line* const lines =
        memory_.lines(program_->memory, operand.index, operand.lines_buffer, arguments_.call);
    const std::size_t end_bytes = operand.offset_bytes + instruction.size_bytes;
    if (end_bytes <= Line::kPayloadBytes) return {lines, 1, operand.offset_bytes};
    const std::size_t first_line = operand.offset_bytes / Line::kPayloadBytes;
    const std::size_t passed_bytes = first_line * Line::kPayloadBytes;
    return {lines + first_line, line_count_for(end_bytes - passed_bytes),
            operand.offset_bytes - passed_bytes};
  }
  std::byte* unpacked_lines(const Instruction& instruction, int lines_source) {
    return unpacked_.data() +
           static_cast<std::size_t>(lines_source) * unpacked_stride_bytes(instruction.size_bytes);
  }
  /// Where the data of a source lie whose lines have arrived: in its only line, which nobody
  /// writes before this worker has left the run, or where its lines have been unpacked.
  const std::byte* arrived_source(const Instruction& instruction, const Operand& operand,
                                  int lines_source) {
    const LinesPart part = lines_part(instruction, operand);
    const std::byte* const payload = part.is_one_line()
                                         ? reinterpret_cast<const std::byte*>(part.lines->payload)
                                         : unpacked_lines(instruction, lines_source);
    return payload + part.begin_bytes;
  }
  std::span<const Operand> operands(const Instruction& instruction) const {
    return {program_->operands.data() + instruction.first_operand,
            static_cast<std::size_t>(instruction.destination_count) + instruction.source_count};
  }
  [[noreturn]] void throw_mismatch(int worker, const PackedSignature& theirs);
  std::string_view collective_name() const;
  CallNumber named_call() const noexcept {
    return arguments_.member_call != 0 ? arguments_.member_call : arguments_.call;
  }
  /// Shows the others that the member is in a call, and when that turns out to be long.
  void record_entry() noexcept;
  void record_long_wait(std::chrono::steady_clock::duration time) noexcept;
  void record_exit() noexcept {
    if (options_.record != nullptr) [[likely]]
      options_.record->leave();
  }
  bool is_observed() const noexcept { return options_.observation.by != nullptr; }
  /// What observers are told (executor_observing.cc); only if the worker is observed.
  void observe_begin();
  void observe_end(bool failed);
  void observe_turn();
  void observe_step(StrandState& state, const Instruction& instruction);
  void observe_wait(const StrandState& state);
  void observe_message_end(const StrandState& state, int request);
  void look_for_mismatch();
  void look_for_ended_process();
  void end_with_peer(const PeerEnded& ended);
  void look_at_clock(Waiter& waiter);
  std::string describe_long_wait(std::chrono::steady_clock::duration time) const;
  bool all_members_entered() const;
  /// Whether those whose signals the program waits for have entered, without members too: staging
  /// alternates between two halves, so nobody may be two runs ahead of them, failed or not.
  bool awaited_workers_entered() const;
  int member_worker_count() const;
  std::string describe_worker(int worker) const;
  /// Whose lines, stream, flag or announcement the instruction waits for; -1: none.
  int awaited_worker(const StrandState& state, const Instruction& instruction) const;
  std::string describe_messages() const;
  int rank_of(int worker) const {
    const int member = options_.first_rank + worker;
    return options_.user_rank_of ? options_.user_rank_of(member) : member;
  }

  NodeMemory& memory_;
  int worker_;
  std::vector<Endpoint*> endpoints_;
  const TaskKernels* tasks_;
  ExecutorOptions options_;

  const Program* program_ = nullptr;
  // Of programs that may be gone: Program::number, 0: none.
  std::uint64_t number_ = 0;    // of the run's
  std::uint64_t taken_up_ = 0;  // of the one that the memory below is for
  CallArguments arguments_;
  std::uint32_t digest_ = 0;  // of the run's signature
  std::uint64_t line_tag_ = 0;
  bool natives_block_ = false;
  bool runs_ahead_ = false;
  bool others_may_lag_ = false;        // behind the run: some may do without waiting for others
  bool catches_up_ = false;            // until all others have left the runs before the last one
  std::uint64_t ready_calls_ = 0;      // in a row in which lines did not have to be waited for
  std::vector<SeenCalls> calls_seen_;  // see call_seen()
  std::array<CallNumber, kCallSets> failed_calls_{};  // the latest that have thrown here
  CallNumber last_failure_seen_ = 0;
  std::optional<Error> failure_;         // of the run, until it is thrown
  bool is_failure_known_ = false;        // to the others
  bool members_agree_ = true;            // in a run whose failure is known
  std::optional<Error> missed_failure_;  // of a call that this worker has left before it failed
  Looking looking_ = Looking::allowed;
  std::optional<BroadcastFifo> fifo_;           // of a worker with a member
  const StrandState* stream_writer_ = nullptr;  // the strand that has a place in the FIFO
  bool has_progressed_ = false;                 // since advance_strands() was called, in a step
  const Endpoint* just_tested_ = nullptr;       // since advance_messages(), and had something to do
  int impatient_waits_ = 0;  // for messages, until looks at the network are timed again
  SeparateVector<StrandState> strands_;
  NumaBuffer scratch_;
  NumaBuffer unpacked_;
  SeparateVector<void*> destination_addresses_;
  SeparateVector<const void*> source_addresses_;
  StagingTurns staging_turns_;     // of the program that has been taken up
  std::size_t staging_begin_ = 0;  // of the run
  RemoteSteps remote_steps_;
  std::vector<NumaBuffer> left_behind_;  // by runs that were abandoned while they were sending
  struct ObservedState;
  /// Null unless a run has been observed.
  std::unique_ptr<ObservedState> observed_;
};

}  // namespace hycoll

#endif  // HYCOLL_THREADING_EXECUTION_EXECUTOR_H_
