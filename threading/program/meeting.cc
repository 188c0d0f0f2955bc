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

/// From the worker's input to its staging.
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

Program telling_others(int worker, int worker_count, int member_count, bool has_data) {
  Program program;
  program.number = take_program_numbers(1);
  program.flag_count = 1;
  StrandProgram& strand = program.strands.emplace_back();
  for (int copy = 0; copy < 1 + (has_data ? member_count : 0); ++copy) add_copy(program, worker);
  Instruction& told = strand.instructions.front();
  told.count = told.size_bytes = MemberBlocks::bytes_for(member_count);
  program.staging_bytes = told.size_bytes;
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

void tell(MemberBlocks& blocks, std::size_t most_data_bytes, Program& program) noexcept {
  std::size_t data_bytes = 0;
  for (const PairBlock& block : blocks.row()) {
    data_bytes += std::min(block.size_bytes, most_data_bytes + 1);
  }
  const bool has_data = data_bytes <= most_data_bytes && most_data_bytes > 0;
  blocks.complete(has_data);
  if (most_data_bytes == 0) return;
  std::size_t begin = blocks.size_bytes();
  for (std::size_t member = 0; member < blocks.row().size(); ++member) {
    const PairBlock& block = blocks.row()[member];
    Instruction& copy = program.strands.front().instructions[1 + member];
    copy.count = copy.size_bytes = has_data ? block.size_bytes : 0;
    program.operands[copy.first_operand].offset_bytes = begin;
    program.operands[copy.first_operand + 1].offset_bytes =
        static_cast<std::size_t>(block.offset_bytes);
    blocks.data_begins()[member] = static_cast<std::uint32_t>(begin);
    begin += copy.size_bytes;
  }
  program.staging_bytes = begin;
}

}  // namespace hycoll
