#include "collectives/typed_staging.h"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <vector>

#include "core/errors.h"
#include "threading/mpi_endpoint.h"
#include "threading/mpi_types.h"

namespace hycoll {
namespace {

/// The alignment of the widest scalar type.
constexpr std::ptrdiff_t kAlignmentBytes = 16;

/// What is packed at once: stays in a core's own cache.
constexpr std::size_t kBlockBytes = 64 * 1024;

struct Bounds {
  std::ptrdiff_t lower_bound;
  std::ptrdiff_t extent;
  std::ptrdiff_t true_lower_bound;
  std::ptrdiff_t true_extent;
  std::ptrdiff_t size;
};

Bounds bounds_of(MPI_Datatype type) {
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

std::ptrdiff_t rounded_up(std::ptrdiff_t bytes) noexcept {
  return (bytes + kAlignmentBytes - 1) / kAlignmentBytes * kAlignmentBytes;
}

const std::byte* advanced(const void* address, std::ptrdiff_t bytes) noexcept {
  return static_cast<const std::byte*>(address) + bytes;
}
std::byte* advanced(void* address, std::ptrdiff_t bytes) noexcept {
  return static_cast<std::byte*>(address) + bytes;
}

std::vector<std::byte>& packed_block(std::size_t size_bytes) {
  thread_local std::vector<std::byte> block;
  if (block.size() < size_bytes) block.resize(size_bytes);
  return block;
}

}  // namespace

ElementLayout element_layout(MPI_Datatype type) {
  const Bounds bounds = bounds_of(type);
  const bool has_no_gaps = bounds.size > 0 && bounds.lower_bound == 0 &&
                           bounds.true_lower_bound == 0 && bounds.true_extent == bounds.size &&
                           bounds.extent == bounds.size;
  if (has_no_gaps || find_predefined(type)) {
    return {.slot_bytes = static_cast<std::size_t>(bounds.extent),
            .origin_bytes = 0,
            .is_contiguous = true,
            .is_spaced_as_extent = true};
  }
  const std::ptrdiff_t remainder = bounds.true_lower_bound % kAlignmentBytes;
  const std::ptrdiff_t offset = remainder < 0 ? remainder + kAlignmentBytes : remainder;
  const std::ptrdiff_t used = offset + bounds.true_extent;
  const std::ptrdiff_t tight = std::max(rounded_up(used), kAlignmentBytes);
  const bool is_spaced_as_extent =
      bounds.size > 0 && bounds.extent >= used && bounds.extent <= 2 * tight;
  return {.slot_bytes = static_cast<std::size_t>(is_spaced_as_extent ? bounds.extent : tight),
          .origin_bytes = offset - bounds.true_lower_bound,
          .is_contiguous = false,
          .is_spaced_as_extent = is_spaced_as_extent};
}

TypedStaging::TypedStaging(MPI_Datatype type) : layout_(element_layout(type)) {
  const Bounds bounds = bounds_of(type);
  extent_bytes_ = bounds.extent;
  packed_bytes_ = static_cast<std::size_t>(bounds.size);
  check_mpi(MPI_Type_dup(type, &user_type_), "MPI_Type_dup");
  check_mpi(
      MPI_Type_create_resized(type, 0, static_cast<MPI_Aint>(layout_.slot_bytes), &slot_type_),
      "MPI_Type_create_resized");
  check_mpi(MPI_Type_commit(&slot_type_), "MPI_Type_commit");
}

TypedStaging::~TypedStaging() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized != 0) return;
  MPI_Type_free(&slot_type_);
  MPI_Type_free(&user_type_);
}

void TypedStaging::copy_in(const void* user_buffer, void* work_buffer, std::size_t first,
                           std::size_t count) const {
  const auto skipped = static_cast<std::ptrdiff_t>(first);
  const auto slot_bytes = static_cast<std::ptrdiff_t>(layout_.slot_bytes);
  copy(advanced(user_buffer, skipped * extent_bytes_), user_type_, extent_bytes_,
       advanced(work_buffer, skipped * slot_bytes + layout_.origin_bytes), slot_type_, slot_bytes,
       count);
}

void TypedStaging::copy_out(const void* work_buffer, void* user_buffer, std::size_t first,
                            std::size_t count) const {
  const auto skipped = static_cast<std::ptrdiff_t>(first);
  const auto slot_bytes = static_cast<std::ptrdiff_t>(layout_.slot_bytes);
  copy(advanced(work_buffer, skipped * slot_bytes + layout_.origin_bytes), slot_type_, slot_bytes,
       advanced(user_buffer, skipped * extent_bytes_), user_type_, extent_bytes_, count);
}

void TypedStaging::copy(const void* source, MPI_Datatype source_type,
                        std::ptrdiff_t source_spacing_bytes, void* destination,
                        MPI_Datatype destination_type, std::ptrdiff_t destination_spacing_bytes,
                        std::size_t count) const {
  if (count == 0 || packed_bytes_ == 0) return;
  if (packed_bytes_ > INT_MAX) {
    throw Error(ErrorKind::unsupported,
                fmt::format("{}: an element has {} bytes of data; at most {} can be staged. Use a "
                            "type of smaller elements, and more of them",
                            type_name(user_type_), packed_bytes_, INT_MAX));
  }
  const std::size_t block_count = std::max<std::size_t>(1, kBlockBytes / packed_bytes_);
  for (std::size_t begin = 0; begin < count; begin += block_count) {
    const int elements = static_cast<int>(std::min(block_count, count - begin));
    const auto index = static_cast<std::ptrdiff_t>(begin);
    int packed_size = 0;
    check_mpi(MPI_Pack_size(elements, source_type, MPI_COMM_SELF, &packed_size), "MPI_Pack_size");
    std::vector<std::byte>& block = packed_block(static_cast<std::size_t>(packed_size));
    int end = 0;
    check_mpi(MPI_Pack(advanced(source, index * source_spacing_bytes), elements, source_type,
                       block.data(), packed_size, &end, MPI_COMM_SELF),
              "MPI_Pack");
    int position = 0;
    check_mpi(MPI_Unpack(block.data(), end, &position,
                         advanced(destination, index * destination_spacing_bytes), elements,
                         destination_type, MPI_COMM_SELF),
              "MPI_Unpack");
  }
}

}  // namespace hycoll
