#include "threading/memory/broadcast_fifo.h"

#include <algorithm>

namespace hycoll {

std::optional<FifoMessage> BroadcastFifo::front(int participant) noexcept {
  std::atomic<FifoSlots::Ticket>& cursor = slots_.cursor(participant);
  // Only the participant uses its cursor.
  FifoSlots::Ticket ticket = cursor.load(std::memory_order_relaxed);
  std::optional<FifoMessage> found;
  for (;; ++ticket) {
    // Its own message comes later: others' behind it can be read already.
    if (slots_.has_reserved(participant) && slots_.reserve(participant) == ticket) continue;
    const FifoSlots::Look look = slots_.look_at(ticket);
    if (look.stage == FifoSlots::Stage::ahead) break;
    // Its own may leave the slot at any time, and nothing else without this participant.
    if (look.stage == FifoSlots::Stage::past || look.writer == participant) continue;
    found = slots_.message(ticket);
    break;
  }
  cursor.store(ticket, std::memory_order_relaxed);
  return found;
}

void BroadcastFifo::release(int participant) noexcept {
  std::atomic<FifoSlots::Ticket>& cursor = slots_.cursor(participant);
  // Only the participant uses its cursor.
  const FifoSlots::Ticket ticket = cursor.load(std::memory_order_relaxed);
  cursor.store(ticket + 1, std::memory_order_relaxed);
  slots_.release(ticket);
}

void BroadcastFifo::write(int participant, std::uint64_t connection,
                          std::span<const std::byte> bytes, const WaitPolicy& policy) noexcept {
  const std::size_t slot_bytes = extent().slot_bytes;
  std::size_t begin = 0;
  do {
    const auto part = bytes.subspan(begin, std::min(slot_bytes, bytes.size() - begin));
    Waiter waiter(policy);
    while (!try_write(participant, connection, part)) {
      if (waiter.turn()) waiter.give_way();
    }
    begin += part.size();
  } while (begin < bytes.size());
}

FifoMessage BroadcastFifo::read(int participant, const WaitPolicy& policy) noexcept {
  Waiter waiter(policy);
  for (;;) {
    if (const auto message = front(participant)) return *message;
    if (waiter.turn()) waiter.give_way();
  }
}

}  // namespace hycoll
