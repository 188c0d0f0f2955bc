#ifndef HYCOLL_PRELOAD_SESSION_RECENT_ATTACHMENTS_H_
#define HYCOLL_PRELOAD_SESSION_RECENT_ATTACHMENTS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace hycoll::preload {

/// The attachments that have been looked up lately, by communicator: what every call of the
/// program's passes through, for a few instructions and without thread-local memory, whose address
/// some C libraries look up anew in every call of a program that has loaded libraries since.
///
/// find() may be called by any number of threads at any time; the other functions by one at a time.
///
/// `Communicator` is MPI_Comm, `Attachment` the class of this name: parameters, for its memory
/// orders are proved without MPI (tests/threading/orders).
template <class Communicator, class Attachment>
class RecentAttachments {
 public:
  /// The attachment of a communicator that nobody frees meanwhile; null if it is not among those
  /// remembered.
  Attachment* find(Communicator communicator) const noexcept {
    const Place& place = places_[index_of(communicator)];
    // A writer makes the version odd before it changes the others, and even afterwards; each of
    // these loads acquires, so none overtakes the one before it.
    const std::uint64_t version = place.version.load(std::memory_order_acquire);
    const bool is_here = place.communicator.load(std::memory_order_acquire) == communicator;
    Attachment* const attachment = place.attachment.load(std::memory_order_acquire);
    const bool is_whole =
        version % 2 == 0 && place.version.load(std::memory_order_relaxed) == version;
    return is_here && is_whole ? attachment : nullptr;
  }

  /// In the place of another one.
  void remember(Communicator communicator, Attachment* attachment) noexcept {
    write(places_[index_of(communicator)], communicator, attachment);
  }

  /// MPI libraries give the handles of freed communicators to new ones.
  void forget(const Attachment* attachment) noexcept {
    for (Place& place : places_) {
      if (place.attachment.load(std::memory_order_relaxed) == attachment) write(place, {}, nullptr);
    }
  }

  void forget(Communicator communicator) noexcept {
    Place& place = places_[index_of(communicator)];
    if (place.communicator.load(std::memory_order_relaxed) == communicator) {
      write(place, {}, nullptr);
    }
  }

  void forget_all() noexcept {
    for (Place& place : places_) write(place, {}, nullptr);
  }

 private:
  static constexpr int kIndexBits = 4;
  struct Place {
    std::atomic<std::uint64_t> version{0};
    std::atomic<Communicator> communicator{};
    std::atomic<Attachment*> attachment{nullptr};
  };

  /// Handles are numbers in some MPI libraries, and pointers in others.
  template <class Handle>
  static std::uint64_t number_of(Handle handle) noexcept {
    if constexpr (std::is_pointer_v<Handle>) {
      return reinterpret_cast<std::uintptr_t>(handle);
    } else {
      return static_cast<std::uint64_t>(handle);
    }
  }

  static std::size_t index_of(Communicator communicator) noexcept {
    constexpr std::uint64_t kMixer = 0x9e3779b97f4a7c15u;
    return static_cast<std::size_t>((number_of(communicator) * kMixer) >> (64 - kIndexBits));
  }

  static void write(Place& place, Communicator communicator, Attachment* attachment) noexcept {
    const std::uint64_t version = place.version.load(std::memory_order_relaxed);
    place.version.store(version + 1, std::memory_order_relaxed);
    // Who sees one of these sees the odd version, too.
    place.communicator.store(communicator, std::memory_order_release);
    place.attachment.store(attachment, std::memory_order_release);
    place.version.store(version + 2, std::memory_order_release);
  }

  std::array<Place, std::size_t{1} << kIndexBits> places_;
};

}  // namespace hycoll::preload

#endif  // HYCOLL_PRELOAD_SESSION_RECENT_ATTACHMENTS_H_
