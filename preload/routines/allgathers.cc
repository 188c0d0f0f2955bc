// The program's allgathers of equal blocks, blocking, nonblocking and persistent.

#include <mpi.h>

#include <cstddef>

#include "collectives/api/hycoll.h"
#include "preload/routines/both_sides.h"
#include "preload/routines/own_block.h"
#include "preload/routines/persistent_forms.h"
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
  Call call() {
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

}  // namespace
}  // namespace hycoll::preload

namespace preload = hycoll::preload;

// One function for each form: counts of type int, and of type MPI_Count from MPI 4 on.
#define HYCOLL_PRELOAD_ALLGATHERS(suffix, count_type)                                            \
  int MPI_Allgather##suffix(const void* input, count_type input_count, MPI_Datatype input_type,  \
                            void* output, count_type count, MPI_Datatype type,                   \
                            MPI_Comm communicator) {                                             \
    return preload::serve_both_sides<preload::AllgatherTranslation<count_type>, count_type>(     \
        preload::Routine::allgather,                                                             \
        {input, input_count, input_type, output, count, type, communicator}, [&] {               \
          return PMPI_Allgather##suffix(input, input_count, input_type, output, count, type,     \
                                        communicator);                                           \
        });                                                                                      \
  }                                                                                              \
  int MPI_Iallgather##suffix(const void* input, count_type input_count, MPI_Datatype input_type, \
                             void* output, count_type count, MPI_Datatype type,                  \
                             MPI_Comm communicator, MPI_Request* request) {                      \
    return preload::start_both_sides<preload::AllgatherTranslation<count_type>, count_type>(     \
        preload::Routine::iallgather,                                                            \
        {input, input_count, input_type, output, count, type, communicator}, request, [&] {      \
          return PMPI_Iallgather##suffix(input, input_count, input_type, output, count, type,    \
                                         communicator, request);                                 \
        });                                                                                      \
  }

#define HYCOLL_PRELOAD_PERSISTENT_ALLGATHERS(prefix, suffix, count_type, displacement_type)        \
  int prefix##_Allgather_init##suffix(const void* input, count_type input_count,                   \
                                      MPI_Datatype input_type, void* output, count_type count,     \
                                      MPI_Datatype type, MPI_Comm communicator, MPI_Info info,     \
                                      MPI_Request* request) {                                      \
    return preload::set_up_both_sides<preload::AllgatherTranslation<count_type>, count_type>(      \
        preload::Routine::allgather_init,                                                          \
        {input, input_count, input_type, output, count, type, communicator}, request, [&] {        \
          return P##prefix##_Allgather_init##suffix(input, input_count, input_type, output, count, \
                                                    type, communicator, info, request);            \
        });                                                                                        \
  }

extern "C" {

HYCOLL_PRELOAD_ALLGATHERS(, int)
#if MPI_VERSION >= 4
HYCOLL_PRELOAD_ALLGATHERS(_c, MPI_Count)
#endif
HYCOLL_PRELOAD_PERSISTENT_FORMS(HYCOLL_PRELOAD_PERSISTENT_ALLGATHERS)

}  // extern "C"
