#include "threading/memory/process_watch.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <forward_list>
#include <future>
#include <mutex>
#include <system_error>

#include "core/base/cache_lines.h"
#include "core/base/errors.h"
#include "core/base/lifetime.h"
#include "threading/memory/quiet_thread.h"
#include "threading/memory/robust_list.h"

namespace hycoll {
namespace {

/// A word of a process that has left by exit(): no thread's number.
constexpr std::uint32_t kLeftByExit = FUTEX_TID_MASK;

bool has_ended(std::uint32_t word) noexcept { return (word & FUTEX_OWNER_DIED) != 0; }

}  // namespace

/// A process's word, and its place in the list of words that the kernel marks when the process
/// ends. The link is an address of the process's own, which nobody else uses.
struct alignas(kCacheLineBytes) ProcessWatch::Entry {
  robust_list link;
  /// The keeper's thread number; 0: not here, or left; kLeftByExit.
  std::atomic<std::uint32_t> word;
  std::atomic<std::int32_t> process_id;
};

/// A thread that stands for this process, and its list of words. It never ends, unless the kernel
/// knows no such lists.
class ProcessWatch::Keeper {
 public:
  /// Of so many words the kernel marks all: it does not follow a list beyond its 2,048th.
  static constexpr int kMostWords = 1024;

  /// Throws std::system_error if there can be no thread.
  Keeper() {
    std::promise<std::uint32_t> number;
    std::future<std::uint32_t> started = number.get_future();
    start_without_signals([this, promise = std::move(number)]() mutable {
      keep(promise);
    }).detach();
    thread_ = started.get();
  }
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  bool is_known() const noexcept { return thread_ != 0; }
  bool has_room() const noexcept { return is_known() && count_ < kMostWords; }
  bool keeps(const Entry& entry) const noexcept {
    return is_known() && entry.word.load(std::memory_order_relaxed) == thread_;
  }

  /// Requires room.
  void add(Entry& entry) noexcept {
    entry.word.store(thread_, std::memory_order_relaxed);  // published by the list
    words_.push_front(entry.link);
    ++count_;
  }

  /// Requires an entry that it keeps.
  void remove(Entry& entry) noexcept { take_out(entry, 0); }

  void leave_all() noexcept {
    while (robust_list* const link = words_.front()) {
      take_out(*reinterpret_cast<Entry*>(link), kLeftByExit);  // The link comes first.
    }
  }

 private:
  void keep(std::promise<std::uint32_t>& number) {
    const bool listens =
        syscall(SYS_set_robust_list, &words_.head(), sizeof(robust_list_head)) == 0;
    number.set_value(listens ? static_cast<std::uint32_t>(syscall(SYS_gettid)) : 0);
    while (listens) pause();
  }

  void take_out(Entry& entry, std::uint32_t word) noexcept {
    words_.remove(entry.link);
    // The kernel, which may just pass the entry, marks neither word.
    entry.word.store(word, std::memory_order_relaxed);
    --count_;
  }

  static_assert(offsetof(Entry, link) == 0);

  RobustList words_{static_cast<long>(offsetof(Entry, word))};
  int count_ = 0;
  std::uint32_t thread_ = 0;  // 0: the kernel does not know the list
};

/// Those of this process: as many as its words need. Never destroyed.
class ProcessWatch::Keepers {
 public:
  static Keepers& instance() {
    static Immortal keepers([] { return Keepers(); });
    return *keepers;
  }

  void add(Entry& entry) {
    const std::lock_guard lock(mutex_);
    for (Keeper& keeper : keepers_) {
      if (keeper.has_room()) return keeper.add(entry);
    }
    if (!keepers_.empty() && !keepers_.front().is_known()) return;  // nor would be another one
    try {
      Keeper& keeper = keepers_.emplace_front();
      if (keeper.has_room()) keeper.add(entry);
    } catch (const std::system_error&) {
      // Nobody will notice: ProcessWatch.
    }
  }

  void remove(Entry& entry) {
    // A fork's child shares the words, but they are not its own.
    if (getpid() != process_) return;
    const std::lock_guard lock(mutex_);
    for (Keeper& keeper : keepers_) {
      if (keeper.keeps(entry)) return keeper.remove(entry);
    }
  }

 private:
  Keepers() {
    std::atexit([] { instance().leave_all(); });
  }

  /// This process ends in order.
  void leave_all() {
    if (getpid() != process_) return;
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return;
    for (Keeper& keeper : keepers_) keeper.leave_all();
  }

  const pid_t process_ = getpid();
  std::mutex mutex_;
  std::forward_list<Keeper> keepers_;  // guarded by mutex_
};

std::size_t ProcessWatch::size_bytes(int process_count) {
  return static_cast<std::size_t>(process_count) * sizeof(Entry);
}

ProcessWatch::ProcessWatch(std::span<std::byte> shared, int process_count, int own)
    : entries_(reinterpret_cast<Entry*>(shared.data())), process_count_(process_count), own_(own) {
  static_assert(std::atomic<std::uint32_t>::is_always_lock_free);
  HYCOLL_ASSERT(shared.size() >= size_bytes(process_count), "the watch fits into the memory");
  entries_[own_].process_id.store(getpid(), std::memory_order_relaxed);
  if (process_count > 1) Keepers::instance().add(entries_[own_]);
}

ProcessWatch::~ProcessWatch() {
  if (process_count_ > 1) Keepers::instance().remove(entries_[own_]);
}

int ProcessWatch::process_id(int process) const noexcept {
  // Orders nothing.
  return entries_[process].process_id.load(std::memory_order_relaxed);
}

int ProcessWatch::find_ended() const noexcept {
  for (int process = 0; process < process_count_; ++process) {
    // Written by the kernel; nothing is read on its strength.
    if (has_ended(entries_[process].word.load(std::memory_order_relaxed))) return process;
  }
  return -1;
}

bool ProcessWatch::is_first_gone(int process) const noexcept {
  for (int other = 0; other < process_count_; ++other) {
    // As in find_ended(), or of one that is ending: the launcher kills nobody before that.
    const std::uint32_t word = entries_[other].word.load(std::memory_order_relaxed);
    if (other != process && (has_ended(word) || word == kLeftByExit)) return false;
  }
  return true;
}

}  // namespace hycoll
