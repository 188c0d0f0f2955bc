#ifndef HYCOLL_THREADING_MEMORY_MESSAGE_FIFO_H_
#define HYCOLL_THREADING_MEMORY_MESSAGE_FIFO_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "threading/memory/fifo_slots.h"
#include "threading/memory/waiter.h"

namespace hycoll {

/// The point-to-point FIFO: every participant may write messages and read them; every message is
/// read by one participant, whoever comes first, in the order of the reservations. See FifoSlots
/// for the memory, concurrency and source.
///
/// Readers raise the head by compare-and-swap where the paper increments it: an increment would
/// bind its reader to a message that may never be written.
class MessageFifo {
 public:
  /// See FifoSlots.
  MessageFifo(std::span<std::byte> block, int participant_count, FifoExtent extent = {})
      : slots_(block, participant_count, extent) {}

  static std::size_t block_bytes(int participant_count, FifoExtent extent = {}) noexcept {
    return FifoSlots::block_bytes(participant_count, extent);
  }

  FifoExtent extent() const noexcept { return slots_.extent(); }

  /// As in BroadcastFifo.
  void reserve(int participant) noexcept { slots_.reserve(participant); }
  bool has_reserved(int participant) const noexcept { return slots_.has_reserved(participant); }
  bool try_write(int participant, std::uint64_t connection,
                 std::span<const std::byte> bytes) noexcept {
    return slots_.try_write(participant, 1, connection, bytes);
  }

  /// Takes the next message, if it is there. It is the participant's alone until release().
  /// Requires that the participant has released the one before.
  std::optional<FifoMessage> try_take(int participant) noexcept;

  /// The participant is done with what it has taken.
  void release(int participant) noexcept;

  /// The same, waiting.
  void write(int participant, std::uint64_t connection, std::span<const std::byte> bytes,
             const WaitPolicy& policy = {}) noexcept;
  FifoMessage take(int participant, const WaitPolicy& policy = {}) noexcept;

 private:
  FifoSlots slots_;
};

}  // namespace hycoll

#endif  // HYCOLL_THREADING_MEMORY_MESSAGE_FIFO_H_
