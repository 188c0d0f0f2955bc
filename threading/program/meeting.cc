#include "threading/program/meeting.h"

#include <cstdint>
#include <span>

namespace hycoll {
namespace {

void add_wait(StrandProgram& strand, InstructionKind kind, int worker) {
  Instruction& wait = strand.instructions.emplace_back(Instruction{.kind = kind});
  wait.worker = worker;
  if (kind == InstructionKind::wait_post) return;
  wait.cell = 0;
  wait.value = 1;
}

/// From the worker's input to its staging; tell() says what, and where to.
void add_copy(Program& program, int worker) {
  Instruction& copy =
      program.strands.front().instructions.emplace_back(Instruction{.kind = InstructionKind::copy});
  copy.destination_count = copy.source_count = 1;
  copy.first_operand = static_cast<std::uint32_t>(program.operands.size());
  for (const BufferRole role : {BufferRole::staging, BufferRole::input}) {
    program.operands.push_back({.role = role,
                                .index = static_cast<std::uint16_t>(worker),
                                .lines_buffer = 0,
                                .offset_bytes = 0});
  }
}

}  // namespace

Program arrival_of_others(int worker, int worker_count) {
  Program program;
  program.number = take_program_numbers(1);
  StrandProgram& strand = program.strands.emplace_back();
  for (int other = 0; other < worker_count; ++other) {
    if (other != worker) add_wait(strand, InstructionKind::wait_post, other);
  }
  return program;
}

Program telling_others(int worker, int worker_count, int member_count, const ToldBytes& bytes) {
  Program program;
  program.number = take_program_numbers(1);
  program.flag_count = 1;
  StrandProgram& strand = program.strands.emplace_back();
  const int copy_count = 1 + (bytes.most_data > 0 ? member_count : 0);
  for (int copy = 0; copy < copy_count; ++copy) add_copy(program, worker);
  Instruction signal{.kind = InstructionKind::signal};
  signal.worker = worker;
  signal.cell = 0;
  signal.value = 1;
  strand.instructions.push_back(signal);
  for (int other = 0; other < worker_count; ++other) {
    if (other == worker) continue;
    // Who makes another call has another signature in its post.
    add_wait(strand, InstructionKind::wait_post, other);
    add_wait(strand, InstructionKind::wait_flag, other);
  }
  return program;
}

void tell(MemberBlocks& blocks, const std::byte* origin, const ToldBytes& bytes,
          Program& program) noexcept {
  std::size_t data_bytes = 0;
  for (const PairBlock& block : blocks.row()) {
    data_bytes += std::min(block.size_bytes, bytes.most_data + 1);
  }
  const bool has_data = data_bytes <= bytes.most_data && bytes.most_data > 0;
  blocks.complete(has_data);
  Instruction* copy = program.strands.front().instructions.data();
  std::size_t begin = 0;
  const auto tell_next = [&](std::size_t source_offset, std::size_t size_bytes) {
    copy->count = copy->size_bytes = size_bytes;
    program.operands[copy->first_operand].offset_bytes = begin;
    program.operands[copy->first_operand + 1].offset_bytes = source_offset;
    begin += size_bytes;
    ++copy;
  };
  // Modulo 2^64: the two are in different objects.
  tell_next(
      reinterpret_cast<std::uintptr_t>(blocks.address()) - reinterpret_cast<std::uintptr_t>(origin),
      blocks.size_bytes());
  for (std::size_t member = 0; bytes.most_data > 0 && member < blocks.row().size(); ++member) {
    const PairBlock& block = blocks.row()[member];
    blocks.data_begins()[member] = static_cast<std::uint32_t>(begin);
    tell_next(static_cast<std::size_t>(block.offset_bytes), has_data ? block.size_bytes : 0);
  }
  program.staging_bytes = begin;
}

}  // namespace hycoll
