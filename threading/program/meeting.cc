#include "threading/program/meeting.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>

namespace hycoll {
namespace {

/// A row without data: others read no more of it, and there may be more members than lines can
/// name.
constexpr std::size_t kBareRowBytes = sizeof(ToldData);

StrandProgram& begin(Program& program) {
  program.number = take_program_numbers(1);
  return program.strands.emplace_back();
}

void add_wait(StrandProgram& strand, InstructionKind kind, int worker) {
  Instruction& wait = strand.instructions.emplace_back(Instruction{.kind = kind});
  wait.worker = worker;
  if (kind == InstructionKind::wait_line) wait.cell = TellingMeeting::kLinesBuffer;
}

/// From the worker's input to what it writes; TellingMeeting::tell() says which part, and where to.
Instruction& add_move(Program& program, InstructionKind kind, BufferRole destination, int worker) {
  Instruction& move = program.strands.front().instructions.emplace_back(Instruction{.kind = kind});
  move.destination_count = move.source_count = 1;
  move.first_operand = static_cast<std::uint32_t>(program.operands.size());
  for (const BufferRole role : {destination, BufferRole::input}) {
    program.operands.push_back({.role = role,
                                .index = static_cast<std::uint16_t>(worker),
                                .lines_buffer = TellingMeeting::kLinesBuffer,
                                .offset_bytes = 0});
  }
  return move;
}

/// Modulo 2^64: the two are in different objects.
std::size_t distance(const std::byte* address, const std::byte* origin) noexcept {
  return reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(origin);
}

}  // namespace

Program arrival_of_others(int worker, int worker_count) {
  Program program;
  StrandProgram& strand = begin(program);
  for (int other = 0; other < worker_count; ++other) {
    if (other != worker) add_wait(strand, InstructionKind::wait_post, other);
  }
  return program;
}

TellingMeeting::TellingMeeting(int worker, int worker_count, int member_count,
                               const ToldBytes& bytes)
    : worker_(worker),
      worker_count_(worker_count),
      member_count_(member_count),
      bytes_(bytes),
      row_(bytes.data > 0 ? row_begin_bytes(member_count) + bytes.data_in_lines : kBareRowBytes),
      brief_(program_with(0)),
      staging_data_(program_with(bytes.data > 0 ? member_count : 0)) {}

Program TellingMeeting::program_with(int data_copies) const {
  Program program;
  program.is_looked_up = false;
  StrandProgram& strand = begin(program);
  for (int copy = 0; copy < 1 + data_copies; ++copy) {
    add_move(program, InstructionKind::copy, BufferRole::staging, worker_);
  }
  add_move(program, InstructionKind::write_lines, BufferRole::lines, worker_).first_line_last =
      true;
  for (int other = 0; other < worker_count_; ++other) {
    if (other != worker_) add_wait(strand, InstructionKind::wait_line, other);
  }
  return program;
}

ToldData TellingMeeting::place_for(MemberBlocks& blocks) const noexcept {
  if (bytes_.data == 0) return ToldData::nowhere;
  std::size_t data_bytes = 0;
  for (int member = 0; member < member_count_; ++member) {
    if (member == worker_) continue;  // it has its own
    data_bytes +=
        std::min(blocks.row()[static_cast<std::size_t>(member)].size_bytes, bytes_.data + 1);
  }
  if (data_bytes <= bytes_.data_in_lines) return ToldData::in_lines;
  return data_bytes <= bytes_.data ? ToldData::in_staging : ToldData::nowhere;
}

const Program& TellingMeeting::tell(MemberBlocks& blocks, const std::byte* origin) noexcept {
  blocks.complete();
  data_ = place_for(blocks);
  Program& program = data_ == ToldData::in_staging ? staging_data_ : brief_;
  Instruction* move = program.strands.front().instructions.data();
  const auto move_next = [&](std::size_t source, std::size_t destination, std::size_t size_bytes) {
    move->count = move->size_bytes = size_bytes;
    program.operands[move->first_operand].offset_bytes = destination;
    program.operands[move->first_operand + 1].offset_bytes = source;
    ++move;
  };
  move_next(distance(blocks.address(), origin), 0, bytes_.blocks);
  auto* const row = reinterpret_cast<std::uint32_t*>(row_.data());
  row[0] = static_cast<std::uint32_t>(data_);
  std::size_t told_bytes = kBareRowBytes;
  if (data_ != ToldData::nowhere) {
    told_bytes = row_begin_bytes(member_count_);
    std::size_t begin = 0;
    for (int member = 0; member < member_count_; ++member) {
      const PairBlock& block = blocks.row()[static_cast<std::size_t>(member)];
      const std::size_t size_bytes = member == worker_ ? 0 : block.size_bytes;
      row[member + 1] = static_cast<std::uint32_t>(begin);
      if (data_ == ToldData::in_staging) {
        move_next(static_cast<std::size_t>(block.offset_bytes), bytes_.blocks + begin, size_bytes);
      } else if (size_bytes > 0) {
        std::memcpy(row_.data() + told_bytes + begin, origin + block.offset_bytes, size_bytes);
      }
      begin += size_bytes;
    }
    row[member_count_ + 1] = static_cast<std::uint32_t>(begin);
    if (data_ == ToldData::in_lines) told_bytes += begin;
  }
  program.staging_bytes =
      bytes_.blocks + (data_ == ToldData::in_staging ? row[member_count_ + 1] : 0);
  move_next(distance(row_.data(), origin), 0, told_bytes);
  return program;
}

void TellingMeeting::read_data(const ToldRow& row, const std::byte* staging, int member,
                               std::byte* destination, std::size_t size_bytes) const noexcept {
  const std::size_t begin = row.begin_for(member);
  if (row.data() == ToldData::in_lines) {
    read_payload(row.lines(), row_begin_bytes(member_count_) + begin, destination, size_bytes);
  } else if (size_bytes > 0) {
    std::memcpy(destination, staging + bytes_.blocks + begin, size_bytes);
  }
}

}  // namespace hycoll
