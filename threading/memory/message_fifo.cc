#include "threading/memory/message_fifo.h"

namespace hycoll {

std::optional<FifoMessage> MessageFifo::try_take(int participant) noexcept {
  std::atomic<FifoSlots::Ticket>& head = slots_.head();
  // The head only tells who takes which message; that it is there the slot's turn says.
  FifoSlots::Ticket ticket = head.load(std::memory_order_relaxed);
  for (;;) {
    const FifoSlots::Stage stage = slots_.stage(ticket);
    if (stage == FifoSlots::Stage::ahead) return {};
    if (stage == FifoSlots::Stage::past) {  // others have been faster
      ticket = head.load(std::memory_order_relaxed);
    } else if (head.compare_exchange_weak(ticket, ticket + 1, std::memory_order_relaxed)) {
      break;
    }
  }
  // Only the participant uses its cursor.
  slots_.cursor(participant).store(ticket, std::memory_order_relaxed);
  return slots_.message(ticket);
}

void MessageFifo::release(int participant) noexcept {
  slots_.release(slots_.cursor(participant).load(std::memory_order_relaxed));
}

void MessageFifo::write(int participant, std::uint64_t connection, std::span<const std::byte> bytes,
                        const WaitPolicy& policy) noexcept {
  Waiter waiter(policy);
  while (!try_write(participant, connection, bytes)) {
    if (waiter.turn()) waiter.give_way();
  }
}

FifoMessage MessageFifo::take(int participant, const WaitPolicy& policy) noexcept {
  Waiter waiter(policy);
  for (;;) {
    if (const auto message = try_take(participant)) return *message;
    if (waiter.turn()) waiter.give_way();
  }
}

}  // namespace hycoll
