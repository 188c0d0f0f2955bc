// The program's allgathers of equal blocks.

#include <mpi.h>

#include <cstddef>

#include "collectives/api/hycoll.h"
#include "collectives/elements/own_block.h"
#include "preload/routines/both_sides.h"
#include "preload/routines/forms.h"
#include "preload/routines/serve.h"

namespace hycoll::preload {
namespace {

/// How an allgather of the program's, whose input and output may be described in different ways,
/// becomes hycoll's, which has one description for both.
template <class Count>
class AllgatherTranslation {
 public:
  explicit AllgatherTranslation(const BothSides<Count>& of) : of_(of) {}

  /// With the program's buffers. What cannot be becomes a call that hycoll refuses.
  Call call(CallLists& /*lists*/) {
    const void* const input = of_.is_in_place() ? of_.output : of_.input;
    const Call same = calls::allgather(input, of_.output, static_cast<std::size_t>(of_.count),
                                       ElementType(of_.type));
    if (of_.is_in_place()) return same;
    const bool is_alike = of_.input_type == of_.type && of_.input_count == of_.count;
    if (is_alike && of_.input != of_.output) [[likely]]
      return same;
    const auto input_count = static_cast<std::size_t>(of_.input_count);
    const auto count = static_cast<std::size_t>(of_.count);
    block_ = OwnBlock({input_count, of_.input_type}, {count, of_.type}, "allgather");
    own_ = block_.block_to(of_.output, rank_in(of_.communicator));
    const bool is_short = takes_what_libraries_take() && block_.is_short(of_.input, own_);
    if (!is_short && !block_.is_whole(of_.input, of_.output)) {
      Call refused = calls::allgather(of_.input, of_.output, block_.to_bytes(), DataType::uint8);
      refused.input_size = block_.from_bytes();
      return refused;
    }
    is_copied_ = is_short || !block_.is_direct() || of_.input == of_.output;
    return same;
  }

  bool copies() const noexcept { return is_copied_; }
  void copy() const { block_.copy(of_.input, own_); }
  void put_in_place(Call& call) const { call.input = of_.output; }

 private:
  BothSides<Count> of_;
  OwnBlock block_;
  void* own_ = nullptr;  // this process's block of the output
  bool is_copied_ = false;
};

template <class Count>
struct Allgather : BothSides<Count> {
  using Translation = AllgatherTranslation<Count>;
  using BlockingTranslation = Translation;
};

template <class Count>
Allgather<Count> allgather(const void* input, Count input_count, MPI_Datatype input_type,
                           void* output, Count count, MPI_Datatype type, MPI_Comm communicator) {
  return {{input, input_count, input_type, output, count, type, communicator}};
}

}  // namespace
}  // namespace hycoll::preload

extern "C" {

HYCOLL_PRELOAD(Allgather, allgather, allgather, HYCOLL_BOTH_SIDES, HYCOLL_BOTH_SIDES_PASSED)

}  // extern "C"
