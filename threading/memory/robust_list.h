#ifndef HYCOLL_THREADING_MEMORY_ROBUST_LIST_H_
#define HYCOLL_THREADING_MEMORY_ROBUST_LIST_H_

#include <linux/futex.h>

#include <atomic>

namespace hycoll {

/// Words that the kernel marks when the thread ends to which the list belongs (set_robust_list).
/// Each lies behind a link, always at the same distance.
///
/// The list is changed by one thread at a time, which need not be that one. The kernel may walk
/// through it at any instant, on another core: a process is killed without regard for what its
/// threads do. So each store that leads to a link releases what the link and its word hold. The
/// kernel loads from the addresses that it finds, and processors keep such loads in order.
class RobustList {
 public:
  explicit RobustList(long bytes_from_link_to_word) noexcept {
    head_.list.next = &head_.list;
    head_.futex_offset = bytes_from_link_to_word;
  }
  RobustList(const RobustList&) = delete;
  RobustList& operator=(const RobustList&) = delete;

  /// For the kernel.
  robust_list_head& head() noexcept { return head_; }

  /// The first link; null if there is none.
  robust_list* front() noexcept {
    return head_.list.next == &head_.list ? nullptr : head_.list.next;
  }

  /// A link that is in no list, and whose word has been written.
  void push_front(robust_list& link) noexcept {
    link.next = head_.list.next;
    lead(head_.list, &link);
  }

  /// Requires that the link is in the list.
  void remove(const robust_list& link) noexcept {
    robust_list* before = &head_.list;
    while (before->next != &link) before = before->next;
    lead(*before, link.next);
  }

 private:
  /// From now on this follows; it pairs with the kernel's loads.
  static void lead(robust_list& from, robust_list* to) noexcept {
    std::atomic_ref(from.next).store(to, std::memory_order_release);
  }

  robust_list_head head_{};
};

}  // namespace hycoll

#endif  // HYCOLL_THREADING_MEMORY_ROBUST_LIST_H_
