#ifndef HYCOLL_THREADING_MEMORY_NODE_MEMORY_H_
#define HYCOLL_THREADING_MEMORY_NODE_MEMORY_H_

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/cache_lines.h"
#include "core/base/errors.h"
#include "core/base/line_sizes.h"
#include "threading/memory/address_space.h"
#include "threading/memory/bell.h"
#include "threading/memory/call_number.h"
#include "threading/memory/handoff.h"
#include "threading/memory/lines.h"
#include "threading/memory/post.h"
#include "threading/memory/shared_text.h"
#include "threading/memory/staging_turns.h"

namespace hycoll {

/// A monotonic counter with one writing worker. Its value is flag_value(call, signals so far).
struct alignas(kSeparationBytes) FlagCell {
  std::atomic<std::uint64_t> value{0};
};

/// The value of a flag: grows within a call and from call to call, so flags are never reset.
constexpr std::uint64_t flag_value(CallNumber call, std::uint32_t signals) noexcept {
  return (call << 24) | signals;
}
inline constexpr std::uint32_t kMaximumSignals = (1u << 24) - 1;

/// What a call stages at most for each worker in short staging.
inline constexpr std::size_t kMaximumShortStagingBytes = 16 * 1024;
/// The largest vector, in bytes, of the lines buffers in the compact section of a node's memory:
/// eight lines.
inline constexpr std::size_t kMaximumCompactLinesBytes = 8 * Line::kPayloadBytes;
/// A worker's lines buffers in one schedule.
inline constexpr int kLinesBuffersPerWorker = 2;
inline constexpr int kFlagsPerWorker = 128;

/// What a mark of NodeMemory::operator_failure_mark says.
constexpr CallNumber failed_call_of(std::uint64_t mark) noexcept { return mark >> 24; }
constexpr int failed_rank_of(std::uint64_t mark) noexcept {
  return static_cast<int>(mark & 0xffffff);
}

/// The bits of a stream's number in the number of a FIFO's connection, below those of the call.
inline constexpr int kStreamBits = 16;

constexpr std::uint64_t stream_connection(CallNumber call, std::uint16_t stream) noexcept {
  return call << kStreamBits | stream;
}
constexpr CallNumber call_of_connection(std::uint64_t connection) noexcept {
  return connection >> kStreamBits;
}

/// What the workers of one node share to run schedules: announcements, flags, lines, and the first
/// failure. Either in memory of its own, for the threads of a process; or over a block that several
/// processes have mapped, each at an address of its own, in which case each has a NodeMemory over
/// its mapping. The block holds no pointers and no locks that outlive a function; a process that
/// dies leaves nothing in it that others would have to wait for.
///
/// A block has two sections. The compact one is what every run needs, and all that short runs need
/// (Program::is_compact): what all workers share, and for each worker its post, lines for short
/// vectors, and failures. The rest, nearly all of the block, has for each worker flags, lines, and
/// `further_bytes` bytes, two halves of staging, and then the node's broadcast FIFO; a block may do
/// without until a run needs it. Each worker's areas begin at multiples of the separation, so that
/// neighbours share a page at most at their ends.
class NodeMemory {
 public:
  enum class Section : std::uint8_t { compact, rest };

  /// In memory of its own, ready for use.
  explicit NodeMemory(int worker_count, std::size_t further_bytes = 0);

  /// Over a block of block_bytes(worker_count, further_bytes) bytes that outlives this object, zero
  /// where the FIFO lies.
  /// `addresses` says what buffers of the node's members are called; it must outlive this object
  /// too. A section is usable once construct_worker() has returned for it and every worker, in any
  /// process.
  NodeMemory(std::span<std::byte> block, int worker_count, std::size_t further_bytes,
             const AddressSpace* addresses);

  static std::size_t block_bytes(int worker_count, std::size_t further_bytes) noexcept;

  struct Extent {  ///< In the block.
    std::size_t offset_bytes;
    std::size_t size_bytes;
  };
  /// What the process of the workers from `first` on, `count` of them, provides of a section: their
  /// areas, and what lies before the first worker's and behind the last one's. In both sections
  /// those of all processes of the node are the block.
  static Extent extent_of(Section section, int first, int count, int worker_count,
                          std::size_t further_bytes);

  /// Where the node's broadcast FIFO lies: what workers of all processes write and all of them
  /// read.
  static Extent fifo_extent(int worker_count, std::size_t further_bytes) noexcept;

  /// Initialises a worker's area of a section. Its pages come to lie in the NUMA domain of the
  /// calling thread, unless they have been touched before.
  void construct_worker(int worker, Section section);

  int worker_count() const noexcept { return worker_count_; }

  /// The block of a BroadcastFifo for at most as many participants as there are workers.
  std::span<std::byte> fifo() const noexcept {
    const Extent extent = fifo_extent(worker_count_, further_bytes_);
    return {block_ + extent.offset_bytes, extent.size_bytes};
  }

  Post& post(int worker) noexcept { return cells(worker).post; }
  FlagCell& flag(int worker, int index) noexcept {
    return further_cells(worker).flags[static_cast<std::size_t>(index)];
  }

  /// The lines of a worker's buffer `buffer` in a call, of this section. Calls take the sets in
  /// turn.
  Line* lines(Section section, int worker, int buffer, CallNumber call) noexcept {
    const auto index = call % kCallSets * kLinesBuffersPerWorker + static_cast<std::size_t>(buffer);
    return section == Section::compact
               ? cells(worker).lines.data() + index * kCompactLinesPerBuffer
               : further_cells(worker).lines.data() + index * kLinesPerBuffer;
  }

  /// How far the workers of this process and of others are from one another decides whether the
  /// kernel copies between them, and whether they store past the caches what the others read. To be
  /// set between the same two runs, and alike, on all processes.
  bool is_far() const noexcept { return is_far_.load(std::memory_order_relaxed); }
  void set_far(bool is_far) noexcept {
    // Orders nothing: a process's other threads store either way meanwhile.
    is_far_.store(is_far, std::memory_order_relaxed);
  }

  /// For those who sleep until others of the node have written something here.
  Bell& bell() noexcept { return node_cells().bell; }

  /// Words by which the parties of DistanceLooks agree: of the first one, and of each worker's
  /// party; 0 at first.
  std::atomic<std::uint64_t>& distance_notice() const noexcept {
    return node_cells().distance_notice;
  }
  std::atomic<std::uint64_t>& distance_answer(int worker) const noexcept {
    return cells(worker).distance_answer;
  }

  /// Of a worker's own: for whoever measures how far it is from another one.
  HandoffBall& handoff_ball(int worker) noexcept { return cells(worker).handoff_ball; }

  /// The further bytes of a worker's area.
  std::span<std::byte> further(int worker) noexcept {
    return {further_area_begin(worker) + sizeof(FurtherCells), further_bytes_};
  }

  /// Where runs stage, in a worker's further bytes, that take a set of so much for each worker; 0:
  /// a half, as all may.
  StagingTurns staging_turns(std::size_t set_bytes) const noexcept {
    return {staging_bytes(), set_bytes == 0 ? staging_bytes() : set_bytes};
  }
  /// Where a worker stages in a run with such sets.
  std::byte* staging(int worker, CallNumber run, std::size_t set_bytes) noexcept {
    return further(worker).data() + staging_turns(set_bytes).begin(run);
  }
  std::size_t staging_bytes() const noexcept {
    return further_bytes_ / 2 / kSeparationBytes * kSeparationBytes;
  }

  /// Of runs that stage no more than this for each worker there are kCallSets sets or more, so that
  /// whose staging nobody answers may run ahead. 0 if there is too little staging.
  std::size_t short_staging_bytes() const noexcept {
    return std::min(kMaximumShortStagingBytes,
                    staging_bytes() / (kCallSets / 2) / kSeparationBytes * kSeparationBytes);
  }

  /// What a worker's post says of a buffer at this address of its own process; and where a worker's
  /// announced buffer lies in this process, null if it cannot be reached from here.
  std::uint64_t announce(const void* address) const noexcept {
    return addresses_ == nullptr ? reinterpret_cast<std::uintptr_t>(address)
                                 : addresses_->announce(address);
  }
  std::byte* resolve(int worker, std::uint64_t announced) const noexcept {
    return addresses_ == nullptr ? reinterpret_cast<std::byte*>(announced)
                                 : addresses_->resolve(worker, announced);
  }

  /// How buffers of other processes are called; null if the node is a process.
  const AddressSpace* addresses() const noexcept { return addresses_; }

  /// Records why a call failed on `worker`, for every worker that waits in it. The first record of
  /// a call counts. Requires that all members have entered the call. Called by one thread at a time
  /// for each worker.
  void fail(int worker, CallNumber call, const Error& error) noexcept;

  /// Throws the error that was recorded for this call, if any. Cheap when there is none.
  void throw_if_failed(CallNumber call) const;

  /// The last call for which a failure has been recorded; 0 if none. Whoever has seen a member
  /// enter a call sees the failures that the member has met before.
  CallNumber last_failed_call() const noexcept {
    // Pairs with the releasing store in fail(): its record can be read.
    return node_cells().last_failed_call.load(std::memory_order_acquire);
  }

  /// Whether no worker of the node has told of a long wait lately, in the last half of `interval`.
  /// If so, the caller does.
  bool may_warn(std::chrono::milliseconds interval) noexcept;

  /// A worker has left a run: it uses no buffers of other members any more. To be said of runs that
  /// have_left() is asked about.
  void leave(int worker, CallNumber call) noexcept {
    // Pairs with the acquiring load in have_left(): the others' use of the buffers lies before.
    cells(worker).left.value.store(call, std::memory_order_release);
  }
  /// Whether each of the first `worker_count` workers has left the run, has entered a later one, or
  /// has entered it with another signature than this digest is of: then it uses no buffers of
  /// members that have passed this one, whose announcements it has not accepted.
  bool have_left(CallNumber call, int worker_count, std::uint32_t digest) const noexcept;

  /// Whether the first `worker_count` workers have entered the run with the same signature.
  /// Requires that they have entered it, and that one of them has not entered a later one.
  bool agree(CallNumber call, int worker_count) const noexcept;

  /// A user's operator failed while `worker` reduced in `call`. The call goes on nevertheless, with
  /// unspecified results, so that nobody waits for ever; its members agree afterwards on whether it
  /// has failed anywhere. `slot` is the member that speaks for the worker, in the worker's process.
  /// The first record of a call counts.
  void record_operator_failure(int slot, int rank, CallNumber call, const Error& error);

  /// The next calls' numbers follow another row. Between calls, by the slot's process.
  void forget_operator_failure(int slot) noexcept { cells(slot).operator_failure.mark = 0; }

  /// A number that tells the last call in which an operator failed with this slot, and grows from
  /// call to call; 0 if none did. The operand of the agreement: it only changes while a later call
  /// is under way.
  const std::uint64_t* operator_failure_mark(int slot) const noexcept {
    return &cells(slot).operator_failure.mark;
  }
  /// The text of the failure with this mark, if it is this slot's last one.
  std::optional<std::string> operator_failure(int slot, std::uint64_t mark) const;

 private:
  static constexpr std::size_t kLinesPerBuffer = line_count_for(kMaximumLinesBytes);
  static constexpr std::size_t kCompactLinesPerBuffer = line_count_for(kMaximumCompactLinesBytes);
  static constexpr std::size_t kLinesBuffers = kCallSets * kLinesBuffersPerWorker;

  /// Why a call failed on one worker; written by that worker before it publishes the failure.
  struct FailureRecord {
    std::atomic<int> kind{0};
    SharedText text;
  };
  struct OperatorFailure {
    mutable std::atomic<bool> locked{false};  // by threads of the slot's process only
    std::uint64_t mark = 0;  // written under the lock; read without it by calls that come later
    SharedText text;
  };
  /// What one worker writes: in the compact section, and in the rest.
  struct alignas(kSeparationBytes) WorkerCells {
    Post post;
    FlagCell left;  // the last run that leave() has named
    std::array<Line, kLinesBuffers * kCompactLinesPerBuffer> lines;
    HandoffBall handoff_ball;
    std::atomic<std::uint64_t> distance_answer{0};
    std::array<FailureRecord, kCallSets> failures;  // of the latest calls
    OperatorFailure operator_failure;
  };
  struct alignas(kSeparationBytes) FurtherCells {
    std::array<FlagCell, kFlagsPerWorker> flags;
    std::array<Line, kLinesBuffers * kLinesPerBuffer> lines;
  };
  /// What all write: the failures of the latest calls, each a call's number and the worker that has
  /// recorded the reason; the last call that has failed; and when one told of a long wait.
  struct alignas(kSeparationBytes) NodeCells {
    std::array<std::atomic<std::uint64_t>, kCallSets> failures{};
    std::atomic<CallNumber> last_failed_call{0};
    std::atomic<std::int64_t> last_warning_ns{0};   // by the machine's monotonic clock
    std::atomic<std::uint64_t> distance_notice{0};  // written by worker 0's party only
    Bell bell;
  };
  struct Free {
    void operator()(std::byte* memory) const noexcept;
  };

  /// In the smallest pages that systems have, known when hycoll is compiled. What lies in the
  /// system's pages is for SharedSegment to know.
  static constexpr std::size_t in_pages(std::size_t size_bytes) noexcept {
    constexpr std::size_t kPageBytes = 4096;
    return (size_bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
  }
  /// The distance of areas of so many bytes: equal cells of different workers lie in different sets
  /// of the caches.
  static constexpr std::size_t spread(std::size_t size_bytes) noexcept {
    return in_pages(size_bytes) + 2 * kSeparationBytes;
  }

  /// Where the areas of a section begin: a worker's, or, for their number, what follows.
  static std::size_t area_begin(Section section, int worker, int worker_count,
                                std::size_t further_bytes) noexcept;
  std::byte* compact_area_begin(int worker) const noexcept {
    return block_ + sizeof(NodeCells) + static_cast<std::size_t>(worker) * compact_area_bytes();
  }
  std::byte* further_area_begin(int worker) const noexcept {
    return further_areas_ + static_cast<std::size_t>(worker) * further_area_bytes_;
  }
  /// Known when hycoll is compiled: every look at a line computes its address.
  static constexpr std::size_t compact_area_bytes() noexcept { return spread(sizeof(WorkerCells)); }
  static std::size_t further_area_bytes(std::size_t further_bytes) noexcept;
  WorkerCells& cells(int worker) const noexcept {
    return *std::launder(reinterpret_cast<WorkerCells*>(compact_area_begin(worker)));
  }
  FurtherCells& further_cells(int worker) const noexcept {
    return *std::launder(reinterpret_cast<FurtherCells*>(further_area_begin(worker)));
  }
  NodeCells& node_cells() const noexcept {
    return *std::launder(reinterpret_cast<NodeCells*>(block_));
  }

  int worker_count_;
  std::size_t further_bytes_;
  std::size_t further_area_bytes_;
  std::unique_ptr<std::byte, Free> own_block_;  // null over a block of others
  std::byte* block_;
  std::byte* further_areas_;
  const AddressSpace* addresses_ = nullptr;
  std::atomic<bool> is_far_{false};
};

}  // namespace hycoll

#endif  // HYCOLL_THREADING_MEMORY_NODE_MEMORY_H_
