#include "collectives/node/memory_charge.h"

#include <algorithm>
#include <array>
#include <mutex>

namespace hycoll {
namespace {

/// What all segments of this process take, and the most that they have taken.
struct Books {
  std::mutex mutex;
  std::array<std::size_t, 2> account_bytes{};  // by account; guarded by mutex
  std::size_t peak_bytes = 0;                  // guarded by mutex

  std::size_t& of(MemoryCharge::Account account) {
    return account_bytes[static_cast<std::size_t>(account)];
  }
  std::size_t all_bytes() const { return account_bytes[0] + account_bytes[1]; }
};

Books& books() {
  static constinit Books books;
  return books;
}

bool fits(std::size_t taken, std::size_t size_bytes, std::size_t limit_bytes) {
  return size_bytes <= limit_bytes && taken <= limit_bytes - size_bytes;
}

}  // namespace

std::optional<MemoryCharge> MemoryCharge::take(Account account, std::size_t size_bytes,
                                               const Limits& limits) {
  {
    const std::lock_guard lock(books().mutex);
    std::size_t& taken = books().of(account);
    if (!fits(taken, size_bytes, limits.account_bytes)) return std::nullopt;
    if (!fits(books().all_bytes(), size_bytes, limits.all_bytes)) return std::nullopt;
    taken += size_bytes;
    books().peak_bytes = std::max(books().peak_bytes, books().all_bytes());
  }
  return MemoryCharge(account, size_bytes);
}

MemoryCharge::~MemoryCharge() {
  if (size_bytes_ == 0) return;  // moved from
  const std::lock_guard lock(books().mutex);
  books().of(account_) -= size_bytes_;
}

std::size_t MemoryCharge::all_bytes() noexcept {
  const std::lock_guard lock(books().mutex);
  return books().all_bytes();
}

std::size_t MemoryCharge::peak_bytes() noexcept {
  const std::lock_guard lock(books().mutex);
  return books().peak_bytes;
}

}  // namespace hycoll
