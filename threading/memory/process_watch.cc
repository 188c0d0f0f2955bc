#include "threading/memory/process_watch.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <future>
#include <mutex>
#include <system_error>

#include "core/base/errors.h"
#include "threading/memory/quiet_thread.h"

namespace hycoll {

/// A process's word, and its place in the list of words that the kernel marks when the process
/// ends. The link is an address of the process's own, which nobody else uses.
struct alignas(64) ProcessWatch::Entry {
  robust_list link;
  std::atomic<std::uint32_t> word;  ///< The keeper's thread number; 0: not here, or left.
};

/// The thread that stands for this process, and its list. Never destroyed.
class ProcessWatch::Keeper {
 public:
  static Keeper& instance() {
    static Keeper* const keeper = new Keeper;
    return *keeper;
  }

  void add(Entry& entry) {
    const std::lock_guard lock(mutex_);
    if (thread_ == 0) return;
    entry.word.store(thread_, std::memory_order_relaxed);
    entry.link.next = head_.list.next;
    // The kernel reads the list when this process ends, at any point between two stores: it must
    // find a list then. It is the same process, so the order of the program is enough.
    std::atomic_signal_fence(std::memory_order_seq_cst);
    head_.list.next = &entry.link;
  }

  void remove(Entry& entry) {
    // A fork's child shares the words, but they are not its own.
    if (getpid() != process_) return;
    const std::lock_guard lock(mutex_);
    for (robust_list* link = &head_.list; link->next != &head_.list; link = link->next) {
      if (link->next != &entry.link) continue;
      link->next = entry.link.next;
      break;
    }
    std::atomic_signal_fence(std::memory_order_seq_cst);  // As in add().
    entry.word.store(0, std::memory_order_relaxed);
  }

 private:
  Keeper() {
    head_.list.next = &head_.list;
    head_.futex_offset =
        static_cast<long>(offsetof(Entry, word)) - static_cast<long>(offsetof(Entry, link));
    try {
      std::promise<std::uint32_t> number;
      std::future<std::uint32_t> started = number.get_future();
      start_without_signals([this, promise = std::move(number)]() mutable {
        keep(promise);
      }).detach();
      thread_ = started.get();
    } catch (const std::system_error&) {
      thread_ = 0;
    }
    std::atexit([] { instance().leave_all(); });
  }

  void keep(std::promise<std::uint32_t>& number) {
    const bool listens = syscall(SYS_set_robust_list, &head_, sizeof(head_)) == 0;
    number.set_value(listens ? static_cast<std::uint32_t>(syscall(SYS_gettid)) : 0);
    for (;;) pause();
  }

  /// This process ends in order.
  void leave_all() {
    if (getpid() != process_) return;
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return;
    while (head_.list.next != &head_.list) {
      auto* const entry = reinterpret_cast<Entry*>(head_.list.next);  // The link comes first.
      head_.list.next = entry->link.next;
      entry->word.store(0, std::memory_order_relaxed);
    }
  }

  static_assert(offsetof(Entry, link) == 0);

  const pid_t process_ = getpid();
  std::mutex mutex_;
  robust_list_head head_{};   // changed under mutex_
  std::uint32_t thread_ = 0;  // 0: there is none
};

std::size_t ProcessWatch::size_bytes(int process_count) {
  return static_cast<std::size_t>(process_count) * sizeof(Entry);
}

ProcessWatch::ProcessWatch(std::span<std::byte> shared, int process_count, int own)
    : entries_(reinterpret_cast<Entry*>(shared.data())), process_count_(process_count), own_(own) {
  static_assert(std::atomic<std::uint32_t>::is_always_lock_free);
  HYCOLL_ASSERT(shared.size() >= size_bytes(process_count), "the watch fits into the memory");
  if (process_count > 1) Keeper::instance().add(entries_[own_]);
}

ProcessWatch::~ProcessWatch() {
  if (process_count_ > 1) Keeper::instance().remove(entries_[own_]);
}

int ProcessWatch::find_ended() const noexcept {
  for (int process = 0; process < process_count_; ++process) {
    // Written by the kernel; nothing is read on its strength.
    const std::uint32_t word = entries_[process].word.load(std::memory_order_relaxed);
    if ((word & FUTEX_OWNER_DIED) != 0) return process;
  }
  return -1;
}

}  // namespace hycoll
