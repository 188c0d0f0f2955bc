// The program's gathers and scatters of blocks of different lengths, of which the root alone knows
// all. Blocking: first the processes tell one another how long they are, by a call of hycoll's own.
// Nonblocking and persistent, where no call may depend on the result of another one: all-to-alls in
// which only the root has blocks for others, or gets some.

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "collectives/api/hycoll.h"
#include "collectives/elements/own_block.h"
#include "collectives/elements/vector_elements.h"
#include "core/base/errors.h"
#include "preload/routines/elements.h"
#include "preload/routines/forms.h"
#include "preload/routines/pair_lists.h"
#include "preload/routines/serve.h"

namespace hycoll::preload {
namespace {

/// All blocks, as the root describes them. Counts are of type int or MPI_Count, displacements of
/// int or MPI_Aint.
template <class Count, class Displacement>
struct UnequalBlocks {
  const void* address;
  const Count* counts;
  const Displacement* displacements;
  MPI_Datatype type;
};

/// A process's own block.
template <class Count>
struct Block {
  const void* address;
  Count count;
  MPI_Datatype type;
};

template <class Count, class Displacement>
class UnequalTranslation;
template <class Count, class Displacement>
class RootedExchangeTranslation;

/// What a process passes to a gatherv or a scatterv.
template <class Count, class Displacement>
struct UnequalMovement {
  Collective collective;
  UnequalBlocks<Count, Displacement> blocks;  ///< At the root; counts nowhere else.
  Block<Count> own;                           ///< Counts everywhere but in place at the root.
  int root;
  MPI_Comm communicator;
  int process_count = own_process_count_of(communicator);
  int rank = rank_in(communicator);

  using Translation = RootedExchangeTranslation<Count, Displacement>;
  using BlockingTranslation = UnequalTranslation<Count, Displacement>;

  bool is_root() const noexcept { return process_count > 0 && rank == root; }
  bool is_in_place() const noexcept { return is_root() && own.address == MPI_IN_PLACE; }
  bool gathers() const noexcept { return collective == Collective::gather; }

  std::span<const Count> block_counts() const {
    return {blocks.counts, static_cast<std::size_t>(process_count)};
  }

  /// Of the process's own block. Requires that nothing is wrong.
  std::size_t own_bytes() const {
    if (!is_in_place()) return size_bytes(own.count, own.type);
    return size_bytes(block_counts()[static_cast<std::size_t>(rank)], blocks.type);
  }

  /// What is wrong with what this process passes is wrong with the call, and the MPI library
  /// reports it.
  Candidate candidate(Routine routine) const {
    const bool has_own = root != MPI_ROOT && root != MPI_PROC_NULL;
    bool has_error = process_count > 0 && !is_in_place() && (own.count < 0 || !is_usable(own.type));
    if (is_root()) {
      has_error = has_error || blocks.counts == nullptr || blocks.displacements == nullptr ||
                  !is_usable(blocks.type) || sum_of(block_counts()) < 0;
    }
    const bool is_reported = !has_error && Session::instance().report() != nullptr;
    return {.routine = routine,
            .communicator = communicator,
            .element_count = has_error ? -1 : 0,
            .has_size = false,
            .type = MPI_BYTE,
            .root = root,
            .mistake = has_error ? Mistake::none : mistake(),
            .reported_bytes = is_reported && has_own ? own_bytes() : 0};
  }

  /// Where all blocks lie is looked at later.
  Mistake mistake() const {
    const PassedBuffer passed = {own.address, own.count, own.type};
    if (process_count == 0) return Mistake::none;
    if (!is_root()) return gathers() ? mistake_in_input(passed) : mistake_in_output(passed);
    const auto r = static_cast<std::size_t>(rank);
    const MPI_Count count = blocks.address == nullptr ? 0 : blocks.counts[r];
    return mistake_in({.own = passed,
                       .all = {blocks.address, count, blocks.type},
                       .own_begin = static_cast<std::ptrdiff_t>(blocks.displacements[r]),
                       .is_alike = own.count == blocks.counts[r] && own.type == blocks.type,
                       .in_place = gathers() ? Mistake::output_in_place : Mistake::input_in_place});
  }
};

/// Blocks of a buffer of the program's, as hycoll moves them: where they are, by their type or as
/// bytes, or in a copy.
class BlockBytes {
 public:
  BlockBytes() = default;
  BlockBytes(const void* address, MPI_Datatype type, std::string_view collective)
      : address_(address), type_(type), elements_(elements_of(ElementType(type), collective)) {}

  /// The next block, of so many bytes, begins at this element.
  void add(std::ptrdiff_t element, std::size_t bytes) {
    places_.push_back({.element = element, .bytes = bytes});
  }

  std::size_t element_bytes() const noexcept { return elements_.element_bytes; }
  bool is_direct() const noexcept { return elements_.staging == nullptr; }

  const void* address() const noexcept { return address_; }
  MPI_Datatype type() const noexcept { return type_; }
  /// Whether a block of each of these lengths is so many elements.
  bool divides(std::span<const std::size_t> sizes) const {
    return std::ranges::all_of(sizes, [&](std::size_t bytes) {
      return bytes == 0 || (element_bytes() > 0 && bytes % element_bytes() == 0);
    });
  }
  /// Where an element is; none if that is beyond what memory can have.
  std::optional<const void*> place_of(std::ptrdiff_t element) const noexcept {
    std::ptrdiff_t distance = 0;
    if (__builtin_mul_overflow(element, elements_.extent_bytes(), &distance)) return std::nullopt;
    return at(element);
  }
  const void* at(std::ptrdiff_t element) const noexcept {
    return elements_.address_of(address_, element);
  }
  /// Where the blocks begin, in bytes from there. Requires is_direct().
  std::vector<std::ptrdiff_t> displacements() const {
    std::vector<std::ptrdiff_t> bytes;
    for (const Place& place : places_) bytes.push_back(place.element * elements_.extent_bytes());
    return bytes;
  }

  /// Memory for all blocks, one after the other.
  void make_copy() {
    copy_ = std::make_unique_for_overwrite<std::byte[]>(std::max<std::size_t>(1, size_bytes()));
  }
  /// Null if there is none.
  std::byte* copy() const noexcept { return copy_.get(); }

  /// Fills the copy.
  void copy_in() {
    std::byte* next = copy_.get();
    for (const auto& [element, bytes] : places_) {
      const void* const from = at(element);
      if (elements_.staging != nullptr) {
        elements_.staging->pack(from, 0, bytes, next);
      } else if (bytes > 0) {
        std::memcpy(next, from, bytes);
      }
      next += bytes;
    }
  }

  /// And back.
  void copy_out() const {
    const std::byte* next = copy_.get();
    for (const auto& [element, bytes] : places_) {
      // The program has passed it to be written to.
      void* const to = const_cast<void*>(at(element));
      if (elements_.staging != nullptr) {
        elements_.staging->unpack(next, 0, bytes, to);
      } else if (bytes > 0) {
        std::memcpy(to, next, bytes);
      }
      next += bytes;
    }
  }

 private:
  struct Place {
    std::ptrdiff_t element;
    std::size_t bytes;
  };

  std::size_t size_bytes() const noexcept {
    return std::accumulate(places_.begin(), places_.end(), std::size_t{0},
                           [](std::size_t sum, const Place& place) { return sum + place.bytes; });
  }

  const void* address_ = nullptr;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  VectorElements elements_;
  std::vector<Place> places_;
  std::unique_ptr<std::byte[]> copy_;
};

/// How a blocking call becomes hycoll's: one of bytes, whose lengths all processes know.
template <class Count, class Displacement>
class UnequalTranslation {
 public:
  explicit UnequalTranslation(const UnequalMovement<Count, Displacement>& of) : of_(of) {}

  /// With the program's buffers; make_ready() is to follow. Collective, if it does not throw an
  /// Error (invalid_argument): then the others have not begun.
  Call call(Communicator& server) {
    const std::string_view name = name_of(of_.collective);
    if (of_.is_root()) all_ = BlockBytes(of_.blocks.address, of_.blocks.type, name);
    own_ = of_.is_in_place() ? BlockBytes(of_.blocks.address, of_.blocks.type, name)
                             : BlockBytes(of_.own.address, of_.own.type, name);
    if (of_.is_root()) check_places();
    agree_on_sizes(server);
    const auto rank = static_cast<std::size_t>(of_.rank);
    own_.add(of_.is_in_place() ? of_.blocks.displacements[rank] : 0, sizes_[rank]);
    const bool own_is_wrong = !of_.gathers() && sizes_[rank] > own_room();
    if (own_is_wrong) {
      error_ = fmt::format(
          "scatter: rank {} passes recvcount for {} bytes, but the root (rank {}) sends it {}: "
          "sendcounts[{}]",
          rank, own_room(), of_.root, sizes_[rank], rank);
    }
    if (of_.is_root()) add_all();
    describe();
    if (of_.is_root() && (!error_.empty() || (!all_.is_direct() && !is_typed_))) {
      all_.make_copy();
      own_.make_copy();
    } else if (of_.is_root()) {
      place_own_block();
    } else if (own_is_wrong || (!own_.is_direct() && !is_typed_)) {
      own_.make_copy();
    }
    return made(all_.address(), own_.address());
  }

  /// Puts copies in the places of the program's buffers that hycoll cannot use.
  void make_ready(Call& call) {
    if (all_.copy() != nullptr && !of_.gathers()) all_.copy_in();
    if (own_.copy() != nullptr && of_.gathers()) own_.copy_in();
    if (own_block_ && of_.gathers()) own_block_->copy(own_.address(), own_place());
    call = made(all_.copy() != nullptr ? all_.copy() : all_.address(),
                own_.copy() != nullptr ? own_.copy() : own_.address());
  }

  /// After the call. Throws SizeError if this process gets more than it has room for.
  void complete() const {
    if (!error_.empty()) throw SizeError(error_);
    const BlockBytes& result = of_.gathers() ? all_ : own_;
    if (result.copy() != nullptr) result.copy_out();
    if (own_block_ && !of_.gathers()) {
      own_block_->copy(own_place(), const_cast<void*>(own_.address()));
    }
  }

 private:
  std::size_t room_of(std::size_t rank) const {
    return static_cast<std::size_t>(of_.blocks.counts[rank]) * all_.element_bytes();
  }
  std::size_t own_room() const {
    return of_.is_in_place() ? room_of(static_cast<std::size_t>(of_.rank))
                             : static_cast<std::size_t>(of_.own.count) * own_.element_bytes();
  }

  /// What would be wrong with all blocks, while nobody depends on this process yet.
  void check_places() const {
    for (std::size_t rank = 0; rank < of_.block_counts().size(); ++rank) {
      if (of_.blocks.counts[rank] == 0) continue;
      const std::optional<const void*> place = all_.place_of(of_.blocks.displacements[rank]);
      if (!place) {
        throw Error(ErrorKind::invalid_argument,
                    fmt::format("{}: displs[{}] is {}, beyond what memory can have",
                                name_of(of_.collective), rank, of_.blocks.displacements[rank]));
      }
      if (*place == nullptr && all_.is_direct()) {
        throw BufferError(
            fmt::format("{}: the block of rank {}, of {} elements, is at a null address",
                        name_of(of_.collective), rank, of_.blocks.counts[rank]));
      }
    }
  }

  void agree_on_sizes(Communicator& server) {
    sizes_.resize(static_cast<std::size_t>(of_.process_count));
    if (of_.gathers()) {
      const std::size_t own = own_room();
      server.allgather(&own, sizes_.data(), 1, DataType::uint64);
      return;
    }
    for (std::size_t rank = 0; of_.is_root() && rank < sizes_.size(); ++rank) {
      sizes_[rank] = room_of(rank);
    }
    server.broadcast(sizes_.data(), sizes_.size(), DataType::uint64, of_.root);
  }

  void add_all() {
    for (std::size_t rank = 0; rank < sizes_.size(); ++rank) {
      all_.add(of_.blocks.displacements[rank], sizes_[rank]);
      if (sizes_[rank] <= room_of(rank) || !error_.empty()) continue;
      error_ = fmt::format(
          "gather: rank {} sends {} bytes, but the root (rank {}) has room for {}: recvcounts[{}]",
          rank, sizes_[rank], of_.root, room_of(rank), rank);
    }
  }

  /// By the type of what this process passes, if all blocks have whole elements of it, or as bytes.
  void describe() {
    const BlockBytes& blocks = of_.is_root() ? all_ : own_;
    is_typed_ = !blocks.is_direct() && error_.empty() && blocks.divides(sizes_);
    counts_ = sizes_;
    if (is_typed_) {
      for (std::size_t& count : counts_) {
        if (count > 0) count /= blocks.element_bytes();
      }
    }
    if (!of_.is_root()) return;
    if (all_.is_direct()) {
      displacements_ = all_.displacements();
    } else if (is_typed_) {
      const auto elements = of_.blocks.displacements;
      displacements_.assign(elements, elements + of_.process_count);
    }
  }

  /// At the root, which has its own block twice: where one description does not fit both, it copies
  /// the block itself, and the call is one in place.
  void place_own_block() {
    const bool is_alike = is_typed_ ? of_.own.type == all_.type() : own_.is_direct();
    if (of_.is_in_place() || (is_alike && own_.address() != all_.address())) return;
    const auto rank = static_cast<std::size_t>(of_.rank);
    const BlockDescription own = {sizes_[rank] / std::max<std::size_t>(1, own_.element_bytes()),
                                  of_.own.type};
    const BlockDescription in_all = {static_cast<std::size_t>(of_.blocks.counts[rank]),
                                     all_.type()};
    const std::string_view name = name_of(of_.collective);
    own_block_ = of_.gathers() ? OwnBlock(own, in_all, name) : OwnBlock(in_all, own, name);
  }
  void* own_place() const {
    return const_cast<void*>(all_.at(of_.blocks.displacements[static_cast<std::size_t>(of_.rank)]));
  }

  /// hycoll's call. What it writes to has come without const.
  Call made(const void* all, const void* own) const {
    if (own_block_) own = all;
    const ElementType type =
        is_typed_ ? ElementType((of_.is_root() ? all_ : own_).type()) : DataType::uint8;
    if (of_.gathers()) {
      return calls::gatherv(own, const_cast<void*>(all), counts_, type, of_.root, displacements_);
    }
    return calls::scatterv(all, const_cast<void*>(own), counts_, type, of_.root, displacements_);
  }

  UnequalMovement<Count, Displacement> of_;
  BlockBytes all_;
  BlockBytes own_;
  std::vector<std::size_t> sizes_;   // of all blocks, in bytes
  std::vector<std::size_t> counts_;  // the same in what the call describes them by
  std::vector<std::ptrdiff_t> displacements_;
  bool is_typed_ = false;
  std::optional<OwnBlock> own_block_;
  std::string error_;
};
static_assert(sizeof(std::size_t) == sizeof(std::uint64_t), "sizes travel as uint64");

/// How a call that is not blocking becomes hycoll's: an alltoallw, which looks at lists and types
/// when it is made only.
template <class Count, class Displacement>
class RootedExchangeTranslation : public Untouched {
 public:
  explicit RootedExchangeTranslation(const UnequalMovement<Count, Displacement>& of) : of_(of) {}

  Call call(CallLists& /*lists*/) {
    PairLists& to_root = of_.gathers() ? sent_ : received_;
    PairLists& at_root = of_.gathers() ? received_ : sent_;
    to_root.take_nothing(of_.process_count);
    if (!of_.is_in_place()) {
      to_root.take_only(of_.process_count, of_.root, static_cast<std::size_t>(of_.own.count),
                        of_.own.type);
    }
    at_root.take_nothing(of_.process_count);
    if (of_.is_root()) {
      const auto size = static_cast<std::size_t>(of_.process_count);
      at_root.take(of_.block_counts(), std::span(of_.blocks.displacements, size));
      at_root.take_type(of_.blocks.type);
      // In place its own one stays where it is.
      if (of_.is_in_place()) at_root.leave_out(of_.root);
    }
    const void* const own = of_.is_in_place() ? nullptr : of_.own.address;
    const void* const all = of_.is_root() ? of_.blocks.address : nullptr;
    // What is written to has come without const.
    const void* const input = of_.gathers() ? own : all;
    void* const output = const_cast<void*>(of_.gathers() ? all : own);
    return calls::alltoallw(input, sent_.typed(), output, received_.typed());
  }

 private:
  UnequalMovement<Count, Displacement> of_;
  PairLists sent_;
  PairLists received_;
};

template <class Count, class Displacement>
UnequalMovement<Count, Displacement> gatherv(const void* input, Count input_count,
                                             MPI_Datatype input_type, void* output,
                                             const Count* counts, const Displacement* displacements,
                                             MPI_Datatype type, int root, MPI_Comm communicator) {
  return {.collective = Collective::gather,
          .blocks = {output, counts, displacements, type},
          .own = {input, input_count, input_type},
          .root = root,
          .communicator = communicator};
}

template <class Count, class Displacement>
UnequalMovement<Count, Displacement> scatterv(const void* input, const Count* counts,
                                              const Displacement* displacements, MPI_Datatype type,
                                              void* output, Count output_count,
                                              MPI_Datatype output_type, int root,
                                              MPI_Comm communicator) {
  return {.collective = Collective::scatter,
          .blocks = {input, counts, displacements, type},
          .own = {output, output_count, output_type},
          .root = root,
          .communicator = communicator};
}

}  // namespace
}  // namespace hycoll::preload

#define HYCOLL_GATHERV(count_type, displacement_type)                                      \
  const void *input, count_type input_count, MPI_Datatype input_type, void *output,        \
      const count_type *counts, const displacement_type *displacements, MPI_Datatype type, \
      int root, MPI_Comm communicator
#define HYCOLL_GATHERV_PASSED() \
  input, input_count, input_type, output, counts, displacements, type, root, communicator

#define HYCOLL_SCATTERV(count_type, displacement_type)                                    \
  const void *input, const count_type *counts, const displacement_type *displacements,    \
      MPI_Datatype type, void *output, count_type output_count, MPI_Datatype output_type, \
      int root, MPI_Comm communicator
#define HYCOLL_SCATTERV_PASSED() \
  input, counts, displacements, type, output, output_count, output_type, root, communicator

extern "C" {

HYCOLL_PRELOAD(Gatherv, gatherv, gatherv, HYCOLL_GATHERV, HYCOLL_GATHERV_PASSED)
HYCOLL_PRELOAD(Scatterv, scatterv, scatterv, HYCOLL_SCATTERV, HYCOLL_SCATTERV_PASSED)

}  // extern "C"
