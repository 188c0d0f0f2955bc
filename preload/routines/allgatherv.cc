// The program's allgathers of blocks of different lengths.

#include <mpi.h>

#include <cstddef>
#include <span>

#include "collectives/api/hycoll.h"
#include "collectives/elements/own_block.h"
#include "preload/routines/elements.h"
#include "preload/routines/forms.h"
#include "preload/routines/serve.h"

namespace hycoll::preload {
namespace {

template <class Count, class Displacement>
class AllgathervTranslation;

/// What a process passes. Counts are of type int or MPI_Count, displacements of int or MPI_Aint.
template <class Count, class Displacement>
struct AllgathervBlocks {
  const void* input;
  Count input_count;
  MPI_Datatype input_type;
  void* output;
  const Count* counts;
  const Displacement* displacements;
  MPI_Datatype type;
  MPI_Comm communicator;
  int process_count = own_process_count_of(communicator);

  using Translation = AllgathervTranslation<Count, Displacement>;
  using BlockingTranslation = Translation;

  bool is_in_place() const noexcept { return input == MPI_IN_PLACE; }

  std::span<const Count> block_counts() const {
    return {counts, static_cast<std::size_t>(counts != nullptr ? process_count : 0)};
  }
  std::span<const Displacement> block_displacements() const {
    return {displacements, static_cast<std::size_t>(process_count)};
  }

  /// Of all blocks together, which all processes know; but what is wrong with the input alone is
  /// wrong with the call, and the MPI library reports it.
  Candidate candidate(Routine routine) const {
    const bool is_negative = !is_in_place() && input_count < 0;
    const bool has_error = is_negative || counts == nullptr || displacements == nullptr;
    return {.routine = routine,
            .communicator = communicator,
            .element_count = has_error ? -1 : sum_of(block_counts()),
            .type = is_in_place() ? type : worse_type(type, input_type),
            .mistake = has_error ? Mistake::none : mistake()};
  }

  /// Where the blocks lie hycoll looks itself.
  Mistake mistake() const {
    if (process_count == 0) return Mistake::none;
    const auto rank = static_cast<std::size_t>(rank_in(communicator));
    const MPI_Count count = output == nullptr ? 0 : counts[rank];
    return mistake_in({.own = {input, input_count, input_type},
                       .all = {output, count, type},
                       .own_begin = static_cast<std::ptrdiff_t>(displacements[rank]),
                       .is_alike = input_count == counts[rank] && input_type == type,
                       .in_place = Mistake::output_in_place});
  }
};

/// How such a call becomes hycoll's, which has one description for input and output.
template <class Count, class Displacement>
class AllgathervTranslation {
 public:
  explicit AllgathervTranslation(const AllgathervBlocks<Count, Displacement>& of) : of_(of) {}

  /// With the program's buffers. What cannot be becomes a call that hycoll refuses.
  Call call(CallLists& lists) {
    const auto counts = of_.block_counts();
    const auto displacements = of_.block_displacements();
    lists.counts.assign(counts.begin(), counts.end());
    lists.displacements.assign(displacements.begin(), displacements.end());
    const void* const input = of_.is_in_place() ? of_.output : of_.input;
    const Call same = calls::allgatherv(input, of_.output, lists.counts, ElementType(of_.type),
                                        lists.displacements);
    if (of_.is_in_place()) return same;
    const auto rank = static_cast<std::size_t>(rank_in(of_.communicator));
    const bool is_alike = of_.input_type == of_.type && of_.input_count == of_.counts[rank];
    if (is_alike && of_.input != of_.output) [[likely]]
      return same;
    block_ = OwnBlock({static_cast<std::size_t>(of_.input_count), of_.input_type},
                      {lists.counts[rank], of_.type}, "allgather");
    own_ = block_.element_to(of_.output, of_.displacements[rank]);
    const bool is_short = takes_what_libraries_take() && block_.is_short(of_.input, own_);
    if (!is_short && !block_.is_whole(of_.input, own_)) {
      for (std::size_t& bytes : lists.counts) bytes *= block_.to_element_bytes();
      Call refused = calls::allgatherv(of_.input, of_.output, lists.counts, DataType::uint8);
      refused.input_size = block_.from_bytes();
      return refused;
    }
    is_copied_ = is_short || !block_.is_direct() || of_.input == of_.output;
    return same;
  }

  /// Whether no description fits input and output: the process is to copy() its block to the
  /// output, and the call becomes one in place.
  bool copies() const noexcept { return is_copied_; }
  void copy() const { block_.copy(of_.input, own_); }
  void put_in_place(Call& call) const { call.input = of_.output; }

 private:
  AllgathervBlocks<Count, Displacement> of_;
  OwnBlock block_;
  void* own_ = nullptr;  // this process's block of the output
  bool is_copied_ = false;
};

template <class Count, class Displacement>
AllgathervBlocks<Count, Displacement> allgatherv(const void* input, Count input_count,
                                                 MPI_Datatype input_type, void* output,
                                                 const Count* counts,
                                                 const Displacement* displacements,
                                                 MPI_Datatype type, MPI_Comm communicator) {
  return {input, input_count, input_type, output, counts, displacements, type, communicator};
}

}  // namespace
}  // namespace hycoll::preload

#define HYCOLL_ALLGATHERV(count_type, displacement_type)                                   \
  const void *input, count_type input_count, MPI_Datatype input_type, void *output,        \
      const count_type *counts, const displacement_type *displacements, MPI_Datatype type, \
      MPI_Comm communicator
#define HYCOLL_ALLGATHERV_PASSED() \
  input, input_count, input_type, output, counts, displacements, type, communicator

extern "C" {

HYCOLL_PRELOAD(Allgatherv, allgatherv, allgatherv, HYCOLL_ALLGATHERV, HYCOLL_ALLGATHERV_PASSED)

}  // extern "C"
