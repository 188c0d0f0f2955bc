#ifndef HYCOLL_THREADING_MEMORY_FIFO_SLOTS_H_
#define HYCOLL_THREADING_MEMORY_FIFO_SLOTS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/cache_lines.h"

namespace hycoll {

/// The size of a FIFO.
struct FifoExtent {
  std::size_t slot_count = 16;
  std::size_t slot_bytes = 8192;  ///< The longest message.
};

/// A message where it lies in the FIFO.
struct FifoMessage {
  std::uint64_t connection;  ///< The stream that it belongs to: what its writer said.
  int writer;
  std::span<const std::byte> bytes;
};

/// What the broadcast FIFO of a node is made of: a ring of slots, which writers reserve by
/// fetch-and-increment, and a cell for each participant. It lies in a block of memory which threads
/// share, or which several processes have mapped at addresses of their own: it holds no pointers,
/// and bytes that are all zero are an empty FIFO.
///
/// Message t (its ticket: 0, 1, 2, ... in the order of the reservations) lies in slot t modulo the
/// slots, in the slot's round t / slots. A slot has a turn: twice the round while it is free for
/// it, one more while the round's message is in it, then together with its writer's number. So
/// neither writers nor readers look at anything but the slot of their own ticket.
///
/// What concerns a participant may be called by one thread at a time; participants run
/// concurrently. A participant that ends for ever with a reserved slot stops all others behind it.
///
/// Source: A. Mamidala et al., Optimizing MPI Collectives Using Efficient Intra-node Communication
/// Techniques over the Blue Gene/P Supercomputer, 2009, section 4. There a writer may proceed when
/// its ticket is less than the slots ahead of a common head, which whoever empties a slot
/// increments. Slots of several writers are not emptied in order, for each writer skips its own
/// messages, and the head would then admit a writer to a slot that is still being read
/// (tests/threading/broadcast_fifo_test.cc shows it). Hence the turns.
class FifoSlots {
 public:
  using Ticket = std::uint64_t;

  /// Over a block of block_bytes() zero bytes, at a multiple of kSeparationBytes, that outlives
  /// this object. Every process, and every thread that likes, has an object of its own.
  FifoSlots(std::span<std::byte> block, int participant_count, FifoExtent extent);

  static std::size_t block_bytes(int participant_count, FifoExtent extent) noexcept;

  int participant_count() const noexcept { return participant_count_; }
  FifoExtent extent() const noexcept { return extent_; }

  /// The participant's reserved ticket; takes the next one if it has none.
  Ticket reserve(int participant) noexcept;
  bool has_reserved(int participant) const noexcept;

  /// Writes a message of at most slot_bytes bytes into the participant's slot, for `reader_count`
  /// readers, and publishes it. Reserves first where that has not been done. Returns false, with
  /// the slot reserved, while the slot's last message is still being read.
  bool try_write(int participant, int reader_count, std::uint64_t connection,
                 std::span<const std::byte> bytes) noexcept;

  enum class Stage {
    ahead,      ///< Not yet there.
    published,  ///< In its slot.
    past,       ///< Has left it.
  };
  /// What one look at a slot tells. The message itself stays there only for its readers, not for
  /// its writer.
  struct Look {
    Stage stage;
    int writer;  ///< Of a published message.
  };
  Look look_at(Ticket ticket) const noexcept;

  /// Requires that the message stays published meanwhile.
  FifoMessage message(Ticket ticket) const noexcept;

  /// A reader is done with a published message; the last one frees the slot.
  void release(Ticket ticket) noexcept;

  /// Where a participant stands; its own business, kept here so that it outlives the participant's
  /// objects.
  std::atomic<Ticket>& cursor(int participant) const noexcept { return cell(participant).cursor; }

 private:
  struct alignas(kSeparationBytes) Tail {
    std::atomic<Ticket> next{0};
  };
  struct alignas(kSeparationBytes) Cell {
    std::atomic<Ticket> cursor{0};
    std::atomic<Ticket> reserved{0};  // one more than the ticket; 0 for none
  };
  /// Readers who wait look at the first line; those who are done write the second one.
  struct alignas(kSeparationBytes) SlotHeader {
    std::atomic<std::uint64_t> turn{0};  // above the writer
    std::uint64_t connection = 0;
    std::uint64_t size_bytes = 0;
    alignas(kCacheLineBytes) std::atomic<std::uint32_t> readers_left{0};
  };

  static constexpr int kWriterBits = 16;
  static constexpr std::uint64_t kTurn = 1 << kWriterBits;

  static std::size_t slot_stride_bytes(FifoExtent extent) noexcept;

  Tail& tail() const noexcept;
  Cell& cell(int participant) const noexcept;
  std::byte* slot(Ticket ticket) const noexcept;
  SlotHeader& header(Ticket ticket) const noexcept;
  std::uint64_t free_turn(Ticket ticket) const noexcept {
    return 2 * (ticket / extent_.slot_count) * kTurn;
  }

  std::byte* block_;
  int participant_count_;
  FifoExtent extent_;
};

}  // namespace hycoll

#endif  // HYCOLL_THREADING_MEMORY_FIFO_SLOTS_H_
