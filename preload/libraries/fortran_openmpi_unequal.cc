// Open MPI's Fortran interfaces of collectives whose blocks differ, as those in fortran_openmpi.cc.
// Not MPI_Ialltoallw, which needs its lists of types, as C has them, until it has completed.

#include <mpi.h>

#include <type_traits>
#include <vector>

#include "preload/libraries/fortran_openmpi.h"

using hycoll::preload::fortran::buffer_of;
using hycoll::preload::fortran::put;

namespace {

static_assert(std::is_same_v<MPI_Fint, int>, "counts and displacements are passed on as they are");

/// One type for each process, as C has them.
std::vector<MPI_Datatype> types_of(const MPI_Fint* types, MPI_Comm communicator) {
  int is_intercommunicator = 0;
  int size = 0;
  PMPI_Comm_test_inter(communicator, &is_intercommunicator);
  if (is_intercommunicator != 0) {
    PMPI_Comm_remote_size(communicator, &size);
  } else {
    PMPI_Comm_size(communicator, &size);
  }
  std::vector<MPI_Datatype> of_c;
  for (int process = 0; process < size; ++process) of_c.push_back(PMPI_Type_f2c(types[process]));
  return of_c;
}

}  // namespace

extern "C" {

void ompi_allgatherv_f(char* input, MPI_Fint* count, MPI_Fint* input_type, char* output,
                       MPI_Fint* counts, MPI_Fint* places, MPI_Fint* type, MPI_Fint* communicator,
                       MPI_Fint* error) {
  put(error, MPI_Allgatherv(buffer_of(input), *count, PMPI_Type_f2c(*input_type), buffer_of(output),
                            counts, places, PMPI_Type_f2c(*type), PMPI_Comm_f2c(*communicator)));
}

void ompi_gatherv_f(char* input, MPI_Fint* count, MPI_Fint* input_type, char* output,
                    MPI_Fint* counts, MPI_Fint* places, MPI_Fint* type, MPI_Fint* root,
                    MPI_Fint* communicator, MPI_Fint* error) {
  put(error,
      MPI_Gatherv(buffer_of(input), *count, PMPI_Type_f2c(*input_type), buffer_of(output), counts,
                  places, PMPI_Type_f2c(*type), *root, PMPI_Comm_f2c(*communicator)));
}

void ompi_scatterv_f(char* input, MPI_Fint* counts, MPI_Fint* places, MPI_Fint* type, char* output,
                     MPI_Fint* count, MPI_Fint* output_type, MPI_Fint* root, MPI_Fint* communicator,
                     MPI_Fint* error) {
  put(error,
      MPI_Scatterv(buffer_of(input), counts, places, PMPI_Type_f2c(*type), buffer_of(output),
                   *count, PMPI_Type_f2c(*output_type), *root, PMPI_Comm_f2c(*communicator)));
}

void ompi_alltoallv_f(char* input, MPI_Fint* sent, MPI_Fint* sent_places, MPI_Fint* sent_type,
                      char* output, MPI_Fint* counts, MPI_Fint* places, MPI_Fint* type,
                      MPI_Fint* communicator, MPI_Fint* error) {
  put(error, MPI_Alltoallv(buffer_of(input), sent, sent_places, PMPI_Type_f2c(*sent_type),
                           buffer_of(output), counts, places, PMPI_Type_f2c(*type),
                           PMPI_Comm_f2c(*communicator)));
}

void ompi_iallgatherv_f(char* input, MPI_Fint* count, MPI_Fint* input_type, char* output,
                        MPI_Fint* counts, MPI_Fint* places, MPI_Fint* type, MPI_Fint* communicator,
                        MPI_Fint* request, MPI_Fint* error) {
  put(error, request, [&](MPI_Request* made) {
    return MPI_Iallgatherv(buffer_of(input), *count, PMPI_Type_f2c(*input_type), buffer_of(output),
                           counts, places, PMPI_Type_f2c(*type), PMPI_Comm_f2c(*communicator),
                           made);
  });
}

void ompi_igatherv_f(char* input, MPI_Fint* count, MPI_Fint* input_type, char* output,
                     MPI_Fint* counts, MPI_Fint* places, MPI_Fint* type, MPI_Fint* root,
                     MPI_Fint* communicator, MPI_Fint* request, MPI_Fint* error) {
  put(error, request, [&](MPI_Request* made) {
    return MPI_Igatherv(buffer_of(input), *count, PMPI_Type_f2c(*input_type), buffer_of(output),
                        counts, places, PMPI_Type_f2c(*type), *root, PMPI_Comm_f2c(*communicator),
                        made);
  });
}

void ompi_iscatterv_f(char* input, MPI_Fint* counts, MPI_Fint* places, MPI_Fint* type, char* output,
                      MPI_Fint* count, MPI_Fint* output_type, MPI_Fint* root,
                      MPI_Fint* communicator, MPI_Fint* request, MPI_Fint* error) {
  put(error, request, [&](MPI_Request* made) {
    return MPI_Iscatterv(buffer_of(input), counts, places, PMPI_Type_f2c(*type), buffer_of(output),
                         *count, PMPI_Type_f2c(*output_type), *root, PMPI_Comm_f2c(*communicator),
                         made);
  });
}

void ompi_ialltoallv_f(char* input, MPI_Fint* sent, MPI_Fint* sent_places, MPI_Fint* sent_type,
                       char* output, MPI_Fint* counts, MPI_Fint* places, MPI_Fint* type,
                       MPI_Fint* communicator, MPI_Fint* request, MPI_Fint* error) {
  put(error, request, [&](MPI_Request* made) {
    return MPI_Ialltoallv(buffer_of(input), sent, sent_places, PMPI_Type_f2c(*sent_type),
                          buffer_of(output), counts, places, PMPI_Type_f2c(*type),
                          PMPI_Comm_f2c(*communicator), made);
  });
}

void ompi_alltoallw_f(char* input, MPI_Fint* sent, MPI_Fint* sent_places, MPI_Fint* sent_types,
                      char* output, MPI_Fint* counts, MPI_Fint* places, MPI_Fint* types,
                      MPI_Fint* communicator, MPI_Fint* error) {
  const MPI_Comm of_c = PMPI_Comm_f2c(*communicator);
  // In place Fortran may pass anything for what is sent.
  const bool is_in_place = buffer_of(input) == MPI_IN_PLACE;
  const std::vector<MPI_Datatype> received = types_of(types, of_c);
  const std::vector<MPI_Datatype> sent_of_c = is_in_place ? received : types_of(sent_types, of_c);
  put(error, MPI_Alltoallw(buffer_of(input), sent, sent_places, sent_of_c.data(), buffer_of(output),
                           counts, places, received.data(), of_c));
}

HYCOLL_FORTRAN_NAMES(allgatherv, ALLGATHERV,
                     (char*, MPI_Fint*, MPI_Fint*, char*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                      MPI_Fint*, MPI_Fint*))
HYCOLL_FORTRAN_NAMES(gatherv, GATHERV,
                     (char*, MPI_Fint*, MPI_Fint*, char*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                      MPI_Fint*, MPI_Fint*, MPI_Fint*))
HYCOLL_FORTRAN_NAMES(scatterv, SCATTERV,
                     (char*, MPI_Fint*, MPI_Fint*, MPI_Fint*, char*, MPI_Fint*, MPI_Fint*,
                      MPI_Fint*, MPI_Fint*, MPI_Fint*))
HYCOLL_FORTRAN_NAMES(alltoallv, ALLTOALLV,
                     (char*, MPI_Fint*, MPI_Fint*, MPI_Fint*, char*, MPI_Fint*, MPI_Fint*,
                      MPI_Fint*, MPI_Fint*, MPI_Fint*))
HYCOLL_FORTRAN_NAMES(iallgatherv, IALLGATHERV,
                     (char*, MPI_Fint*, MPI_Fint*, char*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                      MPI_Fint*, MPI_Fint*, MPI_Fint*))
HYCOLL_FORTRAN_NAMES(igatherv, IGATHERV,
                     (char*, MPI_Fint*, MPI_Fint*, char*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                      MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*))
HYCOLL_FORTRAN_NAMES(iscatterv, ISCATTERV,
                     (char*, MPI_Fint*, MPI_Fint*, MPI_Fint*, char*, MPI_Fint*, MPI_Fint*,
                      MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*))
HYCOLL_FORTRAN_NAMES(ialltoallv, IALLTOALLV,
                     (char*, MPI_Fint*, MPI_Fint*, MPI_Fint*, char*, MPI_Fint*, MPI_Fint*,
                      MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*))
HYCOLL_FORTRAN_NAMES(alltoallw, ALLTOALLW,
                     (char*, MPI_Fint*, MPI_Fint*, MPI_Fint*, char*, MPI_Fint*, MPI_Fint*,
                      MPI_Fint*, MPI_Fint*, MPI_Fint*))

}  // extern "C"
