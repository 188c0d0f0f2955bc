#ifndef HYCOLL_THREADING_MEMORY_CALL_SIGNATURE_H_
#define HYCOLL_THREADING_MEMORY_CALL_SIGNATURE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "core/base/collective.h"

namespace hycoll {

/// What members must agree on in a call, packed into two words.
struct PackedSignature {
  std::uint64_t call = 0;
  std::uint64_t detail = 0;

  /// What members compare. The salt tells calls of different communicators apart.
  constexpr std::uint32_t digest(std::uint32_t salt = 0) const noexcept {
    return static_cast<std::uint32_t>(
        ((call + salt * 0xbf58476d1ce4e5b9u + detail * 0xd1b54a32d192ed03u) *
         0x9e3779b97f4a7c15u) >>
        32);
  }
  friend bool operator==(const PackedSignature&, const PackedSignature&) = default;
};

/// The same, readable.
struct CallSignature {
  std::size_t count = 0;  ///< Elements; bytes where nothing is combined.
  Collective collective = Collective::allreduce;
  std::uint8_t type_code = 0;  ///< A DataType, or a code of the caller's from kDataTypeCount on.
  std::uint8_t op_code = 0;    ///< An Operator, or a code of the caller's up to 31.
  bool is_reproducible = false;
  /// Of elements whose type has no code of its own; 0 otherwise.
  std::uint32_t element_bytes = 0;
  /// The root of a collective that has one. Where the counts of blocks are given one by one, a
  /// digest of these and the root, and this bit.
  std::uint32_t detail = 0;
  static constexpr std::uint32_t kUnequalBlocks = std::uint32_t{1} << 31;
  static std::uint32_t detail_of(std::span<const std::size_t> block_counts, int root) noexcept;

  PackedSignature packed() const noexcept {
    return {.call = (static_cast<std::uint64_t>(count) << 16) |
                    (static_cast<std::uint64_t>(collective) << 12) |
                    (static_cast<std::uint64_t>(type_code & 0x3f) << 6) |
                    (static_cast<std::uint64_t>(is_reproducible) << 5) |
                    static_cast<std::uint64_t>(op_code & 0x1f),
            .detail = (static_cast<std::uint64_t>(element_bytes) << 32) | detail};
  }
  static CallSignature unpack(const PackedSignature& packed) noexcept {
    return {.count = static_cast<std::size_t>(packed.call >> 16),
            .collective = static_cast<Collective>((packed.call >> 12) & 0xf),
            .type_code = static_cast<std::uint8_t>((packed.call >> 6) & 0x3f),
            .op_code = static_cast<std::uint8_t>(packed.call & 0x1f),
            .is_reproducible = ((packed.call >> 5) & 1) != 0,
            .element_bytes = static_cast<std::uint32_t>(packed.detail >> 32),
            .detail = static_cast<std::uint32_t>(packed.detail)};
  }
  /// As programs call it: an allreduce of nothing.
  bool is_barrier() const noexcept { return collective == Collective::allreduce && count == 0; }
  /// For messages: "barrier", "reduce, count 3, type double, operator sum, root 1", "broadcast, 24
  /// bytes, root 1".
  std::string describe() const;
};

}  // namespace hycoll

#endif  // HYCOLL_THREADING_MEMORY_CALL_SIGNATURE_H_
