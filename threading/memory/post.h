#ifndef HYCOLL_THREADING_MEMORY_POST_H_
#define HYCOLL_THREADING_MEMORY_POST_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/base/cache_lines.h"
#include "threading/memory/call_number.h"
#include "threading/memory/call_signature.h"

namespace hycoll {

/// Who can access the buffers that a worker's member passes in a run.
enum class Reach : std::uint8_t {
  worker,  ///< Its own process only.
  node,    ///< Every process of the node, at the addresses that its post announces.
};

/// A worker's announcement that it has entered a call, with the addresses of its member's buffers:
/// everything that the others need lies in the one cache line that they wait for. The addresses are
/// in the form of NodeMemory::announce.
struct alignas(kSeparationBytes) Post {
  std::atomic<CallNumber> call{
      0};  ///< Released last; the others are relaxed and belong to this call.
  std::atomic<std::uint64_t> input{0};
  std::atomic<std::uint64_t> output{0};

  /// `digest`: what members compare.
  void set_signature(CallNumber number, const PackedSignature& signature,
                     std::uint32_t digest) noexcept {
    const std::size_t set = number % kCallSets;
    const Signature& kept = signatures_[set];
    // A call is often like the one before it in its set.
    if (digest == digests_[set].load(std::memory_order_relaxed) &&
        signature.call == kept.call.load(std::memory_order_relaxed) &&
        signature.detail == kept.detail.load(std::memory_order_relaxed)) {
      return;
    }
    digests_[set].store(digest, std::memory_order_relaxed);
    signatures_[set].call.store(signature.call, std::memory_order_relaxed);
    signatures_[set].detail.store(signature.detail, std::memory_order_relaxed);
  }
  /// To be set before a run is announced, by members of processes in each run that may do with
  /// either. Kept for kReachRuns runs.
  void set_reach(CallNumber number, Reach reach) noexcept {
    const std::uint64_t latest = reach_.load(std::memory_order_relaxed);  // this worker's own
    const CallNumber passed = number - (latest >> kReachRuns);
    const std::uint64_t earlier =
        passed < kReachRuns ? (latest << passed) & ((1u << kReachRuns) - 1) : 0;
    // Released by the announcement.
    reach_.store(number << kReachRuns | earlier | (reach == Reach::node ? 1 : 0),
                 std::memory_order_relaxed);
  }
  /// Requires that the run has been announced.
  Reach reach(CallNumber number) const noexcept {
    // Acquired by the load of the announcement.
    const std::uint64_t latest = reach_.load(std::memory_order_relaxed);
    const CallNumber passed = (latest >> kReachRuns) - number;
    return passed < kReachRuns && (latest >> passed & 1) != 0 ? Reach::node : Reach::worker;
  }

  /// Of the signature: in the line that is awaited anyway.
  std::uint32_t digest(CallNumber number) const noexcept {
    return digests_[number % kCallSets].load(std::memory_order_relaxed);
  }
  /// In lines of their own: for messages.
  PackedSignature signature(CallNumber number) const noexcept {
    const Signature& kept = signatures_[number % kCallSets];
    return {.call = kept.call.load(std::memory_order_relaxed),
            .detail = kept.detail.load(std::memory_order_relaxed)};
  }

 private:
  static constexpr int kReachRuns = 16;
  /// The number of a run, and what holds for that one and those before it, a bit each.
  std::atomic<std::uint64_t> reach_{0};
  struct Signature {
    std::atomic<std::uint64_t> call{0};
    std::atomic<std::uint64_t> detail{0};
  };
  /// Of the latest calls.
  std::array<std::atomic<std::uint32_t>, kCallSets> digests_{};
  alignas(kCacheLineBytes) std::array<Signature, kCallSets> signatures_{};
};
static_assert(sizeof(Post) == 256 && sizeof(Post) % kSeparationBytes == 0);

}  // namespace hycoll

#endif  // HYCOLL_THREADING_MEMORY_POST_H_
