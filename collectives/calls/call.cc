#include "collectives/api/call.h"

#include <fmt/format.h>

#include "core/base/collective_traits.h"
#include "core/base/errors.h"

namespace hycoll {
namespace {

bool is_commutative(const Operation& op) {
  try {
    return op != Operation(MPI_OP_NULL) && op.is_commutative();
  } catch (const Error&) {
    return false;  // the call will be refused
  }
}

}  // namespace

bool depends_on_rank_order(const Call& call) {
  if (call.bits == Bits::reproducible) return true;
  const CollectiveTraits traits = traits_of(call.collective);
  // Ranks number the blocks.
  if (is_prefix(traits) || has_blocks(traits)) return true;
  return combines(traits) && !is_commutative(call.op);
}

void require_same_size(std::size_t input_size, std::size_t output_size) {
  if (input_size == output_size) return;
  throw Error(ErrorKind::invalid_argument,
              fmt::format("input has {} elements and output has {}; both must have the same size",
                          input_size, output_size));
}

}  // namespace hycoll
