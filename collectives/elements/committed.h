#ifndef HYCOLL_COLLECTIVES_ELEMENTS_COMMITTED_H_
#define HYCOLL_COLLECTIVES_ELEMENTS_COMMITTED_H_

#include <mpi.h>

namespace hycoll {

/// Whether MPI can use the datatype in a communication: it has been committed, or is predefined.
/// Asks the MPI library about others than the last predefined one.
bool is_committed(MPI_Datatype type);

/// Gives up what is_committed() needs; before the end of MPI.
void forget_committed() noexcept;

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ELEMENTS_COMMITTED_H_
