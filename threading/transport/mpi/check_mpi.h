#ifndef HYCOLL_THREADING_TRANSPORT_MPI_CHECK_MPI_H_
#define HYCOLL_THREADING_TRANSPORT_MPI_CHECK_MPI_H_

namespace hycoll {

/// Throws Error (environment), with the text of MPI's error and what hycoll was doing, unless
/// `code` is MPI_SUCCESS; for a message that does not fit, Error (mismatch).
void check_mpi(int code, const char* what);

}  // namespace hycoll

#endif  // HYCOLL_THREADING_TRANSPORT_MPI_CHECK_MPI_H_
