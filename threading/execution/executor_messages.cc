// What an executor says of a run that fails or waits.

#include <fmt/format.h>

#include "core/base/errors.h"
#include "threading/execution/executor.h"

namespace hycoll {

void WorkerExecutor::throw_mismatch(int worker, const PackedSignature& theirs) {
  if (theirs == arguments_.signature) {
    throw Error(ErrorKind::mismatch,
                fmt::format("call {}: rank {} and rank {} both passed {}, but on different "
                            "communicators. Processes that several communicators have in common "
                            "must make their calls on them in the same order",
                            named_call(), rank_of(worker_), rank_of(worker),
                            CallSignature::unpack(theirs).describe()));
  }
  throw Error(ErrorKind::mismatch,
              fmt::format("call {}: rank {} passed {}, but rank {} passed {}. Every member must "
                          "make the same call with the same count, type, operator and root",
                          named_call(), rank_of(worker_),
                          CallSignature::unpack(arguments_.signature).describe(), rank_of(worker),
                          CallSignature::unpack(theirs).describe()));
}

std::string_view WorkerExecutor::collective_name() const {
  return name_of(CallSignature::unpack(arguments_.signature).collective);
}

int WorkerExecutor::awaited_worker(const StrandState& state, const Instruction& instruction) const {
  if (instruction.kind == InstructionKind::read_stream) return operands(instruction).back().index;
  if (instruction.lines_source_count == 0) return instruction.worker;
  int lines_source = 0;
  for (const Operand& operand : operands(instruction).subspan(instruction.destination_count)) {
    if (operand.role != BufferRole::lines) continue;
    if (lines_source++ == state.lines_sources_read) return operand.index;
  }
  return -1;
}

void WorkerExecutor::look_for_ended_process() {
  if (!options_.ended_process) return;
  const std::string ended = options_.ended_process();
  if (ended.empty()) return;
  options_.on_ended_process(
      fmt::format("hycoll: {} has ended before its time, in or before {} (call {}): {}", ended,
                  collective_name(), named_call(), describe_wait()));
}

void WorkerExecutor::end_with_peer(const PeerEnded& ended) {
  if (!options_.on_ended_process) return;
  options_.on_ended_process(
      fmt::format("hycoll: in {} (call {}): {}.", collective_name(), named_call(), ended.what()));
}

std::string WorkerExecutor::describe_wait() const {
  if (failure_) {
    return fmt::format("{} has failed, and waits until nobody uses its buffers any more: {};{}",
                       describe_worker(worker_), failure_->what(), describe_messages());
  }
  std::string awaited;
  for (std::size_t s = 0; s < strands_.size(); ++s) {
    const auto& instructions = program_->strands[s].instructions;
    if (strands_[s].next >= instructions.size()) continue;
    const int worker = awaited_worker(strands_[s], instructions[strands_[s].next]);
    if (worker < 0) continue;
    awaited += fmt::format("{}{}", awaited.empty() ? " for " : ", ", describe_worker(worker));
  }
  std::string text = fmt::format("{} waits{};", describe_worker(worker_), awaited);
  for (int worker = 0; worker < memory_.worker_count(); ++worker) {
    const CallNumber call = memory_.post(worker).call.load(std::memory_order_relaxed);
    if (call < arguments_.call) {
      text += fmt::format(" {} has not arrived", describe_worker(worker));
      // Where runs have numbers of their own, those mean nothing to the user.
      if (arguments_.member_call == 0) text += fmt::format(" (its last call was {})", call);
      const std::string instead = options_.whereabouts ? options_.whereabouts(worker) : "";
      if (!instead.empty()) text += " and " + instead;
      text += ';';
    }
  }
  return text + describe_messages();
}

std::string WorkerExecutor::describe_worker(int worker) const {
  if (worker < options_.member_count) return fmt::format("rank {}", rank_of(worker));
  return options_.member_count > 0 ? fmt::format("worker {} of rank {}", worker, rank_of(0))
                                   : fmt::format("worker {} of the aggregator", worker);
}

std::string WorkerExecutor::describe_messages() const {
  std::string text;
  if (taken_up_ != number_) return text;
  for (std::size_t s = 0; s < strands_.size(); ++s) {
    for (const Instruction& instruction : program_->strands[s].instructions) {
      if (instruction.request < 0) continue;
      const Endpoint* endpoint = strands_[s].pending[static_cast<std::size_t>(instruction.request)];
      if (endpoint == nullptr || instruction.peer < 0) continue;
      text += fmt::format(" {} lane {} with {};",
                          instruction.kind == InstructionKind::send ? "sends on" : "receives on",
                          instruction.lane, endpoint->describe_peer(instruction.peer));
    }
  }
  return text;
}

}  // namespace hycoll
