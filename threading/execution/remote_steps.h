#ifndef HYCOLL_THREADING_EXECUTION_REMOTE_STEPS_H_
#define HYCOLL_THREADING_EXECUTION_REMOTE_STEPS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "threading/memory/address_space.h"

namespace hycoll {

/// Where an operand of a step lies.
struct OperandPlace {
  std::byte* here = nullptr;     ///< In this process; null if it lies in another one's own memory:
  int worker = 0;                ///< then whose that is,
  std::uint64_t announced = 0;   ///< what its process has announced of the buffer,
  std::size_t offset_bytes = 0;  ///< and where the operand begins in it.
};

/// Steps with operands in other processes' own memory, which the kernel copies from there or to
/// there once (AddressSpace::read, write): block by block, so that what has been read is still in
/// the cache when it is combined. Used by one thread at a time.
class RemoteSteps {
 public:
  /// Combines so many elements of sources into destinations, all in this process.
  using Combine = std::function<void(std::span<void* const> destinations,
                                     std::span<const void* const> sources, std::size_t count)>;

  /// For a step of `count` elements of `element_bytes` bytes. Operands are equal or apart. Throws
  /// Error (environment) if the kernel refuses, and what `combine` throws.
  void reduce(const AddressSpace& addresses, std::span<const OperandPlace> destinations,
              std::span<const OperandPlace> sources, std::size_t count, std::size_t element_bytes,
              const Combine& combine);

  /// The same for a copy.
  void copy(const AddressSpace& addresses, std::span<const OperandPlace> destinations,
            const OperandPlace& source, std::size_t size_bytes);

 private:
  /// Room for `count` blocks.
  void reserve(std::size_t count, std::size_t block_bytes);
  /// The destinations that lie here, displaced; the first block of the buffer if there are none.
  std::span<void* const> near_parts(std::span<const OperandPlace> destinations,
                                    std::size_t begin_bytes);
  /// Copies what has come to lie at `from` to the destinations that lie elsewhere.
  static void write_far(const AddressSpace& addresses, std::span<const OperandPlace> destinations,
                        std::size_t begin_bytes, const void* from, std::size_t size_bytes);

  std::vector<std::byte> buffer_;
  std::vector<void*> destinations_;
  std::vector<const void*> sources_;
};

}  // namespace hycoll

#endif  // HYCOLL_THREADING_EXECUTION_REMOTE_STEPS_H_
