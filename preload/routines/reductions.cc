// The reductions of the program, and its barrier.

#include <mpi.h>

#include <cstddef>
#include <span>

#include "collectives/api/hycoll.h"
#include "preload/routines/elements.h"
#include "preload/routines/forms.h"
#include "preload/routines/serve.h"

namespace hycoll::preload {
namespace {

/// A reduction whose result all processes get, of blocks of equal lengths if it has blocks.
/// hycoll serves those of predefined operators, and so of predefined types only: there is nothing
/// to keep.
template <Collective collective, class Count>
struct Reduction {
  Elements<Count> elements;
  MPI_Comm communicator;

  Candidate candidate(Routine routine) const { return elements.candidate(routine, communicator); }

  struct Translation : Untouched {
    explicit Translation(const Reduction& of) : elements(of.elements) {}
    Call call(CallLists& /*lists*/) const {
      if constexpr (collective == Collective::allreduce) return elements.allreduce();
      if constexpr (collective == Collective::scan) return elements.scan();
      if constexpr (collective == Collective::exscan) return elements.exscan();
      if constexpr (collective == Collective::reduce_scatter)
        return elements.reduce_scatter_block();
    }
    Elements<Count> elements;
  };
  using BlockingTranslation = Translation;
};

template <Collective collective, class Count>
Reduction<collective, Count> reduction(const void* input, void* output, Count count,
                                       MPI_Datatype type, MPI_Op op, MPI_Comm communicator) {
  return {{input, output, count, type, op}, communicator};
}

/// One whose result the root gets.
template <class Count>
struct Reduce {
  Elements<Count> elements;
  int root;
  MPI_Comm communicator;

  Candidate candidate(Routine routine) const {
    return elements.candidate(routine, root, communicator);
  }

  struct Translation : Untouched {
    explicit Translation(const Reduce& passed) : of(passed) {}
    Call call(CallLists& /*lists*/) const { return of.elements.reduce(of.root); }
    Reduce of;
  };
  using BlockingTranslation = Translation;
};

template <class Count>
Reduce<Count> reduce(const void* input, void* output, Count count, MPI_Datatype type, MPI_Op op,
                     int root, MPI_Comm communicator) {
  return {{input, output, count, type, op}, root, communicator};
}

/// One whose blocks have different lengths.
template <class Count>
struct ReduceScatter {
  Elements<MPI_Count> elements;  ///< Of all blocks.
  std::span<const Count> counts;
  MPI_Comm communicator;

  Candidate candidate(Routine routine) const {
    Candidate candidate = elements.candidate(routine, communicator);
    const int rank = rank_in(communicator);
    // This process's own block may have no elements.
    if (candidate.mistake == Mistake::no_buffer && elements.input != nullptr && rank >= 0 &&
        counts[static_cast<std::size_t>(rank)] == 0) {
      candidate.mistake = Mistake::none;
    }
    return candidate;
  }

  struct Translation : Untouched {
    explicit Translation(const ReduceScatter& passed) : of(passed) {}
    Call call(CallLists& lists) const {
      lists.counts.assign(of.counts.begin(), of.counts.end());
      return of.elements.reduce_scatter(lists.counts);
    }
    ReduceScatter of;
  };
  using BlockingTranslation = Translation;
};

template <class Count>
ReduceScatter<Count> reduce_scatter(const void* input, void* output, const Count* counts,
                                    MPI_Datatype type, MPI_Op op, MPI_Comm communicator) {
  // hycoll does not look at a call without counts: the MPI library says what is wrong with it.
  if (counts == nullptr) communicator = MPI_COMM_NULL;
  const auto size = static_cast<std::size_t>(process_count_of(communicator));
  const std::span<const Count> blocks(counts, size);
  return {{input, output, sum_of(blocks), type, op}, blocks, communicator};
}

struct Barrier {
  MPI_Comm communicator;

  Candidate candidate(Routine routine) const {
    return {.routine = routine, .communicator = communicator};
  }

  struct Translation : Untouched {
    explicit Translation(const Barrier& /*of*/) {}
    static Call call(CallLists& /*lists*/) { return calls::barrier(); }
  };
  using BlockingTranslation = Translation;
};

Barrier barrier(MPI_Comm communicator) { return {communicator}; }

}  // namespace
}  // namespace hycoll::preload

#define HYCOLL_ELEMENTS(count_type, displacement_type)                             \
  const void *input, void *output, count_type count, MPI_Datatype type, MPI_Op op, \
      MPI_Comm communicator
#define HYCOLL_ELEMENTS_PASSED() input, output, count, type, op, communicator

#define HYCOLL_ELEMENTS_AND_ROOT(count_type, displacement_type)                              \
  const void *input, void *output, count_type count, MPI_Datatype type, MPI_Op op, int root, \
      MPI_Comm communicator
#define HYCOLL_ELEMENTS_AND_ROOT_PASSED() input, output, count, type, op, root, communicator

#define HYCOLL_BLOCKS(count_type, displacement_type)                                       \
  const void *input, void *output, const count_type *counts, MPI_Datatype type, MPI_Op op, \
      MPI_Comm communicator
#define HYCOLL_BLOCKS_PASSED() input, output, counts, type, op, communicator

#define HYCOLL_COMMUNICATOR(count_type, displacement_type) MPI_Comm communicator
#define HYCOLL_COMMUNICATOR_PASSED() communicator

extern "C" {

HYCOLL_PRELOAD(Allreduce, allreduce, reduction<hycoll::Collective::allreduce>, HYCOLL_ELEMENTS,
               HYCOLL_ELEMENTS_PASSED)
HYCOLL_PRELOAD(Scan, scan, reduction<hycoll::Collective::scan>, HYCOLL_ELEMENTS,
               HYCOLL_ELEMENTS_PASSED)
HYCOLL_PRELOAD(Exscan, exscan, reduction<hycoll::Collective::exscan>, HYCOLL_ELEMENTS,
               HYCOLL_ELEMENTS_PASSED)
HYCOLL_PRELOAD(Reduce_scatter_block, reduce_scatter_block,
               reduction<hycoll::Collective::reduce_scatter>, HYCOLL_ELEMENTS,
               HYCOLL_ELEMENTS_PASSED)
HYCOLL_PRELOAD(Reduce, reduce, reduce, HYCOLL_ELEMENTS_AND_ROOT, HYCOLL_ELEMENTS_AND_ROOT_PASSED)
HYCOLL_PRELOAD(Reduce_scatter, reduce_scatter, reduce_scatter, HYCOLL_BLOCKS, HYCOLL_BLOCKS_PASSED)
HYCOLL_PRELOAD_WITHOUT_COUNTS(Barrier, barrier, barrier, HYCOLL_COMMUNICATOR,
                              HYCOLL_COMMUNICATOR_PASSED)

}  // extern "C"
