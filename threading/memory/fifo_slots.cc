#include "threading/memory/fifo_slots.h"

#include <cstring>
#include <new>
#include <utility>

#include "core/base/errors.h"

namespace hycoll {

FifoSlots::FifoSlots(std::span<std::byte> block, int participant_count, FifoExtent extent)
    : block_(block.data()), participant_count_(participant_count), extent_(extent) {
  HYCOLL_ASSERT(participant_count >= 1 && extent.slot_count >= 1, "a FIFO has users and slots");
  HYCOLL_ASSERT(std::cmp_less_equal(participant_count, kTurn), "a turn holds the writer's number");
  HYCOLL_ASSERT(block.size() >= block_bytes(participant_count, extent), "the block holds all");
}

std::size_t FifoSlots::slot_stride_bytes(FifoExtent extent) noexcept {
  const std::size_t used_bytes = sizeof(SlotHeader) + extent.slot_bytes;
  return (used_bytes + kSeparationBytes - 1) / kSeparationBytes * kSeparationBytes;
}

std::size_t FifoSlots::block_bytes(int participant_count, FifoExtent extent) noexcept {
  return sizeof(Tail) + static_cast<std::size_t>(participant_count) * sizeof(Cell) +
         extent.slot_count * slot_stride_bytes(extent);
}

FifoSlots::Tail& FifoSlots::tail() const noexcept {
  return *std::launder(reinterpret_cast<Tail*>(block_));
}

FifoSlots::Cell& FifoSlots::cell(int participant) const noexcept {
  std::byte* const cells = block_ + sizeof(Tail);
  return *std::launder(
      reinterpret_cast<Cell*>(cells + static_cast<std::size_t>(participant) * sizeof(Cell)));
}

std::byte* FifoSlots::slot(Ticket ticket) const noexcept {
  const std::size_t cells_bytes = static_cast<std::size_t>(participant_count_) * sizeof(Cell);
  return block_ + sizeof(Tail) + cells_bytes +
         ticket % extent_.slot_count * slot_stride_bytes(extent_);
}

FifoSlots::SlotHeader& FifoSlots::header(Ticket ticket) const noexcept {
  return *std::launder(reinterpret_cast<SlotHeader*>(slot(ticket)));
}

FifoSlots::Ticket FifoSlots::reserve(int participant) noexcept {
  // Only the participant itself uses its cell. The tail gives every ticket once and orders nothing.
  std::atomic<Ticket>& reserved = cell(participant).reserved;
  if (const Ticket known = reserved.load(std::memory_order_relaxed); known != 0) return known - 1;
  const Ticket ticket = tail().next.fetch_add(1, std::memory_order_relaxed);
  reserved.store(ticket + 1, std::memory_order_relaxed);
  return ticket;
}

bool FifoSlots::has_reserved(int participant) const noexcept {
  return cell(participant).reserved.load(std::memory_order_relaxed) != 0;
}

bool FifoSlots::try_write(int participant, int reader_count, std::uint64_t connection,
                          std::span<const std::byte> bytes) noexcept {
  const Ticket ticket = reserve(participant);
  SlotHeader& slot_header = header(ticket);
  // Pairs with the releasing store in release(): the last message's readers are done.
  if (slot_header.turn.load(std::memory_order_acquire) != free_turn(ticket)) return false;
  slot_header.connection = connection;
  slot_header.size_bytes = bytes.size();
  // Released with the turn.
  slot_header.readers_left.store(static_cast<std::uint32_t>(reader_count),
                                 std::memory_order_relaxed);
  if (!bytes.empty()) std::memcpy(slot(ticket) + sizeof(SlotHeader), bytes.data(), bytes.size());
  // Nobody else uses the cell.
  cell(participant).reserved.store(0, std::memory_order_relaxed);
  const std::uint64_t published =
      free_turn(ticket) + kTurn + static_cast<std::uint64_t>(participant);
  // Pairs with the acquiring load in look_at() and, without readers, with that above.
  slot_header.turn.store(reader_count > 0 ? published : free_turn(ticket) + 2 * kTurn,
                         std::memory_order_release);
  return true;
}

FifoSlots::Look FifoSlots::look_at(Ticket ticket) const noexcept {
  // Pairs with the releasing store in try_write(): the message is there with its metadata.
  const std::uint64_t turn = header(ticket).turn.load(std::memory_order_acquire);
  const std::uint64_t first = free_turn(ticket) + kTurn;
  if (turn < first) return {.stage = Stage::ahead, .writer = -1};
  if (turn >= first + kTurn) return {.stage = Stage::past, .writer = -1};
  return {.stage = Stage::published, .writer = static_cast<int>(turn - first)};
}

FifoMessage FifoSlots::message(Ticket ticket) const noexcept {
  const SlotHeader& slot_header = header(ticket);
  // The turn has been acquired before, and stays.
  const std::uint64_t turn = slot_header.turn.load(std::memory_order_relaxed);
  return {.connection = slot_header.connection,
          .writer = static_cast<int>(turn % kTurn),
          .bytes = {slot(ticket) + sizeof(SlotHeader), slot_header.size_bytes}};
}

void FifoSlots::release(Ticket ticket) noexcept {
  SlotHeader& slot_header = header(ticket);
  // The last reader's acquires the releases of the others: what they have read stays until then.
  if (slot_header.readers_left.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  // Pairs with the acquiring load in try_write().
  slot_header.turn.store(free_turn(ticket) + 2 * kTurn, std::memory_order_release);
}

}  // namespace hycoll
