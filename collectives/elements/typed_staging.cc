#include "collectives/elements/typed_staging.h"

#include <algorithm>

#include "collectives/elements/type_decoding.h"
#include "threading/transport/mpi/check_mpi.h"
#include "threading/transport/mpi/mpi_types.h"

namespace hycoll {
namespace {

/// The alignment of the widest scalar type.
constexpr std::ptrdiff_t kAlignmentBytes = 16;

std::ptrdiff_t rounded_up(std::ptrdiff_t bytes) noexcept {
  return (bytes + kAlignmentBytes - 1) / kAlignmentBytes * kAlignmentBytes;
}

/// How far an address lies above a multiple of the alignment.
std::ptrdiff_t misalignment(std::ptrdiff_t address) noexcept {
  const std::ptrdiff_t remainder = address % kAlignmentBytes;
  return remainder < 0 ? remainder + kAlignmentBytes : remainder;
}

const std::byte* bytes_of(const void* address) noexcept {
  return static_cast<const std::byte*>(address);
}
std::byte* bytes_of(void* address) noexcept { return static_cast<std::byte*>(address); }

}  // namespace

TypedStaging::Bounds TypedStaging::bounds_of(MPI_Datatype type) {
  MPI_Aint lower_bound = 0;
  MPI_Aint extent = 0;
  MPI_Aint true_lower_bound = 0;
  MPI_Aint true_extent = 0;
  MPI_Count size = 0;
  check_mpi(MPI_Type_get_extent(type, &lower_bound, &extent), "MPI_Type_get_extent");
  check_mpi(MPI_Type_get_true_extent(type, &true_lower_bound, &true_extent),
            "MPI_Type_get_true_extent");
  check_mpi(MPI_Type_size_x(type, &size), "MPI_Type_size_x");
  return {.lower_bound = lower_bound,
          .extent = extent,
          .true_lower_bound = true_lower_bound,
          .true_extent = true_extent,
          .size = static_cast<std::ptrdiff_t>(size)};
}

ElementLayout element_layout(MPI_Datatype type) {
  using Form = ElementLayout::Form;
  const TypedStaging::Bounds bounds = TypedStaging::bounds_of(type);
  if (bounds.has_no_gaps() || find_predefined(type)) {
    return {.form = Form::direct,
            .slot_bytes = static_cast<std::size_t>(bounds.extent),
            .origin_bytes = 0};
  }
  const std::ptrdiff_t offset = misalignment(bounds.true_lower_bound);
  const std::ptrdiff_t used = offset + bounds.true_extent;
  const std::ptrdiff_t most = 2 * bounds.size;
  ElementLayout layout{
      .form = Form::slots,
      .slot_bytes = static_cast<std::size_t>(std::max(rounded_up(used), kAlignmentBytes)),
      .origin_bytes = offset - bounds.true_lower_bound};
  if (bounds.size > 0 && bounds.extent >= used && bounds.extent <= most) {
    layout.form = Form::spaced;
    layout.slot_bytes = static_cast<std::size_t>(bounds.extent);
  } else if (bounds.size > 0 && static_cast<std::ptrdiff_t>(layout.slot_bytes) > most) {
    layout = {.form = Form::packed,
              .slot_bytes = static_cast<std::size_t>(bounds.size),
              .origin_bytes = 0};
  }
  return layout;
}

ElementLayout data_layout(MPI_Datatype type) {
  using Form = ElementLayout::Form;
  const std::shared_ptr<const TypeMap> map = type_map_of(type);
  return {.form = map->is_plain() ? Form::direct : Form::packed,
          .slot_bytes = map->size_bytes(),
          .origin_bytes = 0};
}

TypedStaging::TypedStaging(MPI_Datatype type, const ElementLayout& layout)
    : layout_(layout), bounds_(bounds_of(type)), map_(type_map_of(type)) {}

TypedStaging::UserSpan TypedStaging::user_span(std::size_t count) const noexcept {
  const std::ptrdiff_t last = (static_cast<std::ptrdiff_t>(count) - 1) * bounds_.extent;
  const std::ptrdiff_t lowest = bounds_.true_lower_bound + std::min<std::ptrdiff_t>(last, 0);
  const std::ptrdiff_t highest =
      bounds_.true_lower_bound + bounds_.true_extent + std::max<std::ptrdiff_t>(last, 0);
  const std::ptrdiff_t offset = misalignment(lowest);
  return {.size_bytes = static_cast<std::size_t>(offset + highest - lowest),
          .origin_bytes = offset - lowest};
}

void TypedStaging::copy_in(const void* user_buffer, void* work_buffer, std::size_t first,
                           std::size_t count) const {
  const std::byte* const user = displaced(bytes_of(user_buffer), user_offset(first));
  std::byte* const work = bytes_of(work_buffer) + first * layout_.slot_bytes;
  if (layout_.form == ElementLayout::Form::packed) {
    map_->pack(user, 0, count * layout_.slot_bytes, work);
  } else {
    map_->copy(user, count, displaced(work, layout_.origin_bytes), slot_distance());
  }
}

void TypedStaging::copy_out(const void* work_buffer, void* user_buffer, std::size_t first,
                            std::size_t count) const {
  const std::byte* const work = bytes_of(work_buffer) + first * layout_.slot_bytes;
  std::byte* const user = displaced(bytes_of(user_buffer), user_offset(first));
  if (layout_.form == ElementLayout::Form::packed) {
    map_->unpack(work, 0, count * layout_.slot_bytes, user);
  } else {
    map_->copy_back(displaced(work, layout_.origin_bytes), slot_distance(), count, user);
  }
}

}  // namespace hycoll
