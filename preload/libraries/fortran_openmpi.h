#ifndef HYCOLL_PRELOAD_LIBRARIES_FORTRAN_OPENMPI_H_
#define HYCOLL_PRELOAD_LIBRARIES_FORTRAN_OPENMPI_H_

// What the functions share that take the place of Open MPI's Fortran interfaces.

#include <mpi.h>

// Where Fortran's MPI_IN_PLACE and MPI_BOTTOM lie: common blocks that Open MPI shares with Fortran.
extern "C" int mpi_fortran_in_place_;
extern "C" int mpi_fortran_bottom_;

namespace hycoll::preload::fortran {

inline void* buffer_of(void* given) {
  if (given == &mpi_fortran_in_place_) return MPI_IN_PLACE;
  return given == &mpi_fortran_bottom_ ? MPI_BOTTOM : given;
}

/// mpi_f08 may leave the error out.
inline void put(MPI_Fint* error, int code) {
  if (error != nullptr) *error = code;
}

/// The same of a call that makes a request, `start(request)`.
template <class Start>
void put(MPI_Fint* error, MPI_Fint* request, const Start& start) {
  MPI_Request made = MPI_REQUEST_NULL;
  const int code = start(&made);
  if (code == MPI_SUCCESS) *request = PMPI_Request_c2f(made);
  put(error, code);
}

}  // namespace hycoll::preload::fortran

/// All names that Fortran compilers give a function, for one that is called ompi_NAME_f.
#define HYCOLL_FORTRAN_NAMES(lower, upper, arguments)                         \
  void mpi_##lower##_ arguments __attribute__((alias("ompi_" #lower "_f")));  \
  void mpi_##lower##__ arguments __attribute__((alias("ompi_" #lower "_f"))); \
  void mpi_##lower arguments __attribute__((alias("ompi_" #lower "_f")));     \
  void MPI_##upper arguments __attribute__((alias("ompi_" #lower "_f")));

#endif  // HYCOLL_PRELOAD_LIBRARIES_FORTRAN_OPENMPI_H_
