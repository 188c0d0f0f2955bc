#include "preload/session/mistake.h"

#include <fmt/format.h>

#include <atomic>
#include <mutex>
#include <string_view>

#include "core/base/errors.h"
#include "threading/transport/mpi/mpi_types.h"

namespace hycoll::preload {
namespace {

/// Other types may hold addresses themselves: their buffers may be MPI_BOTTOM, which is null.
bool is_missing(const PassedBuffer& buffer) {
  return buffer.address == nullptr && buffer.count > 0 && find_predefined(buffer.type).has_value();
}

/// hycoll's communicator of this process alone, on which the MPI library returns errors.
std::mutex own_mutex;
MPI_Comm own_communicator = MPI_COMM_NULL;  // guarded by own_mutex; null until it is needed

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

bool is_committed(MPI_Datatype type) {
  // The last predefined one: of these, handles always mean the same.
  static std::atomic<MPI_Datatype> last_predefined{MPI_DATATYPE_NULL};
  if (type == last_predefined.load(std::memory_order_relaxed)) return true;
  if (find_predefined(type)) {
    last_predefined.store(type, std::memory_order_relaxed);
    return true;
  }
  const std::lock_guard lock(own_mutex);
  if (own_communicator == MPI_COMM_NULL) {
    // Unlike a duplicate it gets no attributes of the program's.
    if (PMPI_Comm_split(MPI_COMM_SELF, 0, 0, &own_communicator) != MPI_SUCCESS) return true;
    PMPI_Comm_set_errhandler(own_communicator, MPI_ERRORS_RETURN);
  }
  // Moves nothing: the only process has it already.
  char nothing = 0;
  return PMPI_Bcast(&nothing, 1, type, 0, own_communicator) == MPI_SUCCESS;
}

void forget_committed() noexcept {
  const std::lock_guard lock(own_mutex);
  if (own_communicator != MPI_COMM_NULL) PMPI_Comm_free(&own_communicator);
}

}  // namespace hycoll::preload
