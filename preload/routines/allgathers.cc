// The program's allgathers of equal blocks, blocking and nonblocking.

#include <mpi.h>

#include <cstddef>
#include <cstring>
#include <memory>

#include "collectives/api/hycoll.h"
#include "collectives/elements/vector_elements.h"
#include "preload/routines/serve.h"

namespace hycoll::preload {
namespace {

/// The arguments of an allgather. Count is int or MPI_Count.
template <class Count>
struct Allgather {
  const void* input;
  Count input_count;
  MPI_Datatype input_type;
  void* output;
  Count count;  ///< Of one block.
  MPI_Datatype type;
  MPI_Comm communicator;

  bool is_in_place() const noexcept { return input == MPI_IN_PLACE; }

  /// As the output's block is, for that is what hycoll sees; but what is wrong with the input alone
  /// is wrong with the call, and the MPI library reports it.
  Candidate candidate(Routine routine) const noexcept {
    const bool is_negative = !is_in_place() && input_count < 0;
    const bool has_no_type = !is_in_place() && input_type == MPI_DATATYPE_NULL;
    return {.routine = routine,
            .communicator = communicator,
            .element_count = is_negative ? input_count : count,
            .type = has_no_type ? input_type : type};
  }
};

/// How an allgather of the program's, whose input and output may be described in different ways,
/// becomes hycoll's, which has one description for both.
template <class Count>
class Translation {
 public:
  explicit Translation(const Allgather<Count>& of) : of_(of) {}

  /// With the program's buffers; make_ready() is to follow. `type` is the output's, or stands for
  /// it. What cannot be becomes a call that hycoll refuses.
  Call call(MPI_Datatype type) {
    const void* const input = of_.is_in_place() ? of_.output : of_.input;
    const Call same =
        calls::allgather(input, of_.output, static_cast<std::size_t>(of_.count), ElementType(type));
    if (of_.is_in_place()) return same;
    const bool is_alike = of_.input_type == of_.type && of_.input_count == of_.count;
    if (is_alike && of_.input != of_.output) [[likely]]
      return same;
    from_ = moved_elements(ElementType(of_.input_type), "allgather");
    to_ = moved_elements(ElementType(of_.type), "allgather");
    const std::size_t input_bytes = static_cast<std::size_t>(of_.input_count) * from_.element_bytes;
    block_bytes_ = static_cast<std::size_t>(of_.count) * to_.element_bytes;
    const bool are_there = (of_.input != nullptr || from_.staging != nullptr) &&
                           (of_.output != nullptr || to_.staging != nullptr);
    if (input_bytes != block_bytes_ || !are_there) {
      Call refused = calls::allgather(of_.input, of_.output, block_bytes_, DataType::uint8);
      refused.input_size = input_bytes;
      return refused;
    }
    const bool are_direct = from_.staging == nullptr && to_.staging == nullptr;
    places_input_ = !are_direct || of_.input == of_.output;
    return same;
  }

  /// Copies the input to this process's block of the output, and makes the call one in place, where
  /// no description fits both.
  void make_ready(Call& call) const {
    if (!places_input_) return;
    const auto* data = static_cast<const std::byte*>(of_.input);
    std::unique_ptr<std::byte[]> packed;
    if (from_.staging != nullptr) {
      packed = std::make_unique_for_overwrite<std::byte[]>(block_bytes_);
      from_.staging->pack(of_.input, 0, block_bytes_, packed.get());
      data = packed.get();
    }
    int rank = 0;
    PMPI_Comm_rank(of_.communicator, &rank);
    auto* const block = const_cast<void*>(to_.address_of(
        of_.output, static_cast<std::size_t>(rank) * static_cast<std::size_t>(of_.count)));
    if (to_.staging != nullptr) {
      to_.staging->unpack(data, 0, block_bytes_, block);
    } else {
      std::memmove(block, data, block_bytes_);
    }
    call.input = of_.output;
  }

 private:
  Allgather<Count> of_;
  VectorElements from_;
  VectorElements to_;
  std::size_t block_bytes_ = 0;
  bool places_input_ = false;
};

template <class Count, class Library>
int allgather(const Allgather<Count>& of, const Library& library) {
  Translation<Count> translation(of);
  return serve(
      of.candidate(Routine::allgather), [&] { return translation.call(of.type); }, library,
      [&](Call& call) { translation.make_ready(call); });
}

template <class Count, class Library>
int iallgather(const Allgather<Count>& of, MPI_Request* request, const Library& library) {
  return serve_nonblocking(
      of.candidate(Routine::iallgather), request,
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
#define HYCOLL_PRELOAD_ALLGATHERS(suffix, count_type)                                            \
  int MPI_Allgather##suffix(const void* input, count_type input_count, MPI_Datatype input_type,  \
                            void* output, count_type count, MPI_Datatype type,                   \
                            MPI_Comm communicator) {                                             \
    return preload::allgather<count_type>(                                                       \
        {input, input_count, input_type, output, count, type, communicator}, [&] {               \
          return PMPI_Allgather##suffix(input, input_count, input_type, output, count, type,     \
                                        communicator);                                           \
        });                                                                                      \
  }                                                                                              \
  int MPI_Iallgather##suffix(const void* input, count_type input_count, MPI_Datatype input_type, \
                             void* output, count_type count, MPI_Datatype type,                  \
                             MPI_Comm communicator, MPI_Request* request) {                      \
    return preload::iallgather<count_type>(                                                      \
        {input, input_count, input_type, output, count, type, communicator}, request, [&] {      \
          return PMPI_Iallgather##suffix(input, input_count, input_type, output, count, type,    \
                                         communicator, request);                                 \
        });                                                                                      \
  }

extern "C" {

HYCOLL_PRELOAD_ALLGATHERS(, int)
#if MPI_VERSION >= 4
HYCOLL_PRELOAD_ALLGATHERS(_c, MPI_Count)
#endif

}  // extern "C"
