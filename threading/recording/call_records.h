#ifndef HYCOLL_THREADING_RECORDING_CALL_RECORDS_H_
#define HYCOLL_THREADING_RECORDING_CALL_RECORDS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/base/cache_lines.h"

namespace hycoll {

// What a process shows of its calls: a memory file, which it writes and others may map. The
// sizes and places of members are part of the format.

/// By which the file is found among those that a process has open.
inline constexpr const char* kCallRecordsName = "hycoll-calls";
inline constexpr std::uint64_t kCallRecordsMagic = 0x31736c6c61637968;  // "hycalls1"

/// A call that a member has entered.
struct CallRecord {
  std::atomic<std::uint64_t> call{0};       ///< Its number; 0: none.
  std::atomic<std::uint64_t> signature{0};  ///< PackedSignature::call.
  std::atomic<std::uint64_t> detail{0};     ///< PackedSignature::detail.
  std::atomic<std::uint64_t> site{0};       ///< CallSite::here().
};

/// The latest calls of a member of a communicator or team. One thread writes at a time.
struct alignas(kCacheLineBytes) MemberRecord {
  static constexpr std::size_t kCalls = 64;

  std::atomic<std::uint64_t> communicator{0};  ///< A number of the process's own; 0: unused.
  std::atomic<std::uint64_t> entered{0};       ///< Calls so far.
  std::atomic<std::uint64_t> left{0};          ///< Those that are over.
  /// When the call that the member is in turned out to take long, by CLOCK_MONOTONIC; 0: it has
  /// not.
  std::atomic<std::int64_t> late_since_ns{0};
  std::atomic<std::int32_t> rank{0};
  std::atomic<std::int32_t> size{0};         ///< Members; 0 if it is not known.
  std::array<std::atomic<char>, 48> name{};  ///< The communicator's, as MPI has it.
  std::array<CallRecord, kCalls> calls{};    ///< In turn.

  void enter(std::uint64_t call, std::uint64_t signature, std::uint64_t detail,
             const void* site) noexcept {
    const std::uint64_t number = entered.load(std::memory_order_relaxed);
    if (number > 0 && calls[(number - 1) % kCalls].call.load(std::memory_order_relaxed) == call) {
      left.store(number - 1, std::memory_order_relaxed);  // another run of the same one
      return;
    }
    CallRecord& record = calls[number % kCalls];
    // Readers may find some words of two calls: they read once more.
    record.signature.store(signature, std::memory_order_relaxed);
    record.detail.store(detail, std::memory_order_relaxed);
    record.site.store(reinterpret_cast<std::uintptr_t>(site), std::memory_order_relaxed);
    record.call.store(call, std::memory_order_relaxed);
    // Pairs with the acquiring load of readers.
    entered.store(number + 1, std::memory_order_release);
  }

  void leave() noexcept {
    left.store(entered.load(std::memory_order_relaxed), std::memory_order_relaxed);
    if (late_since_ns.load(std::memory_order_relaxed) != 0) [[unlikely]]
      late_since_ns.store(0, std::memory_order_relaxed);
  }
};

/// The file's beginning. Chunks of records follow, which are pages, of whatever size.
struct CallRecordsHeader {
  static constexpr std::size_t kChunkBytes = 65536;
  static constexpr std::size_t kRecordsInChunk = kChunkBytes / sizeof(MemberRecord);

  std::atomic<std::uint64_t> magic{0};
  std::atomic<std::uint64_t> record_count{0};
  std::atomic<std::uint64_t> record_bytes{0};
  std::atomic<std::int64_t> process{0};  ///< Whose it is, as it knows itself.

  /// Where a record is in the file.
  static constexpr std::size_t place_of(std::size_t record) noexcept {
    return (1 + record / kRecordsInChunk) * kChunkBytes +
           record % kRecordsInChunk * sizeof(MemberRecord);
  }
};

}  // namespace hycoll

#endif  // HYCOLL_THREADING_RECORDING_CALL_RECORDS_H_
