#include "collectives/elements/committed.h"

#include <atomic>
#include <mutex>

#include "threading/transport/mpi/mpi_types.h"

namespace hycoll {
namespace {

/// hycoll's communicator of this process alone, on which the MPI library returns errors.
std::mutex own_mutex;
MPI_Comm own_communicator = MPI_COMM_NULL;  // guarded by own_mutex; null until it is needed

}  // namespace

bool is_committed(MPI_Datatype type) {
  // The last predefined one: of these, handles always mean the same.
  static std::atomic<MPI_Datatype> last_predefined{MPI_DATATYPE_NULL};
  if (type == last_predefined.load(std::memory_order_relaxed)) return true;
  if (find_predefined(type)) {
    last_predefined.store(type, std::memory_order_relaxed);
    return true;
  }
  const std::lock_guard lock(own_mutex);
  if (own_communicator == MPI_COMM_NULL) {
    // Unlike a duplicate it gets no attributes of the program's.
    if (MPI_Comm_split(MPI_COMM_SELF, 0, 0, &own_communicator) != MPI_SUCCESS) return true;
    MPI_Comm_set_errhandler(own_communicator, MPI_ERRORS_RETURN);
  }
  // Moves nothing: the only process has it already.
  char nothing = 0;
  return MPI_Bcast(&nothing, 1, type, 0, own_communicator) == MPI_SUCCESS;
}

void forget_committed() noexcept {
  const std::lock_guard lock(own_mutex);
  if (own_communicator != MPI_COMM_NULL) MPI_Comm_free(&own_communicator);
}

}  // namespace hycoll
