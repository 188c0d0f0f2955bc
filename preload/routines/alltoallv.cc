// The program's all-to-alls of blocks of different lengths, of one type or of many, blocking,
// nonblocking and persistent.

#include <mpi.h>

#include <cstddef>
#include <span>

#include "collectives/api/hycoll.h"
#include "core/base/lifetime.h"
#include "preload/routines/elements.h"
#include "preload/routines/pair_lists.h"
#include "preload/routines/persistent_forms.h"
#include "preload/routines/serve.h"

namespace hycoll::preload {
namespace {

/// What a process sends, or gets. Counts are of type int or MPI_Count, displacements of int or
/// MPI_Aint.
template <class Count, class Displacement>
struct Blocks {
  const Count* counts;
  const Displacement* displacements;  ///< In bytes where there are types.
  MPI_Datatype type;
  const MPI_Datatype* types;  ///< For each block; null: `type`.

  bool is_missing() const noexcept {
    return counts == nullptr || displacements == nullptr || (types == nullptr && !is_usable(type));
  }
  bool has_error(int process_count) const {
    const auto size = static_cast<std::size_t>(process_count);
    if (is_missing() || sum_of(std::span(counts, size)) < 0) return true;
    if (types == nullptr) return false;
    for (std::size_t rank = 0; rank < size; ++rank) {
      const bool is_known = rank > 0 && counts[rank - 1] > 0 && types[rank] == types[rank - 1];
      if (counts[rank] > 0 && !is_known && !is_usable(types[rank])) return true;
    }
    return false;
  }
  /// Requires that nothing is wrong.
  std::size_t bytes(int process_count) const {
    const auto size = static_cast<std::size_t>(process_count);
    if (types == nullptr) return size_bytes(sum_of(std::span(counts, size)), type);
    std::size_t sum = 0;
    for (std::size_t rank = 0; rank < size; ++rank) sum += size_bytes(counts[rank], types[rank]);
    return sum;
  }
};

/// What a process passes.
template <class Count, class Displacement>
struct Exchange {
  const void* input;
  Blocks<Count, Displacement> sent;
  void* output;
  Blocks<Count, Displacement> received;
  MPI_Comm communicator;
  int process_count = own_process_count_of(communicator);

  bool is_in_place() const noexcept { return input == MPI_IN_PLACE; }

  /// What is wrong with what this process passes is wrong with the call, and the MPI library
  /// reports it.
  Candidate candidate(Routine routine) const {
    const bool has_error = process_count > 0 && (received.has_error(process_count) ||
                                                 (!is_in_place() && sent.has_error(process_count)));
    const bool is_reported =
        process_count > 0 && !has_error && Session::instance().report() != nullptr;
    return {.routine = routine,
            .communicator = communicator,
            .element_count = has_error ? -1 : 0,
            .has_size = false,
            .type = MPI_BYTE,
            .mistake = has_error ? Mistake::none : mistake(),
            .reported_bytes = is_reported ? received.bytes(process_count) : 0};
  }

  /// Where the blocks lie hycoll looks itself.
  Mistake mistake() const {
    const bool is_suspect = input == output || output == MPI_IN_PLACE;
    if (!is_suspect || output == nullptr || process_count == 0) [[likely]]
      return Mistake::none;
    return output == MPI_IN_PLACE ? Mistake::output_in_place : Mistake::aliased;
  }
};

/// What hycoll's call refers to, until the next one.
class AlltoallvTranslation {
 public:
  template <class Count, class Displacement>
  Call call(const Exchange<Count, Displacement>& of) {
    const bool has_types =
        of.received.types != nullptr || (!of.is_in_place() && of.sent.type != of.received.type);
    const auto take = [&](const Blocks<Count, Displacement>& blocks, PairLists& lists) {
      lists.take(std::span(blocks.counts, size_of(of)),
                 std::span(blocks.displacements, size_of(of)));
      if (has_types && blocks.types != nullptr) lists.take_types({blocks.types, size_of(of)});
      if (has_types && blocks.types == nullptr) lists.take_type(blocks.type);
    };
    take(of.is_in_place() ? of.received : of.sent, sent_);
    take(of.received, received_);
    const void* const input = of.is_in_place() ? of.output : of.input;
    if (has_types) return calls::alltoallw(input, sent_.typed(), of.output, received_.typed());
    return calls::alltoallv(input, sent_.counts(), of.output, received_.counts(),
                            ElementType(of.received.type));
  }

  /// A call is made before its thread makes the next one, and looks at lists and types no more.
  static AlltoallvTranslation& of_thread() {
    return hycoll::of_this_thread<AlltoallvTranslation>();
  }

 private:
  template <class Count, class Displacement>
  static std::size_t size_of(const Exchange<Count, Displacement>& of) noexcept {
    return static_cast<std::size_t>(of.process_count);
  }

  PairLists sent_;
  PairLists received_;
};

template <class Count, class Displacement, class Library>
int serve_exchange(Routine routine, const Exchange<Count, Displacement>& of,
                   const Library& library) {
  return serve(
      of.candidate(routine), [&] { return AlltoallvTranslation::of_thread().call(of); }, library);
}

/// The lists and types are looked at when the call is made only: the program may free the types at
/// once.
template <class Count, class Displacement, class Library>
int start_exchange(Routine routine, const Exchange<Count, Displacement>& of, MPI_Request* request,
                   const Library& library) {
  return serve_nonblocking(
      of.candidate(routine), request,
      [&](PendingCall& /*pending*/) { return AlltoallvTranslation::of_thread().call(of); },
      library);
}

template <class Count, class Displacement, class Library>
int set_up_exchange(Routine routine, const Exchange<Count, Displacement>& of, MPI_Request* request,
                    const Library& library) {
  return serve_persistent(
      of.candidate(routine), request,
      [&](PersistentCall& /*persistent*/) { return AlltoallvTranslation::of_thread().call(of); },
      library);
}

}  // namespace
}  // namespace hycoll::preload

namespace preload = hycoll::preload;

// One function for each form: counts of type int, and of type MPI_Count from MPI 4 on, when
// displacements of an alltoallw are of type MPI_Aint.
#define HYCOLL_PRELOAD_ALLTOALLV(suffix, count_type, displacement_type)                            \
  int MPI_Alltoallv##suffix(const void* input, const count_type* sent,                             \
                            const displacement_type* sent_at, MPI_Datatype sent_type,              \
                            void* output, const count_type* counts, const displacement_type* at,   \
                            MPI_Datatype type, MPI_Comm communicator) {                            \
    return preload::serve_exchange<count_type, displacement_type>(                                 \
        preload::Routine::alltoallv,                                                               \
        {input,                                                                                    \
         {sent, sent_at, sent_type, nullptr},                                                      \
         output,                                                                                   \
         {counts, at, type, nullptr},                                                              \
         communicator},                                                                            \
        [&] {                                                                                      \
          return PMPI_Alltoallv##suffix(input, sent, sent_at, sent_type, output, counts, at, type, \
                                        communicator);                                             \
        });                                                                                        \
  }                                                                                                \
  int MPI_Alltoallw##suffix(const void* input, const count_type* sent,                             \
                            const displacement_type* sent_at, const MPI_Datatype* sent_types,      \
                            void* output, const count_type* counts, const displacement_type* at,   \
                            const MPI_Datatype* types, MPI_Comm communicator) {                    \
    return preload::serve_exchange<count_type, displacement_type>(                                 \
        preload::Routine::alltoallw,                                                               \
        {input,                                                                                    \
         {sent, sent_at, MPI_DATATYPE_NULL, sent_types},                                           \
         output,                                                                                   \
         {counts, at, MPI_DATATYPE_NULL, types},                                                   \
         communicator},                                                                            \
        [&] {                                                                                      \
          return PMPI_Alltoallw##suffix(input, sent, sent_at, sent_types, output, counts, at,      \
                                        types, communicator);                                      \
        });                                                                                        \
  }                                                                                                \
  int MPI_Ialltoallv##suffix(const void* input, const count_type* sent,                            \
                             const displacement_type* sent_at, MPI_Datatype sent_type,             \
                             void* output, const count_type* counts, const displacement_type* at,  \
                             MPI_Datatype type, MPI_Comm communicator, MPI_Request* request) {     \
    return preload::start_exchange<count_type, displacement_type>(                                 \
        preload::Routine::ialltoallv,                                                              \
        {input,                                                                                    \
         {sent, sent_at, sent_type, nullptr},                                                      \
         output,                                                                                   \
         {counts, at, type, nullptr},                                                              \
         communicator},                                                                            \
        request, [&] {                                                                             \
          return PMPI_Ialltoallv##suffix(input, sent, sent_at, sent_type, output, counts, at,      \
                                         type, communicator, request);                             \
        });                                                                                        \
  }                                                                                                \
  int MPI_Ialltoallw##suffix(const void* input, const count_type* sent,                            \
                             const displacement_type* sent_at, const MPI_Datatype* sent_types,     \
                             void* output, const count_type* counts, const displacement_type* at,  \
                             const MPI_Datatype* types, MPI_Comm communicator,                     \
                             MPI_Request* request) {                                               \
    return preload::start_exchange<count_type, displacement_type>(                                 \
        preload::Routine::ialltoallw,                                                              \
        {input,                                                                                    \
         {sent, sent_at, MPI_DATATYPE_NULL, sent_types},                                           \
         output,                                                                                   \
         {counts, at, MPI_DATATYPE_NULL, types},                                                   \
         communicator},                                                                            \
        request, [&] {                                                                             \
          return PMPI_Ialltoallw##suffix(input, sent, sent_at, sent_types, output, counts, at,     \
                                         types, communicator, request);                            \
        });                                                                                        \
  }

#define HYCOLL_PRELOAD_PERSISTENT_ALLTOALLV(prefix, suffix, count_type, displacement_type)         \
  int prefix##_Alltoallv_init##suffix(                                                             \
      const void* input, const count_type* sent, const displacement_type* sent_at,                 \
      MPI_Datatype sent_type, void* output, const count_type* counts, const displacement_type* at, \
      MPI_Datatype type, MPI_Comm communicator, MPI_Info info, MPI_Request* request) {             \
    return preload::set_up_exchange<count_type, displacement_type>(                                \
        preload::Routine::alltoallv_init,                                                          \
        {input,                                                                                    \
         {sent, sent_at, sent_type, nullptr},                                                      \
         output,                                                                                   \
         {counts, at, type, nullptr},                                                              \
         communicator},                                                                            \
        request, [&] {                                                                             \
          return P##prefix##_Alltoallv_init##suffix(input, sent, sent_at, sent_type, output,       \
                                                    counts, at, type, communicator, info,          \
                                                    request);                                      \
        });                                                                                        \
  }                                                                                                \
  int prefix##_Alltoallw_init##suffix(                                                             \
      const void* input, const count_type* sent, const displacement_type* sent_at,                 \
      const MPI_Datatype* sent_types, void* output, const count_type* counts,                      \
      const displacement_type* at, const MPI_Datatype* types, MPI_Comm communicator,               \
      MPI_Info info, MPI_Request* request) {                                                       \
    return preload::set_up_exchange<count_type, displacement_type>(                                \
        preload::Routine::alltoallw_init,                                                          \
        {input,                                                                                    \
         {sent, sent_at, MPI_DATATYPE_NULL, sent_types},                                           \
         output,                                                                                   \
         {counts, at, MPI_DATATYPE_NULL, types},                                                   \
         communicator},                                                                            \
        request, [&] {                                                                             \
          return P##prefix##_Alltoallw_init##suffix(input, sent, sent_at, sent_types, output,      \
                                                    counts, at, types, communicator, info,         \
                                                    request);                                      \
        });                                                                                        \
  }

extern "C" {

HYCOLL_PRELOAD_ALLTOALLV(, int, int)
#if MPI_VERSION >= 4
HYCOLL_PRELOAD_ALLTOALLV(_c, MPI_Count, MPI_Aint)
#endif
HYCOLL_PRELOAD_PERSISTENT_FORMS(HYCOLL_PRELOAD_PERSISTENT_ALLTOALLV)

}  // extern "C"
