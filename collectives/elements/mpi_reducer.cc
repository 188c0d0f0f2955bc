#include "collectives/elements/mpi_reducer.h"

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <new>

#include "threading/transport/mpi/mpi_endpoint.h"
#include "threading/transport/mpi/mpi_types.h"

namespace hycoll {
namespace {

/// What is folded at once; small enough for two blocks and the sources in a core's first cache.
constexpr std::size_t kBlockBytes = 8 * 1024;

/// How much of users' layout is unpacked at once, gaps included, unless one element takes more.
constexpr std::size_t kUnpackedBlockBytes = 64 * 1024;

bool every_thread_may_call_mpi() {
  int provided = MPI_THREAD_SINGLE;
  check_mpi(MPI_Query_thread(&provided), "MPI_Query_thread");
  return provided == MPI_THREAD_MULTIPLE;
}

/// A thread's own intermediate results, aligned as widely as any type asks for.
class Scratch {
 public:
  Scratch() = default;
  ~Scratch() { release(); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  /// At least `size_bytes` bytes, with undefined contents; valid until the next call.
  std::byte* of_size(std::size_t size_bytes) {
    if (size_bytes_ < size_bytes) {
      release();
      data_ = static_cast<std::byte*>(::operator new(size_bytes, kAlignment));
      size_bytes_ = size_bytes;
    }
    return data_;
  }

 private:
  static constexpr std::align_val_t kAlignment{64};

  void release() noexcept {
    ::operator delete(data_, kAlignment);
    data_ = nullptr;
    size_bytes_ = 0;
  }

  std::byte* data_ = nullptr;
  std::size_t size_bytes_ = 0;
};

/// Where a thread keeps partial results.
std::byte* folding_scratch(std::size_t size_bytes) {
  thread_local Scratch scratch;
  return scratch.of_size(size_bytes);
}

/// Where a thread keeps unpacked elements, beside those.
std::byte* unpacking_scratch(std::size_t size_bytes) {
  thread_local Scratch scratch;
  return scratch.of_size(size_bytes);
}

}  // namespace

std::mutex& user_operator_mutex() noexcept {
  static std::mutex mutex;
  return mutex;
}

void FoldingReducer::reduce(std::span<void* const> destinations,
                            std::span<const void* const> sources, std::size_t count) const {
  if (sources.size() == 1) {
    copy_kernel(destinations, sources[0], count * layout_.slot_bytes, Stores::cached);
    return;
  }
  const std::size_t block_count = std::max<std::size_t>(1, kBlockBytes / layout_.slot_bytes);
  for (std::size_t begin = 0; begin < count; begin += block_count) {
    fold(destinations, sources, begin * layout_.slot_bytes, std::min(block_count, count - begin));
  }
}

void FoldingReducer::fold(std::span<void* const> destinations, std::span<const void* const> sources,
                          std::size_t offset_bytes, std::size_t count) const {
  const std::size_t size_bytes = count * layout_.slot_bytes;
  const auto source = [&](std::size_t index) {
    return static_cast<const std::byte*>(sources[index]) + offset_bytes;
  };
  const auto destination = [&](std::size_t index) {
    return static_cast<std::byte*>(destinations[index]) + offset_bytes;
  };
  // The last step may write to a destination, for it has no use for sources but its own; with two
  // sources the first one is still among these.
  const std::size_t last = sources.size() - 1;
  const bool ends_in_destination = last > 1 || destination(0) != source(0);
  const bool needs_scratch = last > 1 || !ends_in_destination;
  std::byte* const scratch = needs_scratch ? folding_scratch(2 * size_bytes) : nullptr;

  const std::byte* left = source(0);
  for (std::size_t index = 1; index <= last; ++index) {
    std::byte* const right =
        index == last && ends_in_destination ? destination(0) : scratch + (index % 2) * size_bytes;
    if (right != source(index)) std::memcpy(right, source(index), size_bytes);
    apply_to_elements(left, right, count);
    left = right;
  }
  for (std::size_t index = 0; index < destinations.size(); ++index) {
    if (destination(index) != left) std::memcpy(destination(index), left, size_bytes);
  }
}

void FoldingReducer::apply_to_elements(const std::byte* left, std::byte* right_and_result,
                                       std::size_t count) const {
  using Form = ElementLayout::Form;
  if (layout_.form == Form::packed) {
    apply_to_packed(left, right_and_result, count);
    return;
  }
  left = displaced(left, layout_.origin_bytes);
  right_and_result = displaced(right_and_result, layout_.origin_bytes);
  if (layout_.form == Form::slots) {
    for (std::size_t index = 0; index < count; ++index) {
      const std::size_t offset = index * layout_.slot_bytes;
      apply(left + offset, right_and_result + offset, 1);
    }
  } else {
    apply(left, right_and_result, count);
  }
}

void FoldingReducer::apply_to_packed(const std::byte* left, std::byte* right_and_result,
                                     std::size_t count) const {
  const auto spacing_bytes = static_cast<std::size_t>(std::abs(staging_->extent_bytes()));
  const std::size_t block_count =
      std::max<std::size_t>(1, kUnpackedBlockBytes / std::max<std::size_t>(1, spacing_bytes));
  const auto [size_bytes, origin_bytes] = staging_->user_span(std::min(block_count, count));
  // The second half is as aligned as the first.
  const std::size_t half_bytes = (size_bytes + 63) / 64 * 64;
  std::byte* const scratch = unpacking_scratch(2 * half_bytes);
  std::byte* const left_origin = displaced(scratch, origin_bytes);
  std::byte* const right_origin = displaced(scratch + half_bytes, origin_bytes);
  for (std::size_t begin = 0; begin < count; begin += block_count) {
    const std::size_t elements = std::min(block_count, count - begin);
    const std::size_t offset = begin * layout_.slot_bytes;
    staging_->copy_out(left + offset, left_origin, 0, elements);
    staging_->copy_out(right_and_result + offset, right_origin, 0, elements);
    apply(left_origin, right_origin, elements);
    staging_->copy_in(right_origin, right_and_result + offset, 0, elements);
  }
}

MpiReducer::MpiReducer(MPI_Op op, MPI_Datatype type, std::shared_ptr<const TypedStaging> staging)
    : FoldingReducer(element_layout(type), std::move(staging)),
      op_(op),
      type_(type),
      is_user_defined_(!is_predefined(op)),
      runs_anywhere_(!is_user_defined_ && every_thread_may_call_mpi()) {}

void MpiReducer::apply(const void* left, void* right_and_result, std::size_t count) const {
  static_assert(kBlockBytes <= INT_MAX, "MPI counts the elements of a block by an int");
  std::unique_lock lock(user_operator_mutex(), std::defer_lock);
  if (is_user_defined_) lock.lock();
  check_mpi(MPI_Reduce_local(left, right_and_result, static_cast<int>(count), type_, op_),
            "MPI_Reduce_local");
}

void CustomReducer::apply(const void* left, void* right_and_result, std::size_t count) const {
  operation_.apply(left, right_and_result, count);
}

}  // namespace hycoll
