#include "threading/memory/call_signature.h"

#include <fmt/format.h>

#include "core/base/collective_traits.h"
#include "core/base/types.h"

namespace hycoll {

std::uint32_t CallSignature::detail_of(std::span<const std::size_t> block_counts,
                                       int root) noexcept {
  if (block_counts.empty()) return static_cast<std::uint32_t>(root);
  std::uint64_t digest = 0xcbf29ce484222325u + static_cast<std::uint64_t>(root);
  for (const std::size_t count : block_counts) digest = (digest ^ count) * 0x100000001b3u;
  return static_cast<std::uint32_t>(digest >> 32) | kUnequalBlocks;
}

std::string CallSignature::describe() const {
  if (is_barrier()) return "barrier";
  const std::string type = type_code < kDataTypeCount
                               ? std::string(name_of(static_cast<DataType>(type_code)))
                           : element_bytes == 0 ? fmt::format("of MPI (code {})", type_code)
                                                : fmt::format("of MPI, {} bytes", element_bytes);
  const std::string op = op_code < kOperatorCount
                             ? std::string(name_of(static_cast<Operator>(op_code)))
                             : fmt::format("of MPI or the program (code {})", op_code);
  std::string text = combines(collective) ? fmt::format("{}, count {}, type {}, operator {}",
                                                        name_of(collective), count, type, op)
                                          : fmt::format("{}, {} bytes", name_of(collective), count);
  if (is_reproducible) text += ", reproducible";
  if ((detail & kUnequalBlocks) != 0) {
    text += fmt::format(", block counts{} with digest {:x}",
                        has_root(collective) ? " and root" : "", detail & ~kUnequalBlocks);
  } else if (has_root(collective)) {
    text += fmt::format(", root {}", detail);
  }
  return text;
}

}  // namespace hycoll
