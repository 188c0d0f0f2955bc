// What an executor tells observers.

#include <utility>
#include <vector>

#include "core/base/collective_traits.h"
#include "core/base/ticks.h"
#include "threading/execution/executor.h"
#include "threading/observing/call_site.h"

namespace hycoll {
namespace {

int kind_of(const Instruction& instruction) {
  switch (instruction.kind) {
    case InstructionKind::send:
      return HYCOLL_STEP_SEND;
    case InstructionKind::receive:
      return HYCOLL_STEP_RECEIVE;
    case InstructionKind::native:
      return HYCOLL_STEP_NATIVE;
    case InstructionKind::reduce:
      return HYCOLL_STEP_REDUCE;
    case InstructionKind::copy:
      return HYCOLL_STEP_COPY;
    case InstructionKind::write_lines:
      return HYCOLL_STEP_WRITE_LINES;
    case InstructionKind::write_stream:
      return HYCOLL_STEP_WRITE_STREAM;
    case InstructionKind::read_stream:
      return HYCOLL_STEP_READ_STREAM;
    case InstructionKind::signal:
    case InstructionKind::left_out:
      return HYCOLL_STEP_SIGNAL;
    case InstructionKind::wait_flag:
    case InstructionKind::wait_post:
    case InstructionKind::wait_line:
    case InstructionKind::follow_post:
      break;
  }
  return HYCOLL_STEP_WAIT;
}

/// 0 if it is not known.
std::uint64_t element_bytes_of(const CallSignature& signature) {
  if (!combines(signature.collective)) return 1;
  if (signature.element_bytes > 0) return signature.element_bytes;
  if (signature.type_code >= kDataTypeCount) return 0;
  return size_of(static_cast<DataType>(signature.type_code));
}

}  // namespace

struct WorkerExecutor::ObservedState {
  struct Strand {
    std::uint64_t waiting_since = 0;             // 0: it does not wait
    std::vector<hycoll_observed_step> messages;  // by request
  };

  Strand& strand(const StrandState& state, const StrandState* first) {
    return strands[static_cast<std::size_t>(&state - first)];
  }

  hycoll_observed_run run{};
  bool is_under_way = false;
  bool has_begun_now = false;  // the run, without a turn yet
  /// When the last step ended, or the turn began. One step begins where another ends: so each costs
  /// one look at the clock.
  std::uint64_t now = 0;
  std::vector<Strand> strands;
};

WorkerExecutor::~WorkerExecutor() = default;

void WorkerExecutor::observe_begin() {
  if (observed_ == nullptr) observed_ = std::make_unique<ObservedState>();
  const CallSignature signature = CallSignature::unpack(arguments_.signature);
  observed_->run = {.worker = options_.observation.worker,
                    .communicator = options_.observation.communicator,
                    .call = named_call(),
                    .collective = signature.is_barrier() ? "barrier" : collective_name().data(),
                    .algorithm = program_->algorithm,
                    .count = signature.count,
                    .bytes = signature.count * element_bytes_of(signature),
                    .rank = rank_of(worker_ < options_.member_count ? worker_ : 0),
                    .index = worker_,
                    .has_member = worker_ < options_.member_count ? 1 : 0,
                    .call_site = arguments_.is_blocking ? CallSite::here() : nullptr,
                    .began = ticks(),
                    .ended = 0};
  observed_->strands.resize(program_->strands.size());
  for (std::size_t s = 0; s < observed_->strands.size(); ++s) {
    observed_->strands[s].waiting_since = 0;
    observed_->strands[s].messages.resize(
        static_cast<std::size_t>(program_->strands[s].request_count));
  }
  observed_->now = observed_->run.began;
  observed_->is_under_way = observed_->has_begun_now = true;
  options_.observation.by->run_begins(observed_->run);
}

void WorkerExecutor::observe_end(bool failed) {
  if (observed_ == nullptr || !std::exchange(observed_->is_under_way, false)) return;
  observed_->run.ended = failed ? ticks() : observed_->now;
  options_.observation.by->run_ends(observed_->run, failed);
}

void WorkerExecutor::observe_turn() {
  if (!std::exchange(observed_->has_begun_now, false)) observed_->now = ticks();
}

void WorkerExecutor::observe_wait(const StrandState& state) {
  std::uint64_t& since = observed_->strand(state, strands_.data()).waiting_since;
  if (since == 0) since = observed_->now;
}

void WorkerExecutor::observe_step(StrandState& state, const Instruction& instruction) {
  ObservedState::Strand& strand = observed_->strand(state, strands_.data());
  const std::uint64_t since = std::exchange(strand.waiting_since, 0);
  const int kind = kind_of(instruction);
  const bool does_nothing =
      instruction.kind == InstructionKind::left_out || (kind == HYCOLL_STEP_WAIT && since == 0);
  if (does_nothing) return;
  const std::uint64_t began = std::exchange(observed_->now, ticks());
  const bool is_message = instruction.request >= 0;
  const int awaited = since == 0 ? -1 : awaited_worker(state, instruction);
  const hycoll_observed_step step = {.kind = kind,
                                     .strand = static_cast<int>(&state - strands_.data()),
                                     .peer = is_message ? instruction.peer : awaited,
                                     .lane = instruction.lane,
                                     .bytes = instruction.size_bytes,
                                     .began_waiting = since == 0 ? began : since,
                                     .began_working = began,
                                     .ended = observed_->now};
  if (is_message) strand.messages[static_cast<std::size_t>(instruction.request)] = step;
  options_.observation.by->step_ends(observed_->run, step);
}

void WorkerExecutor::observe_message_end(const StrandState& state, int request) {
  ObservedState::Strand& strand = observed_->strand(state, strands_.data());
  hycoll_observed_step& message = strand.messages[static_cast<std::size_t>(request)];
  message.ended = observed_->now = ticks();
  options_.observation.by->message_ends(observed_->run, message);
}

}  // namespace hycoll
