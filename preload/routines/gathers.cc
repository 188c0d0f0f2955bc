// The program's gathers and scatters of equal blocks.

#include <fmt/format.h>
#include <mpi.h>

#include <cstddef>
#include <memory>

#include "collectives/api/hycoll.h"
#include "collectives/elements/own_block.h"
#include "core/base/errors.h"
#include "preload/routines/forms.h"
#include "preload/routines/serve.h"

namespace hycoll::preload {
namespace {

/// A buffer and its description. Count is int or MPI_Count.
template <class Count>
struct Side {
  const void* address;
  Count count;  ///< Of one block.
  MPI_Datatype type;

  bool has_error() const noexcept { return count < 0 || type == MPI_DATATYPE_NULL; }
  PassedBuffer passed() const noexcept { return {address, count, type}; }
  BlockDescription description() const noexcept { return {static_cast<std::size_t>(count), type}; }
};

template <class Count>
class RootedTranslation;
template <class Count>
class BlockingRootedTranslation;

/// What a process passes to a gather or a scatter.
template <class Count>
struct RootedMovement {
  Collective collective;
  Side<Count> blocks;  ///< All blocks, which the root gets or passes; counts nowhere else.
  Side<Count> own;     ///< The process's own, which counts everywhere but in place at the root.
  int root;
  MPI_Comm communicator;
  int rank = rank_in(communicator);

  using Translation = RootedTranslation<Count>;
  using BlockingTranslation = BlockingRootedTranslation<Count>;

  bool has_blocks() const noexcept { return (rank == root && rank >= 0) || root == MPI_ROOT; }
  /// MPI_ROOT and MPI_PROC_NULL: those of an intercommunicator, where the other group has them.
  bool has_own() const noexcept { return root != MPI_ROOT && root != MPI_PROC_NULL; }
  bool is_in_place() const noexcept { return has_blocks() && own.address == MPI_IN_PLACE; }

  /// At the root as all blocks are, for that is what hycoll sees; but what is wrong with its own
  /// alone is wrong with the call, and the MPI library reports it.
  Candidate candidate(Routine routine) const {
    if (!has_blocks() && !has_own()) {
      return {.routine = routine, .communicator = communicator, .type = MPI_BYTE, .root = root};
    }
    const bool is_own = !has_blocks() || (has_own() && !is_in_place() && own.has_error());
    const Side<Count>& side = is_own ? own : blocks;
    const bool has_both = !is_own && has_own() && !is_in_place();
    return {.routine = routine,
            .communicator = communicator,
            .element_count = side.count,
            .type = has_both ? worse_type(side.type, own.type) : side.type,
            .root = root,
            .mistake = mistake()};
  }

  Mistake mistake() const {
    const bool gathers = collective == Collective::gather;
    const PassedBuffer passed = own.passed();
    if (rank < 0) return Mistake::none;
    if (!has_blocks()) return gathers ? mistake_in_input(passed) : mistake_in_output(passed);
    return mistake_in({.own = passed,
                       .all = blocks.passed(),
                       .own_begin = static_cast<std::ptrdiff_t>(blocks.count) * rank,
                       .is_alike = own.description() == blocks.description(),
                       .in_place = gathers ? Mistake::output_in_place : Mistake::input_in_place});
  }

  /// Of hycoll's; all blocks and the own one are where the program has them.
  Call call(const void* all, const void* block, std::size_t count, const ElementType& type) const {
    // What the call writes to has come without const.
    if (collective == Collective::gather) {
      return calls::gather(block, const_cast<void*>(all), count, type, root);
    }
    return calls::scatter(all, const_cast<void*>(block), count, type, root);
  }
};

/// How such a call of the program's, whose root may describe its own block in another way than all
/// blocks, becomes hycoll's, which has one description.
template <class Count>
class RootedTranslation {
 public:
  explicit RootedTranslation(const RootedMovement<Count>& of) : of_(of) {}

  /// With the program's buffers. What cannot be becomes a call that hycoll refuses.
  Call call(CallLists& /*lists*/) { return call(); }
  Call call() {
    const Side<Count>& side = of_.has_blocks() ? of_.blocks : of_.own;
    const auto count = static_cast<std::size_t>(side.count);
    const ElementType type(side.type);
    if (!of_.has_blocks()) return of_.call(nullptr, of_.own.address, count, type);
    const void* const all = of_.blocks.address;
    if (of_.is_in_place()) return of_.call(all, all, count, type);
    const Call same = of_.call(all, of_.own.address, count, type);
    const bool is_alike = of_.own.description() == of_.blocks.description();
    if (is_alike && of_.own.address != all) [[likely]]
      return same;
    const bool gathers = of_.collective == Collective::gather;
    const Side<Count>& from = gathers ? of_.own : of_.blocks;
    const Side<Count>& to = gathers ? of_.blocks : of_.own;
    block_ = OwnBlock(from.description(), to.description(), name_of(of_.collective));
    const bool is_short = takes_what_libraries_take() && block_.is_short(from.address, to.address);
    if (!is_short && !block_.is_whole(from.address, to.address)) return refused();
    // From one address to itself a scatter's block stays where it is.
    is_copied_ = is_short || !block_.is_direct() || (gathers && of_.own.address == all);
    return same;
  }

  const RootedMovement<Count>& of() const noexcept { return of_; }
  /// The root's own, if it is described in two ways.
  const OwnBlock& block() const noexcept { return block_; }

  /// Whether no description fits both: the root is to copy() its block, and the call becomes one in
  /// place.
  bool copies() const noexcept { return is_copied_; }
  void copy() const {
    const void* const all = of_.blocks.address;
    // What is written to has come without const.
    if (of_.collective == Collective::gather) {
      block_.copy(of_.own.address, block_.block_to(const_cast<void*>(all), of_.rank));
    } else {
      block_.copy(block_.block_from(all, of_.rank), const_cast<void*>(of_.own.address));
    }
  }
  void put_in_place(Call& call) const {
    const void* const all = of_.blocks.address;
    if (of_.collective == Collective::gather) {
      call.input = all;
    } else {
      call.output = const_cast<void*>(all);
    }
  }

 private:
  /// Its sizes are what hycoll complains about, or a buffer that is not there.
  Call refused() const {
    const bool gathers = of_.collective == Collective::gather;
    Call call = of_.call(of_.blocks.address, of_.own.address,
                         gathers ? block_.to_bytes() : block_.from_bytes(), DataType::uint8);
    (gathers ? call.input_size : call.output_size) =
        gathers ? block_.from_bytes() : block_.to_bytes();
    return call;
  }

  RootedMovement<Count> of_;
  OwnBlock block_;
  bool is_copied_ = false;
};

/// The same of a blocking call, which may be over before its error is raised: the others pass, or
/// get, blocks of the size that the root passes.
template <class Count>
class BlockingRootedTranslation {
 public:
  explicit BlockingRootedTranslation(const RootedMovement<Count>& of) : translation_(of) {}

  Call call(Communicator& /*server*/) {
    const Call made = translation_.call();
    const OwnBlock& block = translation_.block();
    const bool is_too_long = block.to_bytes() > 0 && block.from_bytes() > block.to_bytes();
    if (!is_too_long || !block.is_direct() || !takes_what_libraries_take()) return made;
    const RootedMovement<Count>& of = translation_.of();
    const std::size_t bytes = block.from_bytes();
    const bool gathers = of.collective == Collective::gather;
    const auto blocks = gathers ? static_cast<std::size_t>(process_count_of(of.communicator)) : 1;
    too_long_ = std::make_unique_for_overwrite<std::byte[]>(blocks * bytes);
    return gathers ? of.call(too_long_.get(), of.own.address, bytes, DataType::uint8)
                   : of.call(of.blocks.address, too_long_.get(), bytes, DataType::uint8);
  }

  void make_ready(Call& call) const { preload::make_ready(translation_, call); }

  void complete() const {
    if (too_long_ == nullptr) [[likely]]
      return;
    const RootedMovement<Count>& of = translation_.of();
    const OwnBlock& block = translation_.block();
    throw SizeError(
        fmt::format("{}: rank {}, the root, passes blocks of {} bytes, but has room for {}",
                    name_of(of.collective), of.root, block.from_bytes(), block.to_bytes()));
  }

 private:
  RootedTranslation<Count> translation_;
  std::unique_ptr<std::byte[]> too_long_;  // what there is no room for
};

template <class Count>
RootedMovement<Count> gather(const void* input, Count input_count, MPI_Datatype input_type,
                             void* output, Count output_count, MPI_Datatype output_type, int root,
                             MPI_Comm communicator) {
  return {.collective = Collective::gather,
          .blocks = {output, output_count, output_type},
          .own = {input, input_count, input_type},
          .root = root,
          .communicator = communicator};
}

template <class Count>
RootedMovement<Count> scatter(const void* input, Count input_count, MPI_Datatype input_type,
                              void* output, Count output_count, MPI_Datatype output_type, int root,
                              MPI_Comm communicator) {
  return {.collective = Collective::scatter,
          .blocks = {input, input_count, input_type},
          .own = {output, output_count, output_type},
          .root = root,
          .communicator = communicator};
}

}  // namespace
}  // namespace hycoll::preload

#define HYCOLL_ROOTED(count_type, displacement_type)                                \
  const void *input, count_type input_count, MPI_Datatype input_type, void *output, \
      count_type output_count, MPI_Datatype output_type, int root, MPI_Comm communicator
#define HYCOLL_ROOTED_PASSED() \
  input, input_count, input_type, output, output_count, output_type, root, communicator

extern "C" {

HYCOLL_PRELOAD(Gather, gather, gather, HYCOLL_ROOTED, HYCOLL_ROOTED_PASSED)
HYCOLL_PRELOAD(Scatter, scatter, scatter, HYCOLL_ROOTED, HYCOLL_ROOTED_PASSED)

}  // extern "C"
