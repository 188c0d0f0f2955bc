#include "preload/session/mistake.h"

#include <fmt/format.h>

#include <string_view>

#include "core/base/errors.h"
#include "threading/transport/mpi/mpi_types.h"

namespace hycoll::preload {
namespace {

/// Other types may hold addresses themselves: their buffers may be MPI_BOTTOM, which is null.
bool is_missing(const PassedBuffer& buffer) {
  return buffer.address == nullptr && buffer.count > 0 && find_predefined(buffer.type).has_value();
}

}  // namespace

int class_of(Mistake mistake) noexcept {
  return mistake == Mistake::negative_count ? MPI_ERR_COUNT : MPI_ERR_BUFFER;
}

std::string text_of(Mistake mistake, Routine routine) {
  const auto text = [&](std::string_view what) {
    return fmt::format("{}: {}", name_of(routine), what);
  };
  switch (mistake) {
    case Mistake::aliased:
      return text(
          "input and output are at the same address; pass MPI_IN_PLACE, or separate buffers");
    case Mistake::output_in_place:
      return text("the buffer of the result is MPI_IN_PLACE; pass that for the input only");
    case Mistake::input_in_place:
      return text("the input is MPI_IN_PLACE, which only the root may pass; pass a buffer");
    case Mistake::no_buffer:
      return text("a buffer is null, but has elements; pass an address");
    case Mistake::negative_count:
      return text("the count is negative; pass 0 for no elements");
    case Mistake::none:
      break;
  }
  HYCOLL_ASSERT(false, "a mistake");
}

Mistake find_mistake(const PassedBuffer& buffer, Mistake in_place) {
  if (buffer.count <= 0) return Mistake::none;
  if (buffer.address == MPI_IN_PLACE) return in_place;
  return is_missing(buffer) ? Mistake::no_buffer : Mistake::none;
}

Mistake find_mistake(const PassedBuffer& input, const PassedBuffer& output) {
  const Mistake mistake = find_mistake(output, Mistake::output_in_place);
  if (mistake != Mistake::none) return mistake;
  if (is_missing(input)) return Mistake::no_buffer;
  const bool is_alike = input.count == output.count && input.type == output.type;
  const bool is_same = input.address == output.address && input.address != nullptr;
  return is_alike && is_same && input.count > 0 ? Mistake::aliased : Mistake::none;
}

Mistake find_mistake(const PassedBlocks& blocks) {
  const Mistake mistake = find_mistake(blocks.all, blocks.in_place);
  if (mistake != Mistake::none) return mistake;
  if (blocks.own.address == MPI_IN_PLACE) return Mistake::none;
  if (is_missing(blocks.own)) return Mistake::no_buffer;
  if (!blocks.is_alike || blocks.own.address == nullptr || blocks.own.count <= 0) {
    return Mistake::none;
  }
  MPI_Count lower_bound = 0;
  MPI_Count extent = 0;
  PMPI_Type_get_extent_x(blocks.own.type, &lower_bound, &extent);
  const void* const place = static_cast<const std::byte*>(blocks.all.address) +
                            blocks.own_begin * static_cast<std::ptrdiff_t>(extent);
  return blocks.own.address == place ? Mistake::aliased : Mistake::none;
}

}  // namespace hycoll::preload
