#ifndef HYCOLL_COLLECTIVES_NODE_MEMORY_CHARGE_H_
#define HYCOLL_COLLECTIVES_NODE_MEMORY_CHARGE_H_

#include <cstddef>
#include <optional>
#include <utility>

namespace hycoll {

/// What this process provides of its machine's shared memory for one segment. Given back when it
/// ends. Move-only.
class MemoryCharge {
 public:
  /// For whom: channels leave room for communicators.
  enum class Account { communicators, channels };

  /// How much the process may provide on an account, and on both.
  struct Limits {
    std::size_t account_bytes = 0;
    std::size_t all_bytes = 0;
  };

  /// None if the process would provide more than that then. Thread-safe.
  static std::optional<MemoryCharge> take(Account account, std::size_t size_bytes,
                                          const Limits& limits);
  MemoryCharge(MemoryCharge&& other) noexcept
      : account_(other.account_), size_bytes_(std::exchange(other.size_bytes_, 0)) {}
  MemoryCharge& operator=(MemoryCharge&&) = delete;
  ~MemoryCharge();

  /// What the process provides for all of its segments; and the most that it has.
  static std::size_t all_bytes() noexcept;
  static std::size_t peak_bytes() noexcept;

 private:
  MemoryCharge(Account account, std::size_t size_bytes) noexcept
      : account_(account), size_bytes_(size_bytes) {}

  Account account_;
  std::size_t size_bytes_;
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_NODE_MEMORY_CHARGE_H_
