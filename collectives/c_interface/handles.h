#ifndef HYCOLL_COLLECTIVES_C_INTERFACE_HANDLES_H_
#define HYCOLL_COLLECTIVES_C_INTERFACE_HANDLES_H_

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace hycoll::c_interface {

/// What handles stand for.
enum class Kind : std::uint8_t { none, member, team, request };

/// The objects of this process that C programs have handles of. A handle is the number of a slot,
/// the kind, and how often the slot has been used: so one that has been freed is found to be so,
/// also when its slot is in use again.
///
/// All functions may be called by any thread; find() takes no lock.
class Handles {
 public:
  Handles() = default;
  ~Handles();
  Handles(const Handles&) = delete;
  Handles& operator=(const Handles&) = delete;

  static Handles& instance();

  std::uint64_t add(Kind kind, void* object);
  /// Null: there is no such object; why_not() says why.
  void* find(Kind kind, std::uint64_t handle) const noexcept {
    if (kind_of(handle) != kind) return nullptr;
    const Slot* const slot = slot_of(handle);
    if (slot == nullptr || slot->handle.load(std::memory_order_acquire) != handle) return nullptr;
    // Orders nothing: the handle's load has.
    return slot->object.load(std::memory_order_relaxed);
  }
  /// For people: "is null".
  std::string why_not(Kind kind, std::uint64_t handle) const;
  /// Requires that find() finds it.
  void remove(std::uint64_t handle);
  /// No handle stands for anything from now on. What they have stood for stays.
  void end_all();

 private:
  struct Slot {
    std::atomic<std::uint64_t> handle{0};  // that the slot has been used for last, and whose kind
                                           // is `none` if that has gone
    std::atomic<void*> object{nullptr};
  };
  static constexpr int kIndexBits = 28;
  static constexpr int kKindBits = 4;
  static constexpr int kGenerationShift = kIndexBits + kKindBits;
  static constexpr std::uint64_t kIndexMask = (std::uint64_t{1} << kIndexBits) - 1;
  static constexpr std::size_t kFirstChunk = 64;
  static constexpr std::size_t kChunkCount = 22;

  static Kind kind_of(std::uint64_t handle) noexcept {
    return static_cast<Kind>((handle >> kIndexBits) & ((1U << kKindBits) - 1));
  }
  static std::uint32_t generation_of(std::uint64_t handle) noexcept {
    return static_cast<std::uint32_t>(handle >> kGenerationShift);
  }
  /// Chunks double in size, and stay where they are.
  Slot* slot_of(std::uint64_t handle) const noexcept {
    const std::size_t position = (handle & kIndexMask) + kFirstChunk;
    const auto chunk =
        static_cast<std::size_t>(std::bit_width(position) - std::bit_width(kFirstChunk));
    if (chunk >= kChunkCount) return nullptr;
    Slot* const slots = chunks_[chunk].load(std::memory_order_acquire);
    return slots == nullptr ? nullptr : slots + (position - (kFirstChunk << chunk));
  }

  mutable std::mutex mutex_;
  std::array<std::atomic<Slot*>, kChunkCount> chunks_{};
  std::vector<std::uint64_t> free_;  // numbers of slots; guarded by mutex_
  std::uint64_t slot_count_ = 0;     // guarded by mutex_
  std::atomic<bool> has_ended_ = false;
};

/// "a member", for messages.
std::string_view name_of(Kind kind) noexcept;

}  // namespace hycoll::c_interface

#endif  // HYCOLL_COLLECTIVES_C_INTERFACE_HANDLES_H_
