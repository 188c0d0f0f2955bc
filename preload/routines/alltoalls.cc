// The program's all-to-alls of equal blocks.

#include <mpi.h>

#include <cstddef>

#include "collectives/api/hycoll.h"
#include "collectives/elements/own_block.h"
#include "preload/routines/both_sides.h"
#include "preload/routines/forms.h"
#include "preload/routines/serve.h"

namespace hycoll::preload {
namespace {

/// How an all-to-all of the program's, whose input and output may be described in different ways,
/// becomes hycoll's, which has one description for both.
template <class Count>
class AlltoallTranslation {
 public:
  explicit AlltoallTranslation(const BothSides<Count>& of) : of_(of) {}

  /// With the program's buffers. What cannot be becomes a call that hycoll refuses.
  Call call(CallLists& /*lists*/) {
    const void* const input = of_.is_in_place() ? of_.output : of_.input;
    const auto count = static_cast<std::size_t>(of_.count);
    const Call same = calls::alltoall(input, of_.output, count, ElementType(of_.type));
    const bool is_alike = of_.input_type == of_.type && of_.input_count == of_.count;
    if (of_.is_in_place() || is_alike) [[likely]]
      return same;
    const auto blocks = static_cast<std::size_t>(process_count_of(of_.communicator));
    const auto input_count = static_cast<std::size_t>(of_.input_count);
    row_ = OwnBlock({blocks * input_count, of_.input_type}, {blocks * count, of_.type}, "alltoall");
    if (!row_.is_whole(of_.input, of_.output)) {
      Call refused =
          calls::alltoall(of_.input, of_.output, row_.to_bytes() / blocks, DataType::uint8);
      refused.input_size = row_.from_bytes();
      return refused;
    }
    is_copied_ = !row_.is_direct();
    return same;
  }

  bool copies() const noexcept { return is_copied_; }
  void copy() const { row_.copy(of_.input, of_.output); }
  void put_in_place(Call& call) const { call.input = of_.output; }

 private:
  BothSides<Count> of_;
  OwnBlock row_;  // all blocks
  bool is_copied_ = false;
};

template <class Count>
struct Alltoall : BothSides<Count> {
  using Translation = AlltoallTranslation<Count>;
  using BlockingTranslation = Translation;
};

template <class Count>
Alltoall<Count> alltoall(const void* input, Count input_count, MPI_Datatype input_type,
                         void* output, Count count, MPI_Datatype type, MPI_Comm communicator) {
  return {{input, input_count, input_type, output, count, type, communicator}};
}

}  // namespace
}  // namespace hycoll::preload

extern "C" {

HYCOLL_PRELOAD(Alltoall, alltoall, alltoall, HYCOLL_BOTH_SIDES, HYCOLL_BOTH_SIDES_PASSED)

}  // extern "C"
