// The program's all-to-alls of equal blocks, blocking, nonblocking and persistent.

#include <mpi.h>

#include <cstddef>

#include "collectives/api/hycoll.h"
#include "preload/routines/both_sides.h"
#include "preload/routines/own_block.h"
#include "preload/routines/persistent_forms.h"
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
  Call call() {
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

}  // namespace
}  // namespace hycoll::preload

namespace preload = hycoll::preload;

// One function for each form: counts of type int, and of type MPI_Count from MPI 4 on.
#define HYCOLL_PRELOAD_ALLTOALLS(suffix, count_type)                                            \
  int MPI_Alltoall##suffix(const void* input, count_type input_count, MPI_Datatype input_type,  \
                           void* output, count_type count, MPI_Datatype type,                   \
                           MPI_Comm communicator) {                                             \
    return preload::serve_both_sides<preload::AlltoallTranslation<count_type>, count_type>(     \
        preload::Routine::alltoall,                                                             \
        {input, input_count, input_type, output, count, type, communicator}, [&] {              \
          return PMPI_Alltoall##suffix(input, input_count, input_type, output, count, type,     \
                                       communicator);                                           \
        });                                                                                     \
  }                                                                                             \
  int MPI_Ialltoall##suffix(const void* input, count_type input_count, MPI_Datatype input_type, \
                            void* output, count_type count, MPI_Datatype type,                  \
                            MPI_Comm communicator, MPI_Request* request) {                      \
    return preload::start_both_sides<preload::AlltoallTranslation<count_type>, count_type>(     \
        preload::Routine::ialltoall,                                                            \
        {input, input_count, input_type, output, count, type, communicator}, request, [&] {     \
          return PMPI_Ialltoall##suffix(input, input_count, input_type, output, count, type,    \
                                        communicator, request);                                 \
        });                                                                                     \
  }

#define HYCOLL_PRELOAD_PERSISTENT_ALLTOALLS(prefix, suffix, count_type, displacement_type)        \
  int prefix##_Alltoall_init##suffix(const void* input, count_type input_count,                   \
                                     MPI_Datatype input_type, void* output, count_type count,     \
                                     MPI_Datatype type, MPI_Comm communicator, MPI_Info info,     \
                                     MPI_Request* request) {                                      \
    return preload::set_up_both_sides<preload::AlltoallTranslation<count_type>, count_type>(      \
        preload::Routine::alltoall_init,                                                          \
        {input, input_count, input_type, output, count, type, communicator}, request, [&] {       \
          return P##prefix##_Alltoall_init##suffix(input, input_count, input_type, output, count, \
                                                   type, communicator, info, request);            \
        });                                                                                       \
  }

extern "C" {

HYCOLL_PRELOAD_ALLTOALLS(, int)
#if MPI_VERSION >= 4
HYCOLL_PRELOAD_ALLTOALLS(_c, MPI_Count)
#endif
HYCOLL_PRELOAD_PERSISTENT_FORMS(HYCOLL_PRELOAD_PERSISTENT_ALLTOALLS)

}  // extern "C"
