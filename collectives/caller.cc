#include "collectives/caller.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "collectives/arguments.h"
#include "core/errors.h"

namespace hycoll {
namespace {

/// Distinguishes lists of counts in signatures; never 0, which stands for equal blocks.
std::uint32_t digest_of(std::span<const std::size_t> counts) {
  std::uint64_t digest = 0xcbf29ce484222325u;
  for (const std::size_t count : counts) digest = (digest ^ count) * 0x100000001b3u;
  return static_cast<std::uint32_t>(digest >> 32) | 1;
}

}  // namespace

void RepeatableCall::remember(const Call& call, const PreparedCall& prepared, const Plan& plan) {
  plan_ = &plan;
  call_ = call;
  arguments_ = prepared.arguments;
  const std::size_t element_bytes = prepared.query.element_bytes;
  input_bytes_ = prepared.buffers.input_count * element_bytes;
  output_bytes_ = prepared.buffers.output_count * element_bytes;
  own_block_bytes_ = prepared.buffers.block_begin * element_bytes;
  // Who gets no result has no address to pass on that the next call might not have.
  if (input_bytes_ > 0 && output_bytes_ == 0) arguments_.output = nullptr;
}

bool RepeatableCall::is_like(const Call& call) const noexcept {
  return plan_ != nullptr && call.count == call_.count && call.collective == call_.collective &&
         call.type == call_.type && call.op == call_.op && call.root == call_.root &&
         call.bits == call_.bits && call.block_counts.empty() && may_use(call.input, call.output);
}

bool RepeatableCall::may_use(const void* input, const void* output) const noexcept {
  if (input_bytes_ > 0 && input == nullptr) return false;
  if (output_bytes_ > 0 && output == nullptr) return false;
  if (input_bytes_ == 0 || output_bytes_ == 0) return true;
  const auto input_begin = reinterpret_cast<std::uintptr_t>(input);
  const auto output_begin = reinterpret_cast<std::uintptr_t>(output);
  const bool apart =
      output_begin + output_bytes_ <= input_begin || input_begin + input_bytes_ <= output_begin;
  return apart || output_begin == input_begin + own_block_bytes_;
}

const CallArguments& RepeatableCall::arguments_for(const Call& call, CallNumber number) noexcept {
  arguments_.call = number;
  if (input_bytes_ > 0) arguments_.input = call.input;
  if (output_bytes_ > 0) arguments_.output = call.output;
  return arguments_;
}

CallSignature Caller::signature_of(const Call& call, const Reduction& reduction) const {
  CallSignature signature{.count = call.count,
                          .collective = call.collective,
                          .type_code = reduction.type_code,
                          .op_code = reduction.operator_code,
                          .is_reproducible = call.bits == Bits::reproducible};
  if (reduction.type_code == ElementType::kDerivedCode) {
    signature.element_bytes = static_cast<std::uint32_t>(reduction.element_bytes);
  }
  if (call.collective == Collective::reduce) {
    signature.detail = static_cast<std::uint32_t>(call.root);
  } else if (call.collective == Collective::reduce_scatter && !call.block_counts.empty()) {
    signature.detail = digest_of(call.block_counts);
  }
  return signature;
}

PlanQuery Caller::query_for(const Call& call, const Reduction& reduction) const {
  PlanQuery query{.collective = call.collective,
                  .element_bytes = reduction.element_bytes,
                  .extent = {.count = call.count, .block_counts = call.block_counts}};
  if (call.collective == Collective::reduce) query.root = call.root;
  if (!reduction.is_commutative) query.order = OperandOrder::by_rank;
  if (call.bits == Bits::reproducible || identity_.bits == Bits::reproducible) {
    query.order = OperandOrder::canonical;
  }
  if (!reduction.data_type) query.native = NativeReduction::impossible;
  return query;
}

PlanQuery Caller::query_for(const Call& call, const VectorElements& elements) const {
  return {.collective = call.collective,
          .root = call.root,
          .element_bytes = 1,
          .extent = {.count = call.count * elements.element_bytes}};
}

PreparedCall Caller::resolve(const Call& call) {
  return combines(call.collective) ? resolve_reduction_call(call) : resolve_movement(call);
}

PreparedCall Caller::resolve_reduction_call(const Call& call) {
  const Reduction& reduction = reductions_.find(call.type, call.op, name_of(call.collective));
  const CallBuffers buffers =
      check_buffers(call, reduction, identity_.rank, identity_.member_count);
  PreparedCall prepared{.query = query_for(call, reduction),
                        .arguments = {.input = call.input,
                                      .output = call.output,
                                      .reducer = reduction.reducer,
                                      .signature = signature_of(call, reduction).packed()},
                        .is_custom = call.op.is_custom(),
                        .foreign_owner = reduction.foreign_owner,
                        .work = nullptr,
                        .buffers = buffers};
  if (reduction.data_type) {
    prepared.arguments.type = *reduction.data_type;
    prepared.arguments.op = *reduction.op;
  }
  if (buffers.input_count == 0) {
    use_token(prepared);
  } else if (reduction.staging != nullptr || buffers.needs_own_output) {
    prepared.work = std::make_unique<WorkBuffers>(call, reduction, buffers);
    prepared.arguments.input = prepared.work->input();
    prepared.arguments.output = prepared.work->output();
  }
  return prepared;
}

PreparedCall Caller::resolve_movement(const Call& call) {
  const VectorElements& elements = moved_.find(call.type, name_of(call.collective));
  const CallBuffers buffers = check_buffers(call, elements, identity_.rank, identity_.member_count);
  const CallSignature signature{.count = call.count * elements.element_bytes,
                                .collective = call.collective,
                                .detail = static_cast<std::uint32_t>(call.root)};
  PreparedCall prepared{.query = query_for(call, elements),
                        .arguments = {.input = buffers.input_count > 0 ? call.input : nullptr,
                                      .output = buffers.output_count > 0 ? call.output : nullptr,
                                      .reducer = {},
                                      .signature = signature.packed()},
                        .is_custom = false,
                        .foreign_owner = nullptr,
                        .work = nullptr,
                        .buffers = buffers};
  if (prepared.query.extent.count == 0) {
    use_token(prepared);
  } else if (elements.staging != nullptr) {
    prepared.work = std::make_unique<WorkBuffers>(call, elements, buffers);
    prepared.arguments.input = prepared.work->input();
    prepared.arguments.output = prepared.work->output();
  }
  return prepared;
}

PreparedCall Caller::make_next(const Call& call) {
  try {
    PreparedCall prepared = resolve(call);
    enter(prepared.arguments);
    return prepared;
  } catch (const Error&) {
    // The others wait for this member at the gate. Elsewhere nothing has happened.
    if (identity_.gate != nullptr) {
      identity_.gate->enter(++call_, identity_.rank, std::nullopt);
      leave_gate(call_);
    }
    throw;
  }
}

void Caller::enter(CallArguments& arguments) {
  arguments.call = ++call_;
  if (identity_.gate == nullptr) return;
  identity_.gate->enter(call_, identity_.rank, arguments.signature);
}

void Caller::pass_gate(CallNumber call) {
  if (identity_.gate != nullptr) identity_.gate->pass(call);
}

void Caller::leave_gate(CallNumber call) {
  if (identity_.gate == nullptr) return;
  try {
    // The last of its process sees to it that the other processes learn of the call.
    if (identity_.gate->all_entered(call)) identity_.gate->pass(call);
  } catch (const Error&) {
    // This member has an error of its own to report.
  }
}

void Caller::use_token(PreparedCall& prepared) {
  prepared.query = {.element_bytes = sizeof(token_), .extent = {.count = 1}};
  // Not in place: what the next call sends does not depend on what this one has received.
  prepared.arguments.input = &token_;
  prepared.arguments.output = &tokens_reduced_;
  prepared.arguments.type = DataType::uint64;
  prepared.arguments.op = Operator::max;
  prepared.arguments.reducer = {.kernel = reduce_kernel(Operator::max, DataType::uint64)};
  prepared.is_custom = false;
}

PreparedCall Caller::agreement_into(std::uint64_t& mark) {
  const CallSignature signature{.count = 1,
                                .type_code = static_cast<std::uint8_t>(DataType::uint64),
                                .op_code = static_cast<std::uint8_t>(Operator::max)};
  return {.query = {.element_bytes = sizeof(mark), .extent = {.count = 1}},
          .arguments = {.call = ++call_,
                        .input = memory_.operator_failure_mark(identity_.slot),
                        .output = &mark,
                        .type = DataType::uint64,
                        .op = Operator::max,
                        .reducer = {.kernel = reduce_kernel(Operator::max, DataType::uint64)},
                        .signature = signature.packed()},
          .is_custom = false,
          .foreign_owner = nullptr,
          .work = nullptr};
}

void Caller::throw_if_operator_failed(std::uint64_t mark, CallNumber call) const {
  if (failed_call_of(mark) != call) return;
  const int rank = failed_rank_of(mark);
  if (const std::optional<std::string> text = memory_.operator_failure(identity_.slot, mark)) {
    throw Error(ErrorKind::user_operator, *text);
  }
  throw Error(ErrorKind::user_operator,
              fmt::format("the operator failed on rank {} in call {}: that rank's error says why. "
                          "The outputs of all members are unspecified",
                          rank, call));
}

const Plan& Caller::announced(const Plan& plan, const CallArguments& arguments) {
  if (plan.selected.aggregators > 0 && identity_.announcer != nullptr) {
    identity_.announcer->announce(plan, arguments);
  }
  return plan;
}

void Caller::retract(CallNumber call) {
  if (identity_.announcer != nullptr) identity_.announcer->retract(call);
}

void Caller::execute_announced(const Plan& plan, const CallArguments& arguments) {
  try {
    execute(announced(plan, arguments), arguments);
  } catch (const Error&) {
    retract(arguments.call);
    throw;
  }
}

bool Caller::is_repeatable(const Call& call, const PreparedCall& prepared) {
  // A derived type may be gone by the next call, and another one may have its handle.
  const bool lasts =
      combines(call.collective) ? prepared.arguments.reducer.kernel != nullptr : moved_.lasts();
  return lasts && prepared.work == nullptr && call.block_counts.empty() &&
         identity_.gate == nullptr && identity_.announcer == nullptr && !is_long_broadcast(call);
}

void Caller::run(const Call& call) {
  if (repeatable_.is_like(call)) {
    return execute(repeatable_.plan(), repeatable_.arguments_for(call, ++call_));
  }
  if (is_long_broadcast(call)) return run_long_broadcast(call);
  run_whole(call);
}

void Caller::run_whole(const Call& call) {
  PreparedCall prepared = make_next(call);
  prepared.arguments.is_blocking = true;
  prepared.arguments.is_agreed_on = prepared.is_custom;
  pass_gate(prepared.arguments.call);
  const Plan& plan = plans_.find(prepared.query);
  if (is_repeatable(call, prepared)) repeatable_.remember(call, prepared, plan);
  execute_announced(plan, prepared.arguments);
  if (prepared.is_custom) {
    std::uint64_t mark = 0;
    const PreparedCall agreement = agreement_into(mark);
    execute_announced(plans_.find(agreement.query), agreement.arguments);
    throw_if_operator_failed(mark, prepared.arguments.call);
  }
  if (prepared.work != nullptr) prepared.work->deliver();
}

void Caller::begin(const Plan& plan, const CallArguments& arguments, Request::State& state) {
  state.caller = this;
  state.call = arguments.call;
  state.is_complete = false;
  state.error.reset();
  announced(plan, arguments);
  state.deferred = nullptr;
  if (CallGate* const gate = identity_.gate) {
    state.job = submit(plan, arguments, [gate, call = arguments.call] { gate->pass(call); });
    return;
  }
  state.deferred = defer(plan, arguments, state.outcome);
  if (state.deferred == nullptr) state.job = submit(plan, arguments, {});
}

std::unique_ptr<Request::State> Caller::start(const Call& call) {
  PreparedCall prepared = make_next(call);
  auto state = std::make_unique<Request::State>();
  state->foreign_owner = std::move(prepared.foreign_owner);
  state->work = std::move(prepared.work);
  try {
    begin(plans_.find(prepared.query), prepared.arguments, *state);
  } catch (const Error&) {
    leave_gate(prepared.arguments.call);
    throw;
  }
  if (prepared.is_custom) submit_agreement(*state);
  return state;
}

/// All of the process's workers must have applied the operator, and the call must not have been
/// refused, in which case nobody agrees.
void Caller::submit_agreement(Request::State& state) {
  const PreparedCall agreement = agreement_into(state.failure_mark);
  const Plan& plan = announced(plans_.find(agreement.query), agreement.arguments);
  state.agreement = submit(plan, agreement.arguments,
                           [job = state.job, gate = identity_.gate, call = state.call] {
                             if (job != nullptr) job->wait();
                             if (gate != nullptr) gate->pass(call);
                           });
}

std::unique_ptr<Persistent::State> Caller::prepare(const Call& call) {
  auto state = std::make_unique<Persistent::State>();
  state->caller = this;
  state->call = call;
  state->block_counts.assign(call.block_counts.begin(), call.block_counts.end());
  state->call.block_counts = state->block_counts;
  PreparedCall prepared = resolve(state->call);
  const Plan& plan = plan_cache_.find(prepared.query);
  if (!prepared.is_custom && prepared.work == nullptr) {
    state->plan = &plan;
    state->arguments = prepared.arguments;
    state->foreign_owner = std::move(prepared.foreign_owner);
    state->request = std::make_unique<Request::State>();
  }
  return state;
}

void Caller::start(Persistent::State& persistent) {
  if (persistent.plan == nullptr) {
    persistent.request = start(persistent.call);
  } else {
    enter(persistent.arguments);
    begin(*persistent.plan, persistent.arguments, *persistent.request);
  }
  persistent.is_active = true;
}

void Caller::run(Persistent::State& persistent) {
  if (persistent.plan == nullptr) return run_whole(persistent.call);
  enter(persistent.arguments);
  pass_gate(persistent.arguments.call);
  CallArguments arguments = persistent.arguments;
  arguments.is_blocking = true;
  execute_announced(*persistent.plan, arguments);
}

SelectedPlan Caller::choice(const Call& call) {
  const std::string_view name = name_of(call.collective);
  PlanQuery query = combines(call.collective)
                        ? query_for(call, reductions_.find(call.type, call.op, name))
                        : query_for(call, moved_.find(call.type, name));
  const bool is_empty =
      query.extent.count == 0 &&
      std::ranges::all_of(call.block_counts, [](std::size_t n) { return n == 0; });
  if (is_empty) query = {.element_bytes = sizeof(token_), .extent = {.count = 1}};
  return plan_cache_.select(query);
}

bool Request::State::test() {
  if (is_complete) return true;
  if (deferred != nullptr) {
    if (!outcome.finished.load(std::memory_order_acquire)) deferred->advance();
    if (!outcome.finished.load(std::memory_order_acquire)) return false;
  } else if (!job->finished()) {
    return false;
  }
  if (agreement != nullptr && !agreement->finished()) return false;
  complete();
  return true;
}

void Request::State::finish() {
  if (is_complete) return;
  if (deferred == nullptr) {
    job->wait();
  } else if (!outcome.finished.load(std::memory_order_acquire)) {
    deferred->finish();
  }
  if (agreement != nullptr) agreement->wait();
  complete();
}

void Request::State::complete() {
  is_complete = true;
  try {
    if (deferred != nullptr) {
      if (outcome.error) throw Error(*outcome.error);
    } else {
      job->throw_if_failed();
    }
    if (agreement != nullptr) {
      agreement->throw_if_failed();
      caller->throw_if_operator_failed(failure_mark, call);
    }
    if (work != nullptr) work->deliver();
  } catch (const Error& met) {
    error = met;
    caller->retract(call);
  }
}

Request::Request() noexcept = default;
Request::Request(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
Request::Request(Request&&) noexcept = default;

Request& Request::operator=(Request&& other) noexcept {
  if (state_ != nullptr) state_->finish();
  state_ = std::move(other.state_);
  return *this;
}

Request::~Request() {
  if (state_ != nullptr) state_->finish();
}

bool Request::test() { return state_ == nullptr || state_->test(); }

void Request::wait() {
  if (state_ == nullptr) return;
  const std::unique_ptr<State> state = std::move(state_);
  state->finish();
  if (state->error) throw Error(*state->error);
}

Persistent::Persistent(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
Persistent::Persistent(Persistent&&) noexcept = default;

Persistent& Persistent::operator=(Persistent&& other) noexcept {
  if (state_ != nullptr && state_->is_active) state_->request->finish();
  state_ = std::move(other.state_);
  return *this;
}

Persistent::~Persistent() {
  if (state_ != nullptr && state_->is_active) state_->request->finish();
}

void Persistent::start() {
  // Not whether it has completed meanwhile: a program must not depend on that.
  if (state_->is_active && !state_->request->is_complete) {
    throw Error(ErrorKind::invalid_argument,
                "Persistent::start: the last start is still under way; call wait() first");
  }
  wait();
  state_->caller->start(*state_);
}

bool Persistent::test() { return !state_->is_active || state_->request->test(); }

void Persistent::wait() {
  if (!state_->is_active) return;
  state_->request->finish();
  state_->is_active = false;
  if (state_->request->error) throw Error(*state_->request->error);
}

void Persistent::run() {
  wait();
  state_->caller->run(*state_);
}

}  // namespace hycoll
