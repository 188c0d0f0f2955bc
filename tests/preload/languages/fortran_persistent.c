// What Fortran's interface of Open MPI 4.1 lacks, for fortran_persistent.f90.

#include <mpi.h>

#include "tests/preload/support/persistent_names.h"

MPI_Fint set_up_sum(const int* input, int* output, int count) {
  MPI_Request request = MPI_REQUEST_NULL;
  PERSISTENT(Allreduce)
  (input, output, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  return MPI_Request_c2f(request);
}
