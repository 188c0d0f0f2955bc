#ifndef HYCOLL_COLLECTIVES_PROCESSES_MEMORY_CHARGE_H_
#define HYCOLL_COLLECTIVES_PROCESSES_MEMORY_CHARGE_H_

#include <cstddef>
#include <optional>

namespace hycoll {

/// What this process provides of its machine's shared memory for one segment. Given back when it
/// ends. Move-only.
class MemoryCharge {
 public:
  /// None if the process would provide more than `limit_bytes` then. Thread-safe.
  static std::optional<MemoryCharge> take(std::size_t size_bytes, std::size_t limit_bytes);
  MemoryCharge(MemoryCharge&& other) noexcept : size_bytes_(other.size_bytes_) {
    other.size_bytes_ = 0;
  }
  MemoryCharge& operator=(MemoryCharge&&) = delete;
  ~MemoryCharge();

  /// What the process provides for all of its segments; and the most that it has.
  static std::size_t all_bytes() noexcept;
  static std::size_t peak_bytes() noexcept;

 private:
  explicit MemoryCharge(std::size_t size_bytes) noexcept : size_bytes_(size_bytes) {}
  std::size_t size_bytes_;
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_PROCESSES_MEMORY_CHARGE_H_
