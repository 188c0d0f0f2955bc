#ifndef HYCOLL_THREADING_ADDRESS_SPACE_H_
#define HYCOLL_THREADING_ADDRESS_SPACE_H_

#include <cstddef>
#include <cstdint>

namespace hycoll {

/// How the processes of a node speak of buffers that several of them have mapped, each at an
/// address of its own. Thread-safe.
class AddressSpace {
 public:
  virtual ~AddressSpace() = default;

  /// What this process announces for a buffer at `address`; 0 if no other process can reach it.
  virtual std::uint64_t announce(const void* address) const noexcept = 0;

  /// Where the buffer that the process of `worker` has announced lies in this process; null if it
  /// cannot be reached.
  virtual std::byte* resolve(int worker, std::uint64_t announced) const noexcept = 0;
};

}  // namespace hycoll

#endif  // HYCOLL_THREADING_ADDRESS_SPACE_H_
