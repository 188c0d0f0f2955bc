#include "collectives/elements/mpi_reducer.h"

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <new>

#include "core/base/lifetime.h"
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

/// Memory for intermediate results, aligned as widely as any type asks for.
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

}  // namespace

std::mutex& user_operator_mutex() noexcept {
  static std::mutex mutex;
  return mutex;
}

std::size_t FoldingReducer::most_elements_at_once() const noexcept {
  std::size_t most = kBlockBytes / elements_.element_bytes;
  if (elements_.staging != nullptr) {
    const auto spacing_bytes = static_cast<std::size_t>(std::abs(elements_.extent_bytes()));
    most = std::min(most, kUnpackedBlockBytes / std::max<std::size_t>(1, spacing_bytes));
  }
  return std::max<std::size_t>(1, most);
}

void FoldingReducer::reduce(std::span<void* const> destinations,
                            std::span<const void* const> sources, std::size_t count) const {
  if (sources.size() == 1) {
    copy_kernel(destinations, sources[0], count * elements_.element_bytes, Stores::cached);
    return;
  }
  const std::size_t most = most_elements_at_once();
  for (std::size_t begin = 0; begin < count; begin += most) {
    const Block block{.begin = begin, .count = std::min(most, count - begin)};
    if (elements_.staging == nullptr) {
      fold(destinations, sources, block);
    } else {
      fold_unpacked(destinations, sources, block);
    }
  }
}

void FoldingReducer::fold(std::span<void* const> destinations, std::span<const void* const> sources,
                          const Block& block) const {
  const std::size_t size_bytes = block.count * elements_.element_bytes;
  const auto source = [&](std::size_t index) { return elements_at(sources[index], block); };
  const auto destination = [&](std::size_t index) {
    return elements_at(destinations[index], block);
  };
  // The last step may write to a destination, for it has no use for sources but its own; with two
  // sources the first one is still among these.
  const std::size_t last = sources.size() - 1;
  const bool ends_in_destination = last > 1 || destination(0) != source(0);
  const bool needs_scratch = last > 1 || !ends_in_destination;
  std::byte* const scratch =
      needs_scratch ? of_this_thread<Scratch>().of_size(2 * size_bytes) : nullptr;

  const std::byte* left = source(0);
  for (std::size_t index = 1; index <= last; ++index) {
    std::byte* const right =
        index == last && ends_in_destination ? destination(0) : scratch + (index % 2) * size_bytes;
    if (right != source(index)) std::memcpy(right, source(index), size_bytes);
    apply(left, right, block.count);
    left = right;
  }
  for (std::size_t index = 0; index < destinations.size(); ++index) {
    if (destination(index) != left) std::memcpy(destination(index), left, size_bytes);
  }
}

void FoldingReducer::fold_unpacked(std::span<void* const> destinations,
                                   std::span<const void* const> sources, const Block& block) const {
  const std::size_t packed_bytes = block.count * elements_.element_bytes;
  const auto [size_bytes, origin_bytes] = elements_.staging->user_span(block.count);
  // The second half is as aligned as the first, and elsewhere even if elements take no memory.
  const std::size_t half_bytes = (size_bytes / 64 + 1) * 64;
  std::byte* const scratch = of_this_thread<Scratch>().of_size(2 * half_bytes);
  std::byte* left = displaced(scratch, origin_bytes);
  std::byte* right = displaced(scratch + half_bytes, origin_bytes);
  elements_.unpack(elements_at(sources[0], block), packed_bytes, left);
  for (const void* const source : sources.subspan(1)) {
    elements_.unpack(elements_at(source, block), packed_bytes, right);
    apply(left, right, block.count);
    std::swap(left, right);
  }
  std::byte* const result = elements_at(destinations[0], block);
  elements_.pack(left, packed_bytes, result);
  for (void* const destination : destinations.subspan(1)) {
    std::memcpy(elements_at(destination, block), result, packed_bytes);
  }
}

MpiReducer::MpiReducer(MPI_Op op, MPI_Datatype type, VectorElements elements)
    : FoldingReducer(std::move(elements)),
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
