#ifndef HYCOLL_THREADING_MEMORY_BELL_H_
#define HYCOLL_THREADING_MEMORY_BELL_H_

#include <atomic>
#include <chrono>
#include <cstdint>

namespace hycoll {

/// Wakes those who sleep until others of their node have written something, in memory of one
/// process or of several. Usable once constructed, by any number of threads; written while somebody
/// listens only. Who dies as a listener leaves rings a little dearer, and nothing else.
///
/// A writer rings after it has written, which is a fence and a load while nobody listens. A reader
/// listens, looks once more, and then sleeps until a ring that it has not heard. Either the reader
/// sees what has been written, or the writer sees the reader: each has a sequentially consistent
/// fence between its own store and its look at the other's (ring() and listen()).
class Bell {
 public:
  /// After something has been written that others may wait for.
  void ring() noexcept {
    std::atomic_thread_fence(std::memory_order_seq_cst);  // pairs with that of listen()
    if (listeners_.load(std::memory_order_relaxed) > 0) [[unlikely]]
      wake();
  }

  /// From now on rings wake this thread, until stop_listening().
  void listen() noexcept;
  void stop_listening() noexcept;

  /// How often it has been rung for listeners. To be asked before the look after which who has
  /// found nothing sleeps.
  std::uint32_t rings() const noexcept {
    // Pairs with the releasing increment in wake(): a look after it sees what was written before.
    return rings_.load(std::memory_order_acquire);
  }

  /// Returns when rings() differs from `heard`, after so long, or earlier. The thread must listen.
  void sleep(std::uint32_t heard, std::chrono::nanoseconds at_most) noexcept;

 private:
  void wake() noexcept;

  std::atomic<std::uint32_t> listeners_{0};
  std::atomic<std::uint32_t> rings_{0};  // the word that the kernel looks at
};

}  // namespace hycoll

#endif  // HYCOLL_THREADING_MEMORY_BELL_H_
