#include "threading/memory/bell.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>

namespace hycoll {
namespace {

// Not a private one: the word may lie in memory of several processes.
void call_futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value,
                const timespec* at_most) noexcept {
  static_assert(std::atomic<std::uint32_t>::is_always_lock_free);
  // What it returns does not matter: who sleeps looks again for any reason.
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation, value, at_most, nullptr,
          0);
}

}  // namespace

void Bell::listen() noexcept {
  listeners_.fetch_add(1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_seq_cst);  // pairs with that of ring()
}

void Bell::stop_listening() noexcept {
  listeners_.fetch_sub(1, std::memory_order_relaxed);  // a count: too late is no harm
}

void Bell::sleep(std::uint32_t heard, std::chrono::nanoseconds at_most) noexcept {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(at_most);
  const timespec time{.tv_sec = seconds.count(), .tv_nsec = (at_most - seconds).count()};
  call_futex(rings_, FUTEX_WAIT, heard, &time);
}

void Bell::wake() noexcept {
  rings_.fetch_add(1, std::memory_order_release);  // pairs with rings()
  call_futex(rings_, FUTEX_WAKE, INT_MAX, nullptr);
}

}  // namespace hycoll
