// What the tests in Fortran need of C.
#include <mpi.h>

#include "../c_interface/checks.h"

void through_types(const MPI_Datatype types[], int count, MPI_Fint made[]) {
  for (int i = 0; i < count; ++i) made[i] = MPI_Type_c2f(types[i]);
}

void check_in_fortran(int holds, const char* what) {
  check_that(holds != 0, "Fortran", 0, "%s", what);
}
