// Steps of an executor with operands in the own memory of other processes.

#include <algorithm>

#include "threading/execution/executor.h"

namespace hycoll {

bool WorkerExecutor::is_remote(const Operand& operand) const {
  if (operand.index == worker_) return false;
  if (operand.role == BufferRole::input) return member_input(operand.index) == nullptr;
  return operand.role == BufferRole::output && member_output(operand.index) == nullptr;
}

bool WorkerExecutor::is_remote(const Instruction& instruction) const {
  if (memory_.addresses() == nullptr) return false;
  return std::ranges::any_of(operands(instruction),
                             [this](const Operand& operand) { return is_remote(operand); });
}

OperandPlace WorkerExecutor::place_of(const Operand& operand) const {
  if (!is_remote(operand)) return {.here = address(operand)};
  const Post& post = memory_.post(operand.index);
  // The post was acquired by a wait.
  const auto& buffer = operand.role == BufferRole::input ? post.input : post.output;
  return {.worker = operand.index,
          .announced = buffer.load(std::memory_order_relaxed),
          .offset_bytes = operand.offset_bytes};
}

void WorkerExecutor::issue_remote(const Instruction& instruction) {
  const auto all = operands(instruction);
  std::vector<OperandPlace> places;
  places.reserve(all.size());
  int lines_source = 0;
  for (const Operand& operand : all) {
    if (operand.role != BufferRole::lines) {
      places.push_back(place_of(operand));
      continue;
    }
    const std::byte* source = arrived_source(instruction, operand, lines_source++);
    places.push_back({.here = const_cast<std::byte*>(source)});  // a source: it is only read
  }
  const auto destinations = std::span(places).first(instruction.destination_count);
  const auto sources = std::span(places).subspan(instruction.destination_count);
  if (instruction.kind == InstructionKind::copy) {
    return remote_steps_.copy(*memory_.addresses(), destinations, sources.front(),
                              instruction.size_bytes);
  }
  // What is written here may be copied on from here.
  Instruction cached = instruction;
  cached.stores = Stores::cached;
  cached.streams_if_far = false;
  remote_steps_.reduce(*memory_.addresses(), destinations, sources, instruction.count,
                       instruction.size_bytes / instruction.count,
                       [&](std::span<void* const> near, std::span<const void* const> from,
                           std::size_t count) { combine(near, from, cached, count); });
}

}  // namespace hycoll
