#include "collectives/calls/caller.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "collectives/runs/arguments.h"
#include "collectives/runs/run_arguments.h"
#include "collectives/runs/work_buffers.h"
#include "core/base/collective_traits.h"
#include "core/base/errors.h"

namespace hycoll {
namespace {

int root_of(const Call& call) { return has_root(call.collective) ? call.root : 0; }

}  // namespace

CallSignature Caller::signature_of(const Call& call, const Reduction& reduction) const {
  CallSignature signature{.count = call.count,
                          .collective = call.collective,
                          .type_code = reduction.type_code,
                          .op_code = reduction.operator_code,
                          .is_reproducible = call.bits == Bits::reproducible};
  if (reduction.type_code == ElementType::kDerivedCode) {
    signature.element_bytes = static_cast<std::uint32_t>(reduction.element_bytes);
  }
  const bool has_counts = has_blocks(call.collective) && !call.block_counts.empty();
  signature.detail = CallSignature::detail_of(
      has_counts ? call.block_counts : std::span<const std::size_t>(), root_of(call));
  return signature;
}

PlanQuery Caller::query_for(const Call& call, const Reduction& reduction) const {
  PlanQuery query{.collective = call.collective,
                  .element_bytes = reduction.element_bytes,
                  .extent = {.count = call.count, .block_counts = call.block_counts}};
  query.root = root_of(call);
  if (!reduction.is_commutative) query.order = OperandOrder::by_rank;
  if (call.bits == Bits::reproducible || identity_.bits == Bits::reproducible) {
    query.order = OperandOrder::canonical;
  }
  if (!reduction.data_type) query.native = NativeReduction::impossible;
  return query;
}

PlanQuery Caller::movement_query(const Call& call, const VectorElements& elements) {
  block_bytes_.clear();
  if (has_blocks(call.collective)) {
    for (const std::size_t count : call.block_counts) {
      block_bytes_.push_back(count * elements.element_bytes);
    }
  }
  return {.collective = call.collective,
          .root = root_of(call),
          .element_bytes = 1,
          .extent = {.count = call.count * elements.element_bytes, .block_counts = block_bytes_}};
}

PreparedCall Caller::resolve(const Call& call) {
  if (has_unequal_pairs(call)) return resolve_unequal_pairs(call);
  return combines(call.collective) ? resolve_reduction_call(call) : resolve_movement(call);
}

PreparedCall Caller::resolve_reduction_call(const Call& call) {
  const Reduction& reduction = reductions_.find(call.type, call.op, name_of(call.collective));
  const CallBuffers buffers =
      check_buffers(call, reduction, identity_.rank, identity_.member_count, identity_.overlaps);
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
    auto work = std::make_unique<WorkBuffers>(call, reduction, buffers);
    prepared.arguments.input = work->input();
    prepared.arguments.output = work->output();
    prepared.work = std::move(work);
  }
  return prepared;
}

PreparedCall Caller::resolve_movement(const Call& given) {
  const VectorElements& elements = moved_.find(given.type, name_of(given.collective));
  const CallBuffers buffers =
      check_buffers(given, elements, identity_.rank, identity_.member_count, identity_.overlaps);
  Call call = given;
  if (buffers.input_offset != 0) {
    call.input = elements.address_of(given.input, buffers.input_offset);
  }
  if (buffers.output_offset != 0) {
    call.output = elements.address_of(given.output, buffers.output_offset);
  }
  const PlanQuery query = movement_query(call, elements);
  PreparedCall prepared{.query = query,
                        .arguments = {.input = buffers.input_count > 0 ? call.input : nullptr,
                                      .output = buffers.output_count > 0 ? call.output : nullptr,
                                      .reducer = {},
                                      .signature = movement_signature(query).packed()},
                        .is_custom = false,
                        .foreign_owner = nullptr,
                        .work = nullptr,
                        .buffers = buffers};
  if (longest_block(query.extent) == 0) {
    use_token(prepared);
  } else if (elements.staging != nullptr || buffers.needs_own_output || buffers.is_displaced) {
    auto work = std::make_unique<WorkBuffers>(call, elements, buffers);
    prepared.arguments.input = work->input();
    prepared.arguments.output = work->output();
    prepared.work = std::move(work);
  }
  return prepared;
}

void Caller::find_plan(PreparedCall& prepared) {
  const Plan& found = plans_.find(prepared.query);
  if (plans_.has_evicted()) {
    forget_repeatable();
    pairs_plan_ = {};
  }
  prepared.plan = prepared.pairs != nullptr ? plan_of_pairs(found, prepared) : PlanPointer(&found);
}

template <class Prepare>
auto Caller::as_next(const Prepare& prepare) {
  try {
    return prepare();
  } catch (const std::exception&) {
    // The others wait for this member at the gate. Elsewhere nothing has happened.
    if (identity_.gate != nullptr) {
      identity_.gate->enter(++call_, identity_.rank, std::nullopt);
      leave_gate(call_);
    }
    throw;
  }
}

PreparedCall Caller::make_next(const Call& call, Waiting waiting) {
  return as_next([&] {
    PreparedCall prepared = resolve(call);
    find_plan(prepared);
    provide_for(*prepared.plan, waiting);
    if (prepared.query.has_unequal_pairs && identity_.gate != nullptr &&
        waiting == Waiting::allowed) {
      compare_pairs(*prepared.plan->pairs);
    }
    enter(prepared.arguments);
    return prepared;
  });
}

void Caller::enter(CallArguments& arguments, CallNumber number_count) {
  const CallNumber next = call_ + 1;
  if (identity_.gate != nullptr) identity_.gate->enter(next, identity_.rank, arguments.signature);
  arguments.call = next;
  call_ += number_count;
}

void Caller::take_back(CallNumber call) {
  retract(call);
  if (identity_.gate != nullptr) return leave_gate(call);
  call_ = call - 1;
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

PlanQuery Caller::agreement_query() {
  return {.element_bytes = sizeof(std::uint64_t), .extent = {.count = 1}};
}

CallArguments Caller::agreement_into(std::uint64_t& mark) const {
  const CallSignature signature{.count = 1,
                                .type_code = static_cast<std::uint8_t>(DataType::uint64),
                                .op_code = static_cast<std::uint8_t>(Operator::max)};
  return {.input = memory_.operator_failure_mark(identity_.slot),
          .output = &mark,
          .type = DataType::uint64,
          .op = Operator::max,
          .reducer = {.kernel = reduce_kernel(Operator::max, DataType::uint64)},
          .signature = signature.packed()};
}

void Caller::throw_if_operator_failed(std::uint64_t mark, CallNumber first, CallNumber last) const {
  const CallNumber call = failed_call_of(mark);
  if (call < first || call > last) return;
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

std::optional<RunFailure> Caller::execute_announced(const Plan& plan,
                                                    const CallArguments& arguments) {
  try {
    execute(announced(plan, arguments), arguments);
    return std::nullopt;
  } catch (const RunFailure& failure) {
    if (!goes_on(failure)) retract(arguments.call);
    return failure;
  } catch (const std::exception&) {
    take_back(arguments.call);
    throw;
  }
}

void Caller::execute_like(const Plan& plan, const CallArguments& like, CallNumber call,
                          const void* input, void* output) {
  execute(plan, as_like(like, call, input, output));
}

bool Caller::is_repeatable(const Call& call, const PreparedCall& prepared) {
  // A derived type may be gone by the next call, and another one may have its handle.
  const bool lasts =
      combines(call.collective) ? prepared.arguments.reducer.kernel != nullptr : moved_.lasts();
  return lasts && prepared.work == nullptr && call.block_counts.empty() &&
         identity_.gate == nullptr && identity_.announcer == nullptr;
}

void Caller::run(const Call& call) {
  const RepeatableCall& like = repeatable_.place_of(call);
  if (like.is_like(call)) return repeat(like, call);
  if (const auto runs = as_next([&] { return entered(several_runs(call), Waiting::allowed); })) {
    return run(*runs);
  }
  run_whole(call);
}

inline void Caller::repeat(const RepeatableCall& like, const Call& call) {
  const CallNumber number = ++call_;
  try {
    execute_like(like.plan(), like.arguments(), number, like.input_of(call), like.output_of(call));
  } catch (const RunFailure&) {
    throw;  // the call has been made
  } catch (const std::exception&) {
    take_back(number);
    throw;
  }
}

void Caller::run_whole(const Call& call) {
  PreparedCall prepared = make_next(call, Waiting::allowed);
  prepared.arguments.is_blocking = true;
  pass_gate(prepared.arguments.call);
  if (is_repeatable(call, prepared)) {
    repeatable_.place_of(call).remember(call, prepared, *prepared.plan);
  }
  if (prepared.work != nullptr) prepared.work->copy_in();
  const std::optional<RunFailure> failure = execute_announced(*prepared.plan, prepared.arguments);
  if (prepared.work != nullptr && has_results(failure)) prepared.work->deliver();
  if (failure) throw RunFailure(*failure);
}

void Caller::begin(const Plan& plan, const CallArguments& arguments, Request::State& state) {
  state.caller = this;
  state.call = arguments.call;
  state.plan = &plan;
  state.is_complete = false;
  state.error.reset();
  state.deferred = nullptr;
  try {
    announced(plan, arguments);
    if (CallGate* const gate = identity_.gate) {
      state.job = submit(plan, arguments, [gate, call = arguments.call] { gate->pass(call); });
      return;
    }
    state.deferred = defer(plan, arguments, state.outcome);
    if (state.deferred == nullptr) state.job = submit(plan, arguments, {});
  } catch (const std::exception&) {
    take_back(arguments.call);
    throw;
  }
}

void Caller::begin(CallRuns& runs, Request::State& state) {
  state.caller = this;
  state.runs = &runs;
  state.is_complete = false;
  state.error.reset();
  state.job = begin(runs, Blocking::no);
}

std::unique_ptr<Request::State> Caller::start(const Call& call) {
  auto state = std::make_unique<Request::State>();
  state->own_runs = as_next([&] { return entered(several_runs(call), Waiting::forbidden); });
  if (state->own_runs != nullptr) {
    begin(*state->own_runs, *state);
    return state;
  }
  PreparedCall prepared = make_next(call, Waiting::forbidden);
  state->foreign_owner = std::move(prepared.foreign_owner);
  state->work = std::move(prepared.work);
  if (state->work != nullptr) state->work->copy_in();
  begin(*prepared.plan, prepared.arguments, *state);
  return state;
}

KeptCall::KeptCall(const Call& call)
    : call_(call),
      block_counts_(call.block_counts.begin(), call.block_counts.end()),
      displacements_(call.displacements.begin(), call.displacements.end()),
      received_counts_(call.received_counts.begin(), call.received_counts.end()),
      received_displacements_(call.received_displacements.begin(),
                              call.received_displacements.end()),
      block_types_(call.block_types.begin(), call.block_types.end()),
      received_types_(call.received_types.begin(), call.received_types.end()) {
  call_.block_counts = block_counts_;
  call_.displacements = displacements_;
  call_.received_counts = received_counts_;
  call_.received_displacements = received_displacements_;
  call_.block_types = block_types_;
  call_.received_types = received_types_;
}

std::unique_ptr<Persistent::State> Caller::prepare(const Call& call) {
  auto state = std::make_unique<Persistent::State>(call);
  state->caller = this;
  state->runs = long_call(state->kept.call());
  if (state->runs != nullptr) {
    state->request = std::make_unique<Request::State>();
    return state;
  }
  PreparedCall prepared = resolve(state->kept.call());
  find_plan(prepared);
  if (!prepared.is_custom && prepared.work == nullptr) {
    state->plan = std::move(prepared.plan);
    state->arguments = prepared.arguments;
    state->foreign_owner = std::move(prepared.foreign_owner);
    state->request = std::make_unique<Request::State>();
  }
  return state;
}

void Caller::start(Persistent::State& persistent) {
  if (persistent.runs != nullptr) {
    enter(*persistent.runs, Waiting::forbidden);
    begin(*persistent.runs, *persistent.request);
  } else if (persistent.plan == nullptr) {
    persistent.request = start(persistent.kept.call());
  } else {
    provide_for(*persistent.plan, Waiting::forbidden);
    enter(persistent.arguments);
    begin(*persistent.plan, persistent.arguments, *persistent.request);
  }
  persistent.is_active = true;
}

void Caller::run(Persistent::State& persistent) {
  if (persistent.runs != nullptr) {
    enter(*persistent.runs, Waiting::allowed);
    return run(*persistent.runs);
  }
  if (persistent.plan == nullptr) return run(persistent.kept.call());
  provide_for(*persistent.plan, Waiting::allowed);
  enter(persistent.arguments);
  pass_gate(persistent.arguments.call);
  CallArguments arguments = persistent.arguments;
  arguments.is_blocking = true;
  const std::optional<RunFailure> failure = execute_announced(*persistent.plan, arguments);
  if (failure) throw RunFailure(*failure);
}

SelectedPlan Caller::choice(const Call& call) {
  const std::string_view name = name_of(call.collective);
  PlanQuery query = combines(call.collective)
                        ? query_for(call, reductions_.find(call.type, call.op, name))
                        : movement_query(call, moved_.find(call.type, name));
  if (has_unequal_pairs(call)) {
    query = unequal_pairs_query();
  } else if (longest_block(query.extent) == 0) {
    query = {.element_bytes = sizeof(token_), .extent = {.count = 1}};
  }
  return plan_cache_.select(query);
}

}  // namespace hycoll
