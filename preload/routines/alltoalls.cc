// The program's all-to-alls of equal blocks, blocking and nonblocking.

#include <mpi.h>

#include <cstddef>

#include "collectives/api/hycoll.h"
#include "preload/routines/own_block.h"
#include "preload/routines/serve.h"

namespace hycoll::preload {
namespace {

/// The arguments of an all-to-all. Count is int or MPI_Count.
template <class Count>
struct Alltoall {
  const void* input;
  Count input_count;  ///< Of one block, as the other.
  MPI_Datatype input_type;
  void* output;
  Count count;
  MPI_Datatype type;
  MPI_Comm communicator;

  bool is_in_place() const noexcept { return input == MPI_IN_PLACE; }

  /// As the output's blocks are, for that is what hycoll sees; but what is wrong with the input
  /// alone is wrong with the call, and the MPI library reports it.
  Candidate candidate(Routine routine) const noexcept {
    const bool is_negative = !is_in_place() && input_count < 0;
    const bool has_no_type = !is_in_place() && input_type == MPI_DATATYPE_NULL;
    return {.routine = routine,
            .communicator = communicator,
            .element_count = is_negative ? input_count : count,
            .type = has_no_type ? input_type : type};
  }
};

/// How an all-to-all of the program's, whose input and output may be described in different ways,
/// becomes hycoll's, which has one description for both.
template <class Count>
class Translation {
 public:
  explicit Translation(const Alltoall<Count>& of) : of_(of) {}

  /// With the program's buffers; make_ready() is to follow. `type` is the output's, or stands for
  /// it. What cannot be becomes a call that hycoll refuses.
  Call call(MPI_Datatype type) {
    const void* const input = of_.is_in_place() ? of_.output : of_.input;
    const auto count = static_cast<std::size_t>(of_.count);
    const Call same = calls::alltoall(input, of_.output, count, ElementType(type));
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

  /// Copies the input to the output, and makes the call one in place, where no description fits
  /// both.
  void make_ready(Call& call) const {
    if (!is_copied_) return;
    row_.copy(of_.input, of_.output);
    call.input = of_.output;
  }

 private:
  Alltoall<Count> of_;
  OwnBlock row_;  // all blocks
  bool is_copied_ = false;
};

template <class Count, class Library>
int alltoall(const Alltoall<Count>& of, const Library& library) {
  Translation<Count> translation(of);
  return serve(
      of.candidate(Routine::alltoall), [&] { return translation.call(of.type); }, library,
      [&](Call& call) { translation.make_ready(call); });
}

template <class Count, class Library>
int ialltoall(const Alltoall<Count>& of, MPI_Request* request, const Library& library) {
  return serve_nonblocking(
      of.candidate(Routine::ialltoall), request,
      [&](PendingCall& pending) {
        Translation<Count> translation(of);
        Call call = translation.call(pending.keep(of.type));
        translation.make_ready(call);
        return call;
      },
      library);
}

}  // namespace
}  // namespace hycoll::preload

namespace preload = hycoll::preload;

// One function for each form: counts of type int, and of type MPI_Count from MPI 4 on.
#define HYCOLL_PRELOAD_ALLTOALLS(suffix, count_type)                                            \
  int MPI_Alltoall##suffix(const void* input, count_type input_count, MPI_Datatype input_type,  \
                           void* output, count_type count, MPI_Datatype type,                   \
                           MPI_Comm communicator) {                                             \
    return preload::alltoall<count_type>(                                                       \
        {input, input_count, input_type, output, count, type, communicator}, [&] {              \
          return PMPI_Alltoall##suffix(input, input_count, input_type, output, count, type,     \
                                       communicator);                                           \
        });                                                                                     \
  }                                                                                             \
  int MPI_Ialltoall##suffix(const void* input, count_type input_count, MPI_Datatype input_type, \
                            void* output, count_type count, MPI_Datatype type,                  \
                            MPI_Comm communicator, MPI_Request* request) {                      \
    return preload::ialltoall<count_type>(                                                      \
        {input, input_count, input_type, output, count, type, communicator}, request, [&] {     \
          return PMPI_Ialltoall##suffix(input, input_count, input_type, output, count, type,    \
                                        communicator, request);                                 \
        });                                                                                     \
  }

extern "C" {

HYCOLL_PRELOAD_ALLTOALLS(, int)
#if MPI_VERSION >= 4
HYCOLL_PRELOAD_ALLTOALLS(_c, MPI_Count)
#endif

}  // extern "C"
