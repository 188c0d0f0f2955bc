// The program's broadcasts.

#include <mpi.h>

#include <cstddef>

#include "collectives/api/hycoll.h"
#include "preload/routines/forms.h"
#include "preload/routines/serve.h"

namespace hycoll::preload {
namespace {

template <class Count>
struct Broadcast {
  void* buffer;
  Count count;
  MPI_Datatype type;
  int root;
  MPI_Comm communicator;

  Candidate candidate(Routine routine) const {
    // Of an intercommunicator's, MPI does not look at what processes pass that do not take part.
    const bool takes_part = root != MPI_PROC_NULL || rank_in(communicator) >= 0;
    return {.routine = routine,
            .communicator = communicator,
            .element_count = takes_part ? count : 0,
            .type = takes_part ? type : MPI_BYTE,
            .root = root,
            .mistake = takes_part ? mistake_in_output({buffer, count, type}) : Mistake::none};
  }

  struct Translation : Untouched {
    explicit Translation(const Broadcast& passed) : of(passed) {}
    Call call(CallLists& /*lists*/) const {
      return calls::broadcast(of.buffer, static_cast<std::size_t>(of.count), ElementType(of.type),
                              of.root);
    }
    Broadcast of;
  };
  using BlockingTranslation = Translation;
};

template <class Count>
Broadcast<Count> broadcast(void* buffer, Count count, MPI_Datatype type, int root,
                           MPI_Comm communicator) {
  return {buffer, count, type, root, communicator};
}

}  // namespace
}  // namespace hycoll::preload

#define HYCOLL_BROADCAST(count_type, displacement_type) \
  void *buffer, count_type count, MPI_Datatype type, int root, MPI_Comm communicator
#define HYCOLL_BROADCAST_PASSED() buffer, count, type, root, communicator

extern "C" {

HYCOLL_PRELOAD(Bcast, bcast, broadcast, HYCOLL_BROADCAST, HYCOLL_BROADCAST_PASSED)

}  // extern "C"
