#include "threading/execution/executor.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/base/errors.h"
#include "threading/observing/call_site.h"

namespace hycoll {
namespace {

constexpr std::size_t kMinimumScratchBytes = 4096;

/// Grows a buffer of one worker, by the thread that fills and empties it; only between runs, when
/// nobody holds an address in it.
void ensure(NumaBuffer& buffer, std::size_t size_bytes, const ExecutorOptions& options) {
  if (size_bytes <= buffer.size_bytes()) return;
  buffer = NumaBuffer();  // gives the old memory back first
  buffer = NumaBuffer(*options.topology, std::max(size_bytes, kMinimumScratchBytes),
                      domain_here(*options.topology, options.numa_domain));
}

/// Whether an instruction looks at what others write, and waits for it.
bool looks_at_others(const Instruction& instruction) {
  switch (instruction.kind) {
    case InstructionKind::wait_post:
    case InstructionKind::wait_line:
    case InstructionKind::wait_flag:
    case InstructionKind::write_stream:
    case InstructionKind::read_stream:
      return true;
    default:
      return instruction.lines_source_count > 0;
  }
}

}  // namespace

WorkerExecutor::WorkerExecutor(NodeMemory& memory, int worker, std::vector<Endpoint*> endpoints,
                               const TaskKernels* tasks, ExecutorOptions options)
    : memory_(memory),
      worker_(worker),
      endpoints_(std::move(endpoints)),
      tasks_(tasks),
      options_(std::move(options)),
      calls_seen_(static_cast<std::size_t>(memory.worker_count()) / kSeenTogether + 1) {
  if (worker_ < member_worker_count()) fifo_.emplace(memory.fifo(), member_worker_count());
}

void WorkerExecutor::exchange(ExecutorContext& context) noexcept {
  std::swap(endpoints_, context.endpoints);
  std::swap(options_, context.options);
  program_ = nullptr;
  number_ = taken_up_ = 0;
}

void WorkerExecutor::start(const Program& program, const CallArguments& arguments) {
  start(program, arguments, arguments.call);
}

void WorkerExecutor::start(const Program& program, const CallArguments& arguments, CallNumber run) {
  // They may still read what the last program has staged, elsewhere than this one does.
  catches_up_ = others_may_lag_ && number_ != program.number && program.staging_bytes > 0;
  runs_ahead_ = may_run_ahead(run, arguments.signature);
  // Before the others may record failures of the call.
  if (some_failed()) find_missed_failure(run - 1);
  arguments_ = arguments;
  if (run != arguments.call) {
    arguments_.member_call = arguments.call;
    arguments_.call = run;
  }
  natives_block_ = program.blocks_alone && arguments.is_blocking;
  digest_ = arguments.signature.digest(options_.salt);
  program_ = &program;
  number_ = program.number;
  failure_.reset();
  announce(program);
  try {
    take_up(program);
  } catch (const std::exception&) {
    taken_up_ = 0;
    fail(handled_failure());
  }
  if (arguments.failure != nullptr) fail(*arguments.failure);
  wake_sleepers();
}

void WorkerExecutor::start_like(const Program& program, const CallArguments& like, CallNumber call,
                                CallNumber run, const void* input, void* output) {
  const bool is_like_last = taken_up_ == program.number && number_ == program.number &&
                            arguments_.form == like.form && like.form != 0;
  if (!is_like_last || failure_ || some_failed()) [[unlikely]] {
    return start_unlike(program, like, call, run, input, output);
  }
  catches_up_ = false;
  runs_ahead_ = follows_success(run);
  arguments_.member_call = run == call ? 0 : call;
  arguments_.call = run;
  arguments_.input = input;
  arguments_.output = output;
  announce(program);
  begin_strands(program);
}

void WorkerExecutor::start_unlike(const Program& program, const CallArguments& like,
                                  CallNumber call, CallNumber run, const void* input,
                                  void* output) {
  CallArguments arguments = like;
  arguments.call = call;
  arguments.input = input;
  arguments.output = output;
  start(program, arguments, run);
}

inline void WorkerExecutor::record_entry() noexcept {
  if (options_.record == nullptr) return;
  options_.record->enter(named_call(), arguments_.signature.call, arguments_.signature.detail,
                         arguments_.is_blocking ? CallSite::here() : nullptr);
}

inline void WorkerExecutor::announce(const Program& program) {
  others_may_lag_ = runs_ahead_ && program.some_run_ahead;
  looking_ = Looking::allowed;
  ++ready_calls_;
  const CallNumber run = arguments_.call;
  line_tag_ = line_tag(run, digest_);
  record_entry();
  Post& post = memory_.post(worker_);
  if (program.is_looked_up) {
    post.input.store(memory_.announce(arguments_.input), std::memory_order_relaxed);
    post.output.store(memory_.announce(arguments_.output), std::memory_order_relaxed);
  }
  post.set_signature(run, arguments_.signature, digest_);
  // Pairs with the acquiring load in post_arrived: whoever sees the call sees its addresses and the
  // input.
  post.call.store(run, std::memory_order_release);
}

void WorkerExecutor::take_up(const Program& program) {
  if (taken_up_ != program.number) {
    HYCOLL_ASSERT(program.staging_bytes <= memory_.staging_bytes(), "the slice fits into staging");
    if (memory_.staging_bytes() > 0)
      staging_turns_ = memory_.staging_turns(program.staging_set_bytes);
    ensure(scratch_, program.scratch_bytes, options_);
    ensure(unpacked_, program.lines_source_bytes, options_);
    strands_.resize(program.strands.size());
    destination_addresses_.resize(program.operands.size());
    source_addresses_.resize(program.operands.size());
    taken_up_ = program.number;
  }
  begin_strands(program);
}

inline void WorkerExecutor::begin_strands(const Program& program) {
  if (is_observed()) [[unlikely]]
    observe_begin();
  stream_writer_ = nullptr;
  if (program.stages()) staging_begin_ = staging_turns_.begin(arguments_.call);
  for (int cell = 0; cell < program.flag_count; ++cell)
    own_for_writing(&memory_.flag(worker_, cell));
  for (std::size_t s = 0; s < strands_.size(); ++s) {
    StrandState& state = strands_[s];
    state.next = 0;
    state.lines_read = 0;
    state.lines_sources_read = 0;
    state.streamed_bytes = 0;
    state.first_pending = 0;
    const auto request_count = static_cast<std::size_t>(program.strands[s].request_count);
    if (request_count == 0) continue;
    state.requests.resize(request_count);
    state.pending.assign(request_count, nullptr);
  }
}

bool WorkerExecutor::others_have_caught_up() {
  if (looking_ == Looking::forbidden) return false;
  for (int worker = 0; worker < memory_.worker_count(); ++worker) {
    // Pairs with the releasing store in start(): the worker has read all staging before.
    const CallNumber entered = memory_.post(worker).call.load(std::memory_order_acquire);
    if (entered + 1 < arguments_.call) return false;
  }
  return true;
}

bool WorkerExecutor::may_run_ahead(CallNumber next,
                                   const PackedSignature& signature) const noexcept {
  return program_ != nullptr && signature == arguments_.signature && follows_success(next);
}

void WorkerExecutor::run(const Program& program, const CallArguments& arguments) {
  run(program, arguments, arguments.call);
}

void WorkerExecutor::run(const Program& program, const CallArguments& arguments, CallNumber run) {
  start(program, arguments, run);
  finish();
}

void WorkerExecutor::finish() {
  // At once where the others are ahead.
  if (advance() != Progress::finished) wait_for_end();
}

void WorkerExecutor::wait_for_end() {
  wake_sleepers();  // the others have been shown this worker, and perhaps nothing else
  const bool impatiently = impatient_waits_ > 0 && has_pending_messages();
  if (impatiently) --impatient_waits_;
  Waiter waiter(impatiently ? options_.wait_policy.with_slow_looks() : options_.wait_policy);
  Progress progress = Progress::blocked;
  while (progress != Progress::finished) {
    const bool unhurried =
        arguments_.hurried != nullptr && !arguments_.hurried->load(std::memory_order_relaxed);
    if (unhurried && progress == Progress::blocked) {
      slow_turn(waiter);
      Waiter::nap();
    } else if (waiter.turn()) {
      slow_turn(waiter);
    }
    progress = advance();
    if (progress == Progress::advanced) waiter.reset();
  }
  if (waiter.has_looked_slowly()) impatient_waits_ = kImpatientWaits;
}

WorkerExecutor::Progress WorkerExecutor::advance(int step_limit) {
  if (failure_) return end_failed();
  Progress progress;
  try {
    progress = is_observed() ? advance_strands<Observed::yes>(step_limit)
                             : advance_strands<Observed::no>(step_limit);
    if (progress == Progress::finished && some_failed()) look_for_failures();
  } catch (const PeerEnded& ended) {
    end_with_peer(ended);
    fail(ended);
    return end_failed();
  } catch (const std::exception&) {
    fail(handled_failure());
    return end_failed();
  }
  if (progress == Progress::finished) {
    if (program_->some_touch_others) memory_.leave(worker_, arguments_.call);
    record_exit();
    if (is_observed()) [[unlikely]]
      observe_end(false);
    if (missed_failure_ && !arguments_.is_agreed_on) throw_missed_failure();
  }
  if (progress != Progress::blocked) wake_sleepers();
  return progress;
}

WorkerExecutor::Progress WorkerExecutor::advance_blindly() {
  looking_ = Looking::forbidden;
  const Progress progress = advance();
  looking_ = Looking::allowed;
  return progress;
}

inline bool WorkerExecutor::try_issue(StrandState& state, const Instruction& instruction) {
  if (instruction.dependency_count > 0 && !dependencies_completed(state, instruction)) return false;
  if (looking_ == Looking::forbidden && looks_at_others(instruction)) return false;
  switch (instruction.kind) {
    case InstructionKind::write_lines:
      issue_write_lines(instruction);
      return true;
    case InstructionKind::reduce:
      if (instruction.lines_source_count > 0 && !lines_arrived(state, instruction)) return false;
      issue_reduce(instruction);
      return true;
    case InstructionKind::copy:
      if (instruction.lines_source_count > 0 && !lines_arrived(state, instruction)) return false;
      issue_copy(instruction);
      return true;
    default:
      return try_issue_other(state, instruction);
  }
}

template <WorkerExecutor::Observed observed>
inline bool WorkerExecutor::issue(StrandState& state, const Instruction& instruction) {
  if constexpr (observed == Observed::no) return try_issue(state, instruction);
  const bool issued = try_issue(state, instruction);
  if (issued) {
    observe_step(state, instruction);
  } else {
    observe_wait(state);
  }
  return issued;
}

template <WorkerExecutor::Observed observed>
inline WorkerExecutor::Progress WorkerExecutor::advance_strands(int step_limit) {
  if (catches_up_) {
    if (!others_have_caught_up()) return Progress::blocked;
    catches_up_ = false;
  }
  if constexpr (observed == Observed::yes) observe_turn();
  bool finished = true;
  int issued = 0;
  has_progressed_ = false;
  for (std::size_t s = 0; s < strands_.size(); ++s) {
    const std::vector<Instruction>& instructions = program_->strands[s].instructions;
    const Instruction* const end = instructions.data() + instructions.size();
    StrandState& state = strands_[s];
    const Instruction* next = instructions.data() + state.next;
    for (; next != end && issued < step_limit && issue<observed>(state, *next); ++next) {
      ++state.next;
      ++issued;
    }
    if (next != end || (!state.pending.empty() && !all_completed(state))) finished = false;
  }
  if (finished) {
    own_for_writing(&memory_.post(worker_));  // for the next call
    return Progress::finished;
  }
  return issued > 0 || has_progressed_ ? Progress::advanced : Progress::blocked;
}

bool WorkerExecutor::try_issue_other(StrandState& state, const Instruction& instruction) {
  switch (instruction.kind) {
    case InstructionKind::write_stream:
      return write_stream(state, instruction);
    case InstructionKind::read_stream:
      return read_stream(state, instruction);
    case InstructionKind::wait_post:
      return post_arrived(instruction.worker);
    case InstructionKind::wait_line:
      // Pairs with the releasing store of the tag in write_lines.
      return memory_.lines(program_->memory, instruction.worker, instruction.cell, arguments_.call)
                 ->tag.load(std::memory_order_acquire) == line_tag_;
    case InstructionKind::follow_post:
      return post_followed(instruction.worker);
    case InstructionKind::wait_flag:
      // Pairs with the releasing store of the signal below.
      return memory_.flag(instruction.worker, instruction.cell)
                 .value.load(std::memory_order_acquire) >=
             flag_value(arguments_.call, instruction.value);
    case InstructionKind::signal:
      // Pairs with the acquiring load of a wait above: what was written before is visible after.
      memory_.flag(worker_, instruction.cell)
          .value.store(flag_value(arguments_.call, instruction.value), std::memory_order_release);
      wake_sleepers();  // a long step may follow
      return true;
    case InstructionKind::send:
    case InstructionKind::receive:
    case InstructionKind::native:
      issue_message(state, instruction);
      return true;
    case InstructionKind::left_out:
      return true;
    case InstructionKind::write_lines:
    case InstructionKind::reduce:
    case InstructionKind::copy:
      break;
  }
  HYCOLL_ASSERT(false, "try_issue() issues these");
}

inline void WorkerExecutor::issue_write_lines(const Instruction& instruction) {
  const auto all = operands(instruction);
  const NodeMemory::Section section = program_->memory;
  Line* const lines = memory_.lines(section, worker_, all[0].lines_buffer, arguments_.call);
  const std::byte* const source = address(all[1]);
  std::size_t size_bytes = instruction.size_bytes;
  if (instruction.first_line_last && size_bytes > Line::kPayloadBytes) {
    write_lines(lines + 1, source + Line::kPayloadBytes, size_bytes - Line::kPayloadBytes,
                line_tag_);
    size_bytes = Line::kPayloadBytes;
  }
  write_lines(lines, source, size_bytes, line_tag_);
  own_lines(memory_.lines(section, worker_, all[0].lines_buffer, arguments_.call + 1),
            instruction.size_bytes);
}

bool WorkerExecutor::dependencies_completed(StrandState& state, const Instruction& instruction) {
  for (std::uint32_t d = 0; d < instruction.dependency_count; ++d) {
    if (!completed(state, program_->dependencies[instruction.first_dependency + d])) return false;
  }
  return true;
}

bool WorkerExecutor::all_completed(StrandState& state) {
  const auto count = static_cast<int>(state.pending.size());
  while (state.first_pending < count && completed(state, state.first_pending))
    ++state.first_pending;
  return state.first_pending == count;
}

bool WorkerExecutor::completed(StrandState& state, int request) {
  const auto r = static_cast<std::size_t>(request);
  if (state.pending[r] == nullptr) return true;
  if (looking_ == Looking::forbidden) return false;
  // A request whose test throws is used up.
  Endpoint* const endpoint = std::exchange(state.pending[r], nullptr);
  const bool is_over = endpoint->test(state.requests[r]);
  if (is_over) {
    has_progressed_ = true;
    if (is_observed()) [[unlikely]]
      observe_message_end(state, request);
  } else {
    state.pending[r] = endpoint;
    just_tested_ = endpoint;
  }
  return is_over;
}

void WorkerExecutor::issue_message(StrandState& state, const Instruction& instruction) {
  // On both sides, where blocks differ from pair to pair.
  if (instruction.size_bytes == 0) return;
  const auto all = operands(instruction);
  Endpoint& endpoint = endpoint_of(instruction);
  const int tag = tag_of(instruction);
  // Whoever has failed may be in its next call, whose signals count for this one, too: other nodes
  // must not take for data what was not there in time.
  if (some_failed()) memory_.throw_if_failed(arguments_.call);
  EndpointRequest request;
  if (instruction.kind == InstructionKind::send) {
    request = endpoint.send(instruction.peer, tag, address(all[0]), instruction.size_bytes);
  } else if (instruction.kind == InstructionKind::receive) {
    request = endpoint.receive(instruction.peer, tag, address(all[0]), instruction.size_bytes);
  } else if (natives_block_) {
    endpoint.blocking_allreduce(tag, address(all[1]), address(all[0]), instruction.count,
                                arguments_.type, arguments_.op);
    return;
  } else {
    request = endpoint.allreduce(tag, address(all[1]), address(all[0]), instruction.count,
                                 arguments_.type, arguments_.op);
  }
  const auto slot = static_cast<std::size_t>(instruction.request);
  state.requests[slot] = request;
  state.pending[slot] = &endpoint;
}

bool WorkerExecutor::post_arrived(int worker) {
  Post& post = memory_.post(worker);
  // Pairs with the releasing store in start().
  if (post.call.load(std::memory_order_acquire) < arguments_.call) return false;
  if (post.digest(arguments_.call) == digest_) return true;
  // Nobody leaves a call that fails before all members have entered it: announcements and failures
  // are kept for the latest calls only.
  if (all_members_entered()) throw_mismatch(worker, post.signature(arguments_.call));
  return false;
}

bool WorkerExecutor::post_followed(int worker) {
  if (!runs_ahead_) return looking_ == Looking::allowed && post_arrived(worker);
  CallNumber& seen = call_seen(worker);
  if (seen + kMaximumLead >= arguments_.call) return true;
  if (looking_ == Looking::forbidden) return false;
  // Pairs with the releasing store in start(): the worker has read all lines of the calls before.
  seen = memory_.post(worker).call.load(std::memory_order_acquire);
  return seen + kMaximumLead >= arguments_.call;
}

bool WorkerExecutor::all_members_entered() const {
  for (int worker = 0; worker < member_worker_count(); ++worker) {
    // Nothing that the post announces is used.
    if (memory_.post(worker).call.load(std::memory_order_relaxed) < arguments_.call) return false;
  }
  return true;
}

int WorkerExecutor::member_worker_count() const {
  return std::min(options_.member_count, memory_.worker_count());
}

}  // namespace hycoll
