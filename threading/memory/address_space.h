#ifndef HYCOLL_THREADING_MEMORY_ADDRESS_SPACE_H_
#define HYCOLL_THREADING_MEMORY_ADDRESS_SPACE_H_

#include <cstddef>
#include <cstdint>

#include "core/base/errors.h"

namespace hycoll {

/// How the processes of a node speak of buffers that several of them have mapped, each at an
/// address of its own. Thread-safe.
class AddressSpace {
 public:
  virtual ~AddressSpace() = default;

  /// What this process announces for a buffer at `address`; 0 if nobody else can reach it. If the
  /// process has several workers, that may mean something to these only.
  virtual std::uint64_t announce(const void* address) const noexcept = 0;

  /// Where the buffer that the process of `worker` has announced lies in this process; null if it
  /// cannot be reached.
  virtual std::byte* resolve(int worker, std::uint64_t announced) const noexcept = 0;

  /// Copies between this process and a buffer that the process of `worker` has announced, from
  /// `offset_bytes` of it on, where resolve() does not reach it. Throws Error (environment) if that
  /// fails. An address space whose buffers are all reached does without.
  virtual void read(int worker, std::uint64_t announced, std::size_t offset_bytes,
                    void* destination, std::size_t size_bytes) const;
  virtual void write(int worker, std::uint64_t announced, std::size_t offset_bytes,
                     const void* source, std::size_t size_bytes) const;
};

inline void AddressSpace::read(int, std::uint64_t, std::size_t, void*, std::size_t) const {
  HYCOLL_ASSERT(false, "all buffers are reached");
}

inline void AddressSpace::write(int, std::uint64_t, std::size_t, const void*, std::size_t) const {
  HYCOLL_ASSERT(false, "all buffers are reached");
}

}  // namespace hycoll

#endif  // HYCOLL_THREADING_MEMORY_ADDRESS_SPACE_H_
