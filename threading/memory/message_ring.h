#ifndef HYCOLL_THREADING_MEMORY_MESSAGE_RING_H_
#define HYCOLL_THREADING_MEMORY_MESSAGE_RING_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/base/cache_lines.h"

namespace hycoll {

/// A queue of short messages from one thread to another, most often of two processes that share
/// its memory. Each of both has a MessageRing of its own over that, and uses one half of it.
///
/// A message has a cache line of its own, which begins with the message's number: so nothing has to
/// be cleared, and one line goes from core to core for up to 52 bytes. The bytes of longer
/// messages lie one behind the other in a second ring.
///
/// This is the point-to-point FIFO of A. Mamidala et al. 2009, section 4.A, for one writer and one
/// reader, who need no atomic increment. For many writers see FifoSlots.
class MessageRing {
 public:
  /// Of the memory.
  static constexpr std::size_t kBytes = 32 * 1024;
  /// Of a message.
  static constexpr std::size_t kMostBytes = 4 * 1024;

  struct Message {
    int tag = 0;
    std::span<const std::byte> bytes;
  };

  /// `memory`: kBytes bytes, at an address that is a multiple of a cache line, all zero before
  /// anything is written.
  explicit MessageRing(std::byte* memory) noexcept : memory_(memory) {}

  /// By the writer: of at most kMostBytes bytes. Returns whether there was room; if not, nothing
  /// has happened.
  bool try_write(int tag, std::span<const std::byte> bytes) noexcept;

  /// By the reader: the next message, if it has come. It stays until it is popped.
  std::optional<Message> front() noexcept;
  /// By the reader: frees the room of the message that front() has returned.
  void pop() noexcept;

 private:
  struct Slot;
  static constexpr std::size_t kSlots = 128;
  static constexpr std::size_t kLines =
      (kBytes - kSeparationBytes) / kCacheLineBytes - kSlots;  // of longer messages

  /// How many messages the reader has done with.
  std::uint32_t& read_count() noexcept;
  Slot& slot() noexcept;
  std::byte* line(std::size_t index) noexcept;
  /// Where the bytes of the next message lie: how many lines further than those of the last one.
  std::size_t skipped(std::size_t line_count) const noexcept;

  std::byte* memory_;
  // Of this side: messages so far, and lines that they have taken, with those skipped.
  std::uint32_t count_ = 0;
  std::size_t line_count_ = 0;
  // How many messages the writer has been told of (reader), or knows to have been read (writer).
  std::uint32_t told_ = 0;
  std::size_t untold_lines_ = 0;  // by the reader: of messages that the writer has not been told of
  /// By the writer: line_count_ before each message that may not have been read.
  std::array<std::size_t, kSlots> lines_before_{};
};

}  // namespace hycoll

#endif  // HYCOLL_THREADING_MEMORY_MESSAGE_RING_H_
