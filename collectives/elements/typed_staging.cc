#include "collectives/elements/typed_staging.h"

#include <algorithm>
#include <utility>

#include "collectives/elements/type_decoding.h"
#include "threading/transport/mpi/check_mpi.h"

namespace hycoll {
namespace {

/// The alignment of the widest scalar type.
constexpr std::ptrdiff_t kAlignmentBytes = 16;

/// How far an address lies above a multiple of the alignment.
std::ptrdiff_t misalignment(std::ptrdiff_t address) noexcept {
  const std::ptrdiff_t remainder = address % kAlignmentBytes;
  return remainder < 0 ? remainder + kAlignmentBytes : remainder;
}

}  // namespace

TypedStaging::TypedStaging(MPI_Datatype type) : TypedStaging(type, type_map_of(type)) {}

TypedStaging::TypedStaging(MPI_Datatype type, std::shared_ptr<const TypeMap> map)
    : map_(std::move(map)) {
  if (map_->size_bytes() == 0) return;  // MPI's bounds mean nothing
  MPI_Count lowest = 0;
  MPI_Count span = 0;
  check_mpi(MPI_Type_get_true_extent_x(type, &lowest, &span), "MPI_Type_get_true_extent_x");
  lowest_bytes_ = static_cast<std::ptrdiff_t>(lowest);
  end_bytes_ = static_cast<std::ptrdiff_t>(lowest + span);
}

TypedStaging::UserSpan TypedStaging::user_span(std::size_t count) const noexcept {
  const std::ptrdiff_t last = (static_cast<std::ptrdiff_t>(count) - 1) * extent_bytes();
  const std::ptrdiff_t lowest = lowest_bytes_ + std::min<std::ptrdiff_t>(last, 0);
  const std::ptrdiff_t end = end_bytes_ + std::max<std::ptrdiff_t>(last, 0);
  const std::ptrdiff_t offset = misalignment(lowest);
  return {.size_bytes = static_cast<std::size_t>(offset + end - lowest),
          .origin_bytes = offset - lowest};
}

}  // namespace hycoll
