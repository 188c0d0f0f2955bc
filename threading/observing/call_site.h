#ifndef HYCOLL_THREADING_OBSERVING_CALL_SITE_H_
#define HYCOLL_THREADING_OBSERVING_CALL_SITE_H_

#include <atomic>

namespace hycoll {

/// From where the program has made the blocking call that this thread is in. Functions that
/// programs call begin with
///
///     const CallSite site(__builtin_return_address(0));
///
/// of which the outermost counts: others may be called by hycoll itself.
class CallSite {
 public:
  explicit CallSite(const void* address) noexcept
      // Orders nothing: somebody has asked before the communicator was made.
      : is_noted_(are_wanted_.load(std::memory_order_relaxed) && here_ == nullptr) {
    if (is_noted_) [[unlikely]]
      here_ = address;
  }
  ~CallSite() {
    if (is_noted_) [[unlikely]]
      here_ = nullptr;
  }
  CallSite(const CallSite&) = delete;
  CallSite& operator=(const CallSite&) = delete;

  /// Null if nobody wants to know, or this thread is in no blocking call.
  static const void* here() noexcept { return here_; }

  /// From now on they are noted.
  static void want() noexcept { are_wanted_.store(true, std::memory_order_relaxed); }

 private:
  static inline constinit std::atomic<bool> are_wanted_{false};
  // Near for shared libraries, too: every call looks at it.
  [[gnu::tls_model("initial-exec")]] static inline constinit thread_local const void* here_ =
      nullptr;

  bool is_noted_;
};

}  // namespace hycoll

#endif  // HYCOLL_THREADING_OBSERVING_CALL_SITE_H_
