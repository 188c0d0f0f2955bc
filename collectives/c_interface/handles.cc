#include "collectives/c_interface/handles.h"

#include <fmt/format.h>

#include "core/base/errors.h"
#include "core/base/lifetime.h"

namespace hycoll::c_interface {

Handles& Handles::instance() {
  static Immortal<Handles> handles;
  return *handles;
}

Handles::~Handles() {
  for (std::atomic<Slot*>& chunk : chunks_) delete[] chunk.load(std::memory_order_relaxed);
}

std::uint64_t Handles::add(Kind kind, void* object) {
  const std::lock_guard lock(mutex_);
  std::uint64_t index = slot_count_;
  if (free_.empty()) {
    const std::size_t position = index + kFirstChunk;
    if (std::has_single_bit(position)) {
      const auto chunk =
          static_cast<std::size_t>(std::bit_width(position) - std::bit_width(kFirstChunk));
      if (chunk == kChunkCount) {
        throw Error(ErrorKind::environment,
                    fmt::format("there are {} handles, and no more can be told apart; free those "
                                "that are not needed",
                                index));
      }
      // The first slot that is removed must not have to ask for memory.
      free_.reserve(position);
      chunks_[chunk].store(new Slot[position], std::memory_order_release);
    }
    ++slot_count_;
  } else {
    index = free_.back();
    free_.pop_back();
  }
  Slot& slot = *slot_of(index);
  // Orders nothing: under the lock.
  const std::uint64_t last = slot.handle.load(std::memory_order_relaxed);
  const std::uint64_t handle = (std::uint64_t{generation_of(last)} + 1) << kGenerationShift |
                               static_cast<std::uint64_t>(kind) << kIndexBits | index;
  slot.object.store(object, std::memory_order_relaxed);
  slot.handle.store(handle, std::memory_order_release);
  return handle;
}

std::string Handles::why_not(Kind kind, std::uint64_t handle) const {
  if (handle == 0) return "is null";
  const Kind passed = kind_of(handle);
  if (passed > Kind::none && passed <= Kind::request && passed != kind) {
    return fmt::format("is that of a {}", c_interface::name_of(passed));
  }
  // Orders nothing: it does not change back.
  if (has_ended_.load(std::memory_order_relaxed)) return "is of a time before MPI_Finalize";
  const Slot* const slot = passed == kind ? slot_of(handle) : nullptr;
  if (slot == nullptr) return "is none that hycoll has given to this process";
  const std::uint64_t last = slot->handle.load(std::memory_order_acquire);
  const bool is_old = generation_of(handle) > 0 && generation_of(handle) <= generation_of(last);
  return is_old ? "has been freed" : "is none that hycoll has given to this process";
}

void Handles::remove(std::uint64_t handle) {
  const std::lock_guard lock(mutex_);
  Slot& slot = *slot_of(handle);
  const std::uint64_t generation = std::uint64_t{generation_of(handle)} << kGenerationShift;
  slot.handle.store(generation | (handle & kIndexMask), std::memory_order_release);
  slot.object.store(nullptr, std::memory_order_relaxed);
  free_.push_back(handle & kIndexMask);
}

void Handles::end_all() {
  const std::lock_guard lock(mutex_);
  has_ended_.store(true, std::memory_order_relaxed);
  for (std::uint64_t index = 0; index < slot_count_; ++index) {
    Slot& slot = *slot_of(index);
    const std::uint64_t last = slot.handle.load(std::memory_order_relaxed);
    const std::uint64_t generation = std::uint64_t{generation_of(last)} << kGenerationShift;
    slot.handle.store(generation | index, std::memory_order_release);
  }
}

std::string_view name_of(Kind kind) noexcept {
  constexpr std::string_view kNames[] = {"nothing", "member", "team", "request"};
  return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace hycoll::c_interface
