// Steps that reduce and copy, and where their operands lie.

#include "core/base/errors.h"
#include "threading/execution/executor.h"

namespace hycoll {

void WorkerExecutor::issue_reduce(const Instruction& instruction) {
  if (instruction.count == 0) return;  // it only waited for lines
  if (instruction.reaches_others && is_remote(instruction)) return issue_remote(instruction);
  const auto all = operands(instruction);
  const std::size_t destination_count = instruction.destination_count;
  for (std::size_t d = 0; d < destination_count; ++d) destination_addresses_[d] = address(all[d]);
  int lines_source = 0;
  for (std::size_t s = 0; s < instruction.source_count; ++s) {
    const Operand& operand = all[destination_count + s];
    source_addresses_[s] = operand.role == BufferRole::lines
                               ? arrived_source(instruction, operand, lines_source++)
                               : address(operand);
  }
  const std::span<void* const> destinations(destination_addresses_.data(), destination_count);
  const std::span<const void* const> sources(source_addresses_.data(), instruction.source_count);
  combine(destinations, sources, instruction, instruction.count);
}

void WorkerExecutor::combine(std::span<void* const> destinations,
                             std::span<const void* const> sources, const Instruction& instruction,
                             std::size_t count) {
  try {
    if (tasks_ != nullptr && instruction.size_bytes >= TaskKernels::kMinimumBytes) {
      tasks_->reduce(arguments_.reducer, destinations, sources, count,
                     instruction.size_bytes / instruction.count, stores_of(instruction));
    } else {
      arguments_.reducer(destinations, sources, count, stores_of(instruction));
    }
  } catch (const Error& error) {
    // The schedule goes on: others wait for its messages and signals. See NodeMemory.
    const int slot = worker_ < options_.member_count ? worker_ : 0;
    memory_.record_operator_failure(slot, rank_of(slot), named_call(), error);
  }
}

void WorkerExecutor::issue_copy(const Instruction& instruction) {
  if (instruction.count == 0) return;  // it only waited for lines
  if (instruction.row_count > 1) return copy_row(instruction);
  if (instruction.reaches_others && is_remote(instruction)) return issue_remote(instruction);
  const auto all = operands(instruction);
  const std::size_t destination_count = instruction.destination_count;
  for (std::size_t d = 0; d < destination_count; ++d) destination_addresses_[d] = address(all[d]);
  const std::span<void* const> destinations(destination_addresses_.data(), destination_count);
  const Operand& operand = all[destination_count];
  const std::byte* source = operand.role == BufferRole::lines
                                ? arrived_source(instruction, operand, 0)
                                : address(operand);
  copy(destinations, source, instruction.size_bytes, instruction);
}

inline void WorkerExecutor::copy(std::span<void* const> destinations, const std::byte* source,
                                 std::size_t size_bytes, const Instruction& instruction) {
  if (tasks_ != nullptr && size_bytes >= TaskKernels::kMinimumBytes) {
    tasks_->copy(destinations, source, size_bytes, stores_of(instruction));
  } else {
    copy_kernel(destinations, source, size_bytes, stores_of(instruction));
  }
}

void WorkerExecutor::copy_row(const Instruction& instruction) {
  const auto all = operands(instruction);
  const std::size_t block_bytes = instruction.size_bytes / instruction.row_count;
  const bool may_be_remote = instruction.reaches_others && memory_.addresses() != nullptr;
  Operand destination = all[0];
  Operand source = all[1];
  for (int block = 0; block < instruction.row_count; ++block) {
    if (may_be_remote && (is_remote(destination) || is_remote(source))) {
      const OperandPlace to = place_of(destination);
      remote_steps_.copy(*memory_.addresses(), std::span(&to, 1), place_of(source), block_bytes);
    } else {
      void* const to = address(destination);
      copy(std::span(&to, 1), address(source), block_bytes, instruction);
    }
    destination.offset_bytes += block_bytes;
    ++source.index;
  }
}

std::byte* WorkerExecutor::member_input(int member) const {
  if (member == worker_) return own_input();
  // The post was acquired by a wait.
  return memory_.resolve(member, memory_.post(member).input.load(std::memory_order_relaxed));
}

std::byte* WorkerExecutor::member_output(int member) const {
  if (member == worker_) return static_cast<std::byte*>(arguments_.output);
  return memory_.resolve(member, memory_.post(member).output.load(std::memory_order_relaxed));
}

std::byte* WorkerExecutor::address_elsewhere(const Operand& operand) const {
  switch (operand.role) {
    case BufferRole::input:
      return member_input(operand.index) + operand.offset_bytes;
    case BufferRole::output:
      return member_output(operand.index) + operand.offset_bytes;
    case BufferRole::scratch:
      return scratch_.data() + operand.offset_bytes;
    case BufferRole::staging:
      return memory_.further(operand.index).data() + staging_begin_ + operand.offset_bytes;
    case BufferRole::lines:
    case BufferRole::stream:
      break;
  }
  HYCOLL_ASSERT(false, "lines and streams are read and written through their own instructions");
}

}  // namespace hycoll
