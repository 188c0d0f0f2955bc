#ifndef HYCOLL_THREADING_MEMORY_BROADCAST_FIFO_H_
#define HYCOLL_THREADING_MEMORY_BROADCAST_FIFO_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "threading/memory/fifo_slots.h"
#include "threading/memory/waiter.h"

namespace hycoll {

/// The broadcast FIFO: every participant may write messages, and every other one reads each of
/// them, all in the same order, that of the reservations. The last reader's count-down frees the
/// slot. A message carries the number of its connection, so that the streams of several lanes share
/// one FIFO. See FifoSlots for the memory, concurrency and source.
///
/// Nobody waits inside, except in write() and read(). Whoever waits to write must go on reading
/// meanwhile if others could fill the FIFO: with all participants in write() nobody empties slots.
class BroadcastFifo {
 public:
  /// See FifoSlots.
  BroadcastFifo(std::span<std::byte> block, int participant_count, FifoExtent extent = {})
      : slots_(block, participant_count, extent) {}

  static std::size_t block_bytes(int participant_count, FifoExtent extent = {}) noexcept {
    return FifoSlots::block_bytes(participant_count, extent);
  }

  FifoExtent extent() const noexcept { return slots_.extent(); }

  /// Takes the participant's place in the order of messages, for its next try_write(). Does nothing
  /// if it has one.
  void reserve(int participant) noexcept { slots_.reserve(participant); }
  /// Whether the participant has a place that it has not written to, which others wait for.
  bool has_reserved(int participant) const noexcept { return slots_.has_reserved(participant); }

  /// Writes a message of at most slot_bytes bytes. Returns false, with the place reserved, if the
  /// FIFO is full.
  bool try_write(int participant, std::uint64_t connection,
                 std::span<const std::byte> bytes) noexcept {
    return slots_.try_write(participant, slots_.participant_count() - 1, connection, bytes);
  }

  /// The next message of others, if it is there; valid until the participant releases it.
  std::optional<FifoMessage> front(int participant) noexcept;

  /// The participant is done with the message at the front. Requires that there is one.
  void release(int participant) noexcept;

  /// Writes any number of bytes, as one message for every slot_bytes of them, at least one. Waits.
  void write(int participant, std::uint64_t connection, std::span<const std::byte> bytes,
             const WaitPolicy& policy = {}) noexcept;

  /// The next message of others. Waits.
  FifoMessage read(int participant, const WaitPolicy& policy = {}) noexcept;

 private:
  FifoSlots slots_;
};

}  // namespace hycoll

#endif  // HYCOLL_THREADING_MEMORY_BROADCAST_FIFO_H_
