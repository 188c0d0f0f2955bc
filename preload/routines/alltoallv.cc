// The program's all-to-alls of blocks of different lengths, of one type or of many.

#include <mpi.h>

#include <cstddef>
#include <span>

#include "collectives/api/hycoll.h"
#include "core/base/lifetime.h"
#include "preload/routines/elements.h"
#include "preload/routines/forms.h"
#include "preload/routines/pair_lists.h"
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

template <class Count, class Displacement>
class ExchangeTranslation;

/// What a process passes.
template <class Count, class Displacement>
struct Exchange {
  const void* input;
  Blocks<Count, Displacement> sent;
  void* output;
  Blocks<Count, Displacement> received;
  MPI_Comm communicator;
  int process_count = own_process_count_of(communicator);

  using Translation = ExchangeTranslation<Count, Displacement>;
  using BlockingTranslation = Translation;

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

/// What hycoll's call refers to. A call is made before its thread makes the next one, and looks at
/// lists and types no more: the program may free the types at once.
struct ExchangeLists {
  PairLists sent;
  PairLists received;
};

/// How such a call becomes hycoll's: an alltoallv of one type, or an alltoallw.
template <class Count, class Displacement>
class ExchangeTranslation : public Untouched {
 public:
  explicit ExchangeTranslation(const Exchange<Count, Displacement>& of) : of_(of) {}

  Call call(CallLists& /*lists*/) const {
    ExchangeLists& lists = of_this_thread<ExchangeLists>();
    const bool has_types =
        of_.received.types != nullptr || (!of_.is_in_place() && of_.sent.type != of_.received.type);
    take(of_.is_in_place() ? of_.received : of_.sent, has_types, lists.sent);
    take(of_.received, has_types, lists.received);
    const void* const input = of_.is_in_place() ? of_.output : of_.input;
    if (has_types) {
      return calls::alltoallw(input, lists.sent.typed(), of_.output, lists.received.typed());
    }
    return calls::alltoallv(input, lists.sent.counts(), of_.output, lists.received.counts(),
                            ElementType(of_.received.type));
  }

 private:
  void take(const Blocks<Count, Displacement>& blocks, bool has_types, PairLists& lists) const {
    const auto size = static_cast<std::size_t>(of_.process_count);
    lists.take(std::span(blocks.counts, size), std::span(blocks.displacements, size));
    if (has_types && blocks.types != nullptr) lists.take_types({blocks.types, size});
    if (has_types && blocks.types == nullptr) lists.take_type(blocks.type);
  }

  Exchange<Count, Displacement> of_;
};

template <class Count, class Displacement>
Exchange<Count, Displacement> alltoallv(const void* input, const Count* sent,
                                        const Displacement* sent_at, MPI_Datatype sent_type,
                                        void* output, const Count* received,
                                        const Displacement* received_at, MPI_Datatype received_type,
                                        MPI_Comm communicator) {
  return {input,
          {sent, sent_at, sent_type, nullptr},
          output,
          {received, received_at, received_type, nullptr},
          communicator};
}

template <class Count, class Displacement>
Exchange<Count, Displacement> alltoallw(const void* input, const Count* sent,
                                        const Displacement* sent_at, const MPI_Datatype* sent_types,
                                        void* output, const Count* received,
                                        const Displacement* received_at,
                                        const MPI_Datatype* received_types, MPI_Comm communicator) {
  return {input,
          {sent, sent_at, MPI_DATATYPE_NULL, sent_types},
          output,
          {received, received_at, MPI_DATATYPE_NULL, received_types},
          communicator};
}

}  // namespace
}  // namespace hycoll::preload

#define HYCOLL_ALLTOALLV(count_type, displacement_type)                        \
  const void *input, const count_type *sent, const displacement_type *sent_at, \
      MPI_Datatype sent_type, void *output, const count_type *received,        \
      const displacement_type *received_at, MPI_Datatype received_type, MPI_Comm communicator
#define HYCOLL_ALLTOALLV_PASSED() \
  input, sent, sent_at, sent_type, output, received, received_at, received_type, communicator

#define HYCOLL_ALLTOALLW(count_type, displacement_type)                         \
  const void *input, const count_type *sent, const displacement_type *sent_at,  \
      const MPI_Datatype *sent_types, void *output, const count_type *received, \
      const displacement_type *received_at, const MPI_Datatype *received_types, \
      MPI_Comm communicator
#define HYCOLL_ALLTOALLW_PASSED() \
  input, sent, sent_at, sent_types, output, received, received_at, received_types, communicator

extern "C" {

HYCOLL_PRELOAD(Alltoallv, alltoallv, alltoallv, HYCOLL_ALLTOALLV, HYCOLL_ALLTOALLV_PASSED)
HYCOLL_PRELOAD(Alltoallw, alltoallw, alltoallw, HYCOLL_ALLTOALLW, HYCOLL_ALLTOALLW_PASSED)

}  // extern "C"
