#ifndef HYCOLL_PRELOAD_LIBRARIES_FORTRAN_OPENMPI_H_
#define HYCOLL_PRELOAD_LIBRARIES_FORTRAN_OPENMPI_H_

// What the functions share that take the place of Open MPI's Fortran interfaces.

#include <mpi.h>

// Where Fortran's MPI_IN_PLACE and MPI_BOTTOM lie: common blocks that Open MPI shares with Fortran,
// under those of these names that its Fortran compiler gives them.
#define HYCOLL_FORTRAN_PLACE(lower, upper)                                 \
  extern "C" int upper __attribute__((weak)), lower __attribute__((weak)), \
      lower##_ __attribute__((weak)), lower##__ __attribute__((weak));
HYCOLL_FORTRAN_PLACE(mpi_fortran_in_place, MPI_FORTRAN_IN_PLACE)
HYCOLL_FORTRAN_PLACE(mpi_fortran_bottom, MPI_FORTRAN_BOTTOM)

namespace hycoll::preload::fortran {

inline void* buffer_of(void* given) {
  if (given == nullptr) return given;  // as the addresses are that are not there
  if (given == &mpi_fortran_in_place_ || given == &mpi_fortran_in_place ||
      given == &mpi_fortran_in_place__ || given == &MPI_FORTRAN_IN_PLACE) {
    return MPI_IN_PLACE;
  }
  const bool is_bottom = given == &mpi_fortran_bottom_ || given == &mpi_fortran_bottom ||
                         given == &mpi_fortran_bottom__ || given == &MPI_FORTRAN_BOTTOM;
  return is_bottom ? MPI_BOTTOM : given;
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
