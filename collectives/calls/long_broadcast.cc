// Long broadcasts of data that some member must pack: piece by piece, so that no member needs as
// much memory again as it broadcasts.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "collectives/calls/caller.h"

namespace hycoll {
namespace {

/// What is packed at once, and the longest data that are packed whole. Long enough for every
/// algorithm to work at full speed.
constexpr std::size_t kPieceBytes = std::size_t{8} << 20;

}  // namespace

bool Caller::is_long_broadcast(const Call& call) {
  // Without a type, the call will be refused.
  if (call.collective != Collective::broadcast || call.type.handle() == MPI_DATATYPE_NULL) {
    return false;
  }
  const std::size_t element_bytes = moved_.find(call.type, "broadcast").element_bytes;
  return element_bytes > 0 && call.count > kPieceBytes / element_bytes &&
         call.count <= PTRDIFF_MAX / element_bytes;  // else it will be refused, too
}

void Caller::run_long_broadcast(const Call& call) {
  // A copy: the calls below look for elements of their own.
  const VectorElements elements = moved_.find(call.type, "broadcast");
  // Before the members agree: whoever is refused memory has not called yet.
  std::unique_ptr<std::byte[]> packed;
  if (elements.staging != nullptr)
    packed = std::make_unique_for_overwrite<std::byte[]>(kPieceBytes);
  std::uint8_t some_pack = packed != nullptr ? 1 : 0;
  run(calls::allreduce(&some_pack, &some_pack, 1, DataType::uint8, Operator::max));
  if (some_pack == 0) return run_whole(call);
  const std::size_t size_bytes = call.count * elements.element_bytes;
  const bool is_root = identity_.rank == call.root;
  for (std::size_t begin = 0; begin < size_bytes; begin += kPieceBytes) {
    const std::size_t end = std::min(begin + kPieceBytes, size_bytes);
    std::byte* const piece =
        packed != nullptr ? packed.get() : static_cast<std::byte*>(call.output) + begin;
    if (packed != nullptr && is_root) elements.staging->pack(call.input, begin, end, piece);
    run_whole(calls::broadcast(piece, end - begin, DataType::uint8, call.root));
    if (packed != nullptr && !is_root) elements.staging->unpack(piece, begin, end, call.output);
  }
}

}  // namespace hycoll
