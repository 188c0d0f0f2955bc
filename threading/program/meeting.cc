#include "threading/program/meeting.h"

namespace hycoll {
namespace {

void add_wait(StrandProgram& strand, InstructionKind kind, int worker) {
  Instruction& wait = strand.instructions.emplace_back(Instruction{.kind = kind});
  wait.worker = worker;
  if (kind == InstructionKind::wait_post) return;
  wait.cell = 0;
  wait.value = 1;
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

Program telling_others(int worker, int worker_count, std::size_t size_bytes) {
  Program program;
  program.number = take_program_numbers(1);
  program.flag_count = 1;
  program.staging_bytes = size_bytes;
  const auto index = static_cast<std::uint16_t>(worker);
  program.operands = {{.role = BufferRole::staging, .index = index, .lines_buffer = 0, .offset_bytes = 0},
                      {.role = BufferRole::input, .index = index, .lines_buffer = 0, .offset_bytes = 0}};
  StrandProgram& strand = program.strands.emplace_back();
  Instruction copy{.kind = InstructionKind::copy};
  copy.destination_count = copy.source_count = 1;
  copy.count = copy.size_bytes = size_bytes;
  strand.instructions.push_back(copy);
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

}  // namespace hycoll
