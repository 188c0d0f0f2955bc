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

std::byte* packed_block(std::size_t size_bytes) {
  thread_local std::vector<std::byte> block;
  if (block.size() < size_bytes) block.resize(size_bytes);
  return block.data();
}

/// Elements at an address. MPICH's MPI_Pack refuses MPI_BOTTOM, so what is counted from there is
/// counted from another address.
class Elements {
 public:
  Elements(const std::byte* origin, MPI_Datatype type) : origin_(origin), type_(type) {
    if (origin != nullptr) return;
    constexpr MPI_Aint kElsewhere = 1 << 16;
    const MPI_Aint back = -kElsewhere;
    check_mpi(MPI_Type_create_hindexed_block(1, 1, &back, type, &displaced_),
              "MPI_Type_create_hindexed_block");
    check_mpi(MPI_Type_commit(&displaced_), "MPI_Type_commit");
    // Never looked at: the type leads back from it.
    origin_ = reinterpret_cast<const std::byte*>(kElsewhere);
    type_ = displaced_;
  }
  ~Elements() {
    if (displaced_ != MPI_DATATYPE_NULL) MPI_Type_free(&displaced_);
  }
  Elements(const Elements&) = delete;
  Elements& operator=(const Elements&) = delete;

  const std::byte* origin() const noexcept { return origin_; }
  MPI_Datatype type() const noexcept { return type_; }

 private:
  const std::byte* origin_;
  MPI_Datatype type_;
  MPI_Datatype displaced_ = MPI_DATATYPE_NULL;
};

/// Returns how many bytes have been written.
int pack(const std::byte* origin, MPI_Datatype type, int count, std::byte* packed, int capacity) {
  int end = 0;
  const Elements elements(origin, type);
  check_mpi(
      MPI_Pack(elements.origin(), count, elements.type(), packed, capacity, &end, MPI_COMM_SELF),
      "MPI_Pack");
  return end;
}

void unpack(const std::byte* packed, int size_bytes, std::byte* origin, MPI_Datatype type,
            int count) {
  int position = 0;
  const Elements elements(origin, type);
  check_mpi(MPI_Unpack(packed, size_bytes, &position, const_cast<std::byte*>(elements.origin()),
                       count, elements.type(), MPI_COMM_SELF),
            "MPI_Unpack");
}

/// From one datatype to another with the same data.
void repack(const std::byte* source, MPI_Datatype source_type, std::byte* destination,
            MPI_Datatype destination_type, int count) {
  int capacity = 0;
  check_mpi(MPI_Pack_size(count, source_type, MPI_COMM_SELF, &capacity), "MPI_Pack_size");
  std::byte* const block = packed_block(static_cast<std::size_t>(capacity));
  const int size_bytes = pack(source, source_type, count, block, capacity);
  unpack(block, size_bytes, destination, destination_type, count);
}

/// Whether packed elements are their data and nothing else, so that they can lie in a vector.
bool packs_data_only(MPI_Datatype type, std::ptrdiff_t size_bytes) {
  if (size_bytes > INT_MAX) return false;  // beyond what MPI can pack at all
  int packed_bytes = 0;
  check_mpi(MPI_Pack_size(1, type, MPI_COMM_SELF, &packed_bytes), "MPI_Pack_size");
  return packed_bytes == size_bytes;
}

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
  } else if (bounds.size > 0 && static_cast<std::ptrdiff_t>(layout.slot_bytes) > most &&
             packs_data_only(type, bounds.size)) {
    layout = {.form = Form::packed,
              .slot_bytes = static_cast<std::size_t>(bounds.size),
              .origin_bytes = 0};
  }
  return layout;
}

ElementLayout data_layout(MPI_Datatype type) {
  using Form = ElementLayout::Form;
  const TypedStaging::Bounds bounds = TypedStaging::bounds_of(type);
  return {.form = bounds.has_no_gaps() ? Form::direct : Form::packed,
          .slot_bytes = static_cast<std::size_t>(bounds.size),
          .origin_bytes = 0};
}

TypedStaging::TypedStaging(MPI_Datatype type, const ElementLayout& layout)
    : layout_(layout), bounds_(bounds_of(type)) {
  check_mpi(MPI_Type_dup(type, &user_type_), "MPI_Type_dup");
  if (layout_.form == ElementLayout::Form::packed) return;
  const auto spacing = static_cast<MPI_Aint>(layout_.slot_bytes);
  check_mpi(MPI_Type_create_resized(type, 0, spacing, &slot_type_), "MPI_Type_create_resized");
  check_mpi(MPI_Type_commit(&slot_type_), "MPI_Type_commit");
}

TypedStaging::~TypedStaging() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized != 0) return;
  if (slot_type_ != MPI_DATATYPE_NULL) MPI_Type_free(&slot_type_);
  MPI_Type_free(&user_type_);
}

TypedStaging::UserSpan TypedStaging::user_span(std::size_t count) const noexcept {
  const std::ptrdiff_t last = (static_cast<std::ptrdiff_t>(count) - 1) * bounds_.extent;
  const std::ptrdiff_t lowest = bounds_.true_lower_bound + std::min<std::ptrdiff_t>(last, 0);
  const std::ptrdiff_t highest =
      bounds_.true_lower_bound + bounds_.true_extent + std::max<std::ptrdiff_t>(last, 0);
  const std::ptrdiff_t offset = misalignment(lowest);
  return {.size_bytes = static_cast<std::size_t>(offset + highest - lowest),
          .origin_bytes = offset - lowest};
}

template <class Action>
void TypedStaging::for_each_block(std::size_t first, std::size_t count,
                                  const Action& action) const {
  if (bounds_.size == 0) return;
  if (bounds_.size > INT_MAX) {
    throw Error(ErrorKind::unsupported,
                fmt::format("{}: an element has {} bytes of data; at most {} can be staged. Use a "
                            "type of smaller elements, and more of them",
                            type_name(user_type_), bounds_.size, INT_MAX));
  }
  const std::size_t block =
      std::max<std::size_t>(1, kBlockBytes / static_cast<std::size_t>(bounds_.size));
  for (std::size_t begin = first; begin < first + count; begin += block) {
    action(begin, static_cast<int>(std::min(block, first + count - begin)));
  }
}

void TypedStaging::copy_in(const void* user_buffer, void* work_buffer, std::size_t first,
                           std::size_t count) const {
  for_each_block(first, count, [&](std::size_t begin, int elements) {
    const std::byte* const user = displaced(bytes_of(user_buffer), user_offset(begin));
    std::byte* const work = bytes_of(work_buffer) + begin * layout_.slot_bytes;
    if (layout_.form == ElementLayout::Form::packed) {
      pack(user, user_type_, elements, work, elements * static_cast<int>(bounds_.size));
    } else {
      repack(user, user_type_, displaced(work, layout_.origin_bytes), slot_type_, elements);
    }
  });
}

void TypedStaging::copy_out(const void* work_buffer, void* user_buffer, std::size_t first,
                            std::size_t count) const {
  for_each_block(first, count, [&](std::size_t begin, int elements) {
    const std::byte* const work = bytes_of(work_buffer) + begin * layout_.slot_bytes;
    std::byte* const user = displaced(bytes_of(user_buffer), user_offset(begin));
    if (layout_.form == ElementLayout::Form::packed) {
      unpack(work, elements * static_cast<int>(bounds_.size), user, user_type_, elements);
    } else {
      repack(displaced(work, layout_.origin_bytes), slot_type_, user, user_type_, elements);
    }
  });
}

}  // namespace hycoll
