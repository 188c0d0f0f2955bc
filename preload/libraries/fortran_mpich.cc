// Where MPICH's module mpi_f08 calls PMPI itself, so that nobody below it sees a collective: what
// has no buffers. (mpif.h, the module mpi and everything else of mpi_f08 call the functions of C.)

#include <mpi.h>

extern "C" {

void mpi_barrier_f08_(const MPI_Fint* communicator, MPI_Fint* error) {
  const int code = MPI_Barrier(PMPI_Comm_f2c(*communicator));
  if (error != nullptr) *error = code;
}

void mpi_ibarrier_f08_(const MPI_Fint* communicator, MPI_Fint* request, MPI_Fint* error) {
  MPI_Request made = MPI_REQUEST_NULL;
  const int code = MPI_Ibarrier(PMPI_Comm_f2c(*communicator), &made);
  if (code == MPI_SUCCESS) *request = PMPI_Request_c2f(made);
  if (error != nullptr) *error = code;
}

#if MPI_VERSION >= 4
void mpi_barrier_init_f08_(const MPI_Fint* communicator, const MPI_Fint* info, MPI_Fint* request,
                           MPI_Fint* error) {
  MPI_Request made = MPI_REQUEST_NULL;
  const int code = MPI_Barrier_init(PMPI_Comm_f2c(*communicator), PMPI_Info_f2c(*info), &made);
  if (code == MPI_SUCCESS) *request = PMPI_Request_c2f(made);
  if (error != nullptr) *error = code;
}
#endif

}  // extern "C"
