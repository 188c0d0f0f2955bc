// Open MPI's Fortran interfaces call PMPI themselves, so that nobody below them sees a call. mpif.h
// and the module mpi call mpi_allreduce_ and the like, mpi_f08 calls ompi_allreduce_f: both are
// taken here. (MPICH's call the functions of C.)

#include "preload/libraries/fortran_openmpi.h"

#include <mpi.h>

using hycoll::preload::fortran::buffer_of;
using hycoll::preload::fortran::put;

namespace {

/// The arguments that the reductions share, as C has them.
struct Reduction {
  void* input;
  void* output;
  MPI_Datatype type;
  MPI_Op op;
  MPI_Comm communicator;

  Reduction(void* from, void* to, const MPI_Fint* f_type, const MPI_Fint* f_op,
            const MPI_Fint* f_communicator)
      : input(buffer_of(from)),
        output(buffer_of(to)),
        type(PMPI_Type_f2c(*f_type)),
        op(PMPI_Op_f2c(*f_op)),
        communicator(PMPI_Comm_f2c(*f_communicator)) {}
};

}  // namespace

extern "C" {

void ompi_allreduce_f(char* input, char* output, MPI_Fint* count, MPI_Fint* type, MPI_Fint* op,
                      MPI_Fint* communicator, MPI_Fint* error) {
  const Reduction r(input, output, type, op, communicator);
  put(error, MPI_Allreduce(r.input, r.output, *count, r.type, r.op, r.communicator));
}

void ompi_reduce_f(char* input, char* output, MPI_Fint* count, MPI_Fint* type, MPI_Fint* op,
                   MPI_Fint* root, MPI_Fint* communicator, MPI_Fint* error) {
  const Reduction r(input, output, type, op, communicator);
  put(error, MPI_Reduce(r.input, r.output, *count, r.type, r.op, *root, r.communicator));
}

void ompi_scan_f(char* input, char* output, MPI_Fint* count, MPI_Fint* type, MPI_Fint* op,
                 MPI_Fint* communicator, MPI_Fint* error) {
  const Reduction r(input, output, type, op, communicator);
  put(error, MPI_Scan(r.input, r.output, *count, r.type, r.op, r.communicator));
}

void ompi_exscan_f(char* input, char* output, MPI_Fint* count, MPI_Fint* type, MPI_Fint* op,
                   MPI_Fint* communicator, MPI_Fint* error) {
  const Reduction r(input, output, type, op, communicator);
  put(error, MPI_Exscan(r.input, r.output, *count, r.type, r.op, r.communicator));
}

void ompi_reduce_scatter_block_f(char* input, char* output, MPI_Fint* count, MPI_Fint* type,
                                 MPI_Fint* op, MPI_Fint* communicator, MPI_Fint* error) {
  const Reduction r(input, output, type, op, communicator);
  put(error, MPI_Reduce_scatter_block(r.input, r.output, *count, r.type, r.op, r.communicator));
}

void ompi_reduce_scatter_f(char* input, char* output, MPI_Fint* counts, MPI_Fint* type,
                           MPI_Fint* op, MPI_Fint* communicator, MPI_Fint* error) {
  static_assert(sizeof(MPI_Fint) == sizeof(int), "Fortran's counts are taken as C's");
  const Reduction r(input, output, type, op, communicator);
  put(error, MPI_Reduce_scatter(r.input, r.output, counts, r.type, r.op, r.communicator));
}

void ompi_allgather_f(char* input, MPI_Fint* input_count, MPI_Fint* input_type, char* output,
                      MPI_Fint* count, MPI_Fint* type, MPI_Fint* communicator, MPI_Fint* error) {
  put(error,
      MPI_Allgather(buffer_of(input), *input_count, PMPI_Type_f2c(*input_type), buffer_of(output),
                    *count, PMPI_Type_f2c(*type), PMPI_Comm_f2c(*communicator)));
}

void ompi_iallgather_f(char* input, MPI_Fint* input_count, MPI_Fint* input_type, char* output,
                       MPI_Fint* count, MPI_Fint* type, MPI_Fint* communicator, MPI_Fint* request,
                       MPI_Fint* error) {
  put(error, request, [&](MPI_Request* made) {
    return MPI_Iallgather(buffer_of(input), *input_count, PMPI_Type_f2c(*input_type),
                          buffer_of(output), *count, PMPI_Type_f2c(*type),
                          PMPI_Comm_f2c(*communicator), made);
  });
}

void ompi_gather_f(char* input, MPI_Fint* input_count, MPI_Fint* input_type, char* output,
                   MPI_Fint* count, MPI_Fint* type, MPI_Fint* root, MPI_Fint* communicator,
                   MPI_Fint* error) {
  put(error,
      MPI_Gather(buffer_of(input), *input_count, PMPI_Type_f2c(*input_type), buffer_of(output),
                 *count, PMPI_Type_f2c(*type), *root, PMPI_Comm_f2c(*communicator)));
}

void ompi_igather_f(char* input, MPI_Fint* input_count, MPI_Fint* input_type, char* output,
                    MPI_Fint* count, MPI_Fint* type, MPI_Fint* root, MPI_Fint* communicator,
                    MPI_Fint* request, MPI_Fint* error) {
  put(error, request, [&](MPI_Request* made) {
    return MPI_Igather(buffer_of(input), *input_count, PMPI_Type_f2c(*input_type),
                       buffer_of(output), *count, PMPI_Type_f2c(*type), *root,
                       PMPI_Comm_f2c(*communicator), made);
  });
}

void ompi_scatter_f(char* input, MPI_Fint* input_count, MPI_Fint* input_type, char* output,
                    MPI_Fint* count, MPI_Fint* type, MPI_Fint* root, MPI_Fint* communicator,
                    MPI_Fint* error) {
  put(error,
      MPI_Scatter(buffer_of(input), *input_count, PMPI_Type_f2c(*input_type), buffer_of(output),
                  *count, PMPI_Type_f2c(*type), *root, PMPI_Comm_f2c(*communicator)));
}

void ompi_iscatter_f(char* input, MPI_Fint* input_count, MPI_Fint* input_type, char* output,
                     MPI_Fint* count, MPI_Fint* type, MPI_Fint* root, MPI_Fint* communicator,
                     MPI_Fint* request, MPI_Fint* error) {
  put(error, request, [&](MPI_Request* made) {
    return MPI_Iscatter(buffer_of(input), *input_count, PMPI_Type_f2c(*input_type),
                        buffer_of(output), *count, PMPI_Type_f2c(*type), *root,
                        PMPI_Comm_f2c(*communicator), made);
  });
}

void ompi_alltoall_f(char* input, MPI_Fint* input_count, MPI_Fint* input_type, char* output,
                     MPI_Fint* count, MPI_Fint* type, MPI_Fint* communicator, MPI_Fint* error) {
  put(error,
      MPI_Alltoall(buffer_of(input), *input_count, PMPI_Type_f2c(*input_type), buffer_of(output),
                   *count, PMPI_Type_f2c(*type), PMPI_Comm_f2c(*communicator)));
}

void ompi_ialltoall_f(char* input, MPI_Fint* input_count, MPI_Fint* input_type, char* output,
                      MPI_Fint* count, MPI_Fint* type, MPI_Fint* communicator, MPI_Fint* request,
                      MPI_Fint* error) {
  put(error, request, [&](MPI_Request* made) {
    return MPI_Ialltoall(buffer_of(input), *input_count, PMPI_Type_f2c(*input_type),
                         buffer_of(output), *count, PMPI_Type_f2c(*type),
                         PMPI_Comm_f2c(*communicator), made);
  });
}

void ompi_barrier_f(MPI_Fint* communicator, MPI_Fint* error) {
  put(error, MPI_Barrier(PMPI_Comm_f2c(*communicator)));
}

void ompi_iallreduce_f(char* input, char* output, MPI_Fint* count, MPI_Fint* type, MPI_Fint* op,
                       MPI_Fint* communicator, MPI_Fint* request, MPI_Fint* error) {
  const Reduction r(input, output, type, op, communicator);
  put(error, request, [&](MPI_Request* made) {
    return MPI_Iallreduce(r.input, r.output, *count, r.type, r.op, r.communicator, made);
  });
}

void ompi_ireduce_f(char* input, char* output, MPI_Fint* count, MPI_Fint* type, MPI_Fint* op,
                    MPI_Fint* root, MPI_Fint* communicator, MPI_Fint* request, MPI_Fint* error) {
  const Reduction r(input, output, type, op, communicator);
  put(error, request, [&](MPI_Request* made) {
    return MPI_Ireduce(r.input, r.output, *count, r.type, r.op, *root, r.communicator, made);
  });
}

void ompi_iscan_f(char* input, char* output, MPI_Fint* count, MPI_Fint* type, MPI_Fint* op,
                  MPI_Fint* communicator, MPI_Fint* request, MPI_Fint* error) {
  const Reduction r(input, output, type, op, communicator);
  put(error, request, [&](MPI_Request* made) {
    return MPI_Iscan(r.input, r.output, *count, r.type, r.op, r.communicator, made);
  });
}

void ompi_iexscan_f(char* input, char* output, MPI_Fint* count, MPI_Fint* type, MPI_Fint* op,
                    MPI_Fint* communicator, MPI_Fint* request, MPI_Fint* error) {
  const Reduction r(input, output, type, op, communicator);
  put(error, request, [&](MPI_Request* made) {
    return MPI_Iexscan(r.input, r.output, *count, r.type, r.op, r.communicator, made);
  });
}

void ompi_ireduce_scatter_block_f(char* input, char* output, MPI_Fint* count, MPI_Fint* type,
                                  MPI_Fint* op, MPI_Fint* communicator, MPI_Fint* request,
                                  MPI_Fint* error) {
  const Reduction r(input, output, type, op, communicator);
  put(error, request, [&](MPI_Request* made) {
    return MPI_Ireduce_scatter_block(r.input, r.output, *count, r.type, r.op, r.communicator, made);
  });
}

void ompi_ireduce_scatter_f(char* input, char* output, MPI_Fint* counts, MPI_Fint* type,
                            MPI_Fint* op, MPI_Fint* communicator, MPI_Fint* request,
                            MPI_Fint* error) {
  const Reduction r(input, output, type, op, communicator);
  put(error, request, [&](MPI_Request* made) {
    return MPI_Ireduce_scatter(r.input, r.output, counts, r.type, r.op, r.communicator, made);
  });
}

void ompi_ibarrier_f(MPI_Fint* communicator, MPI_Fint* request, MPI_Fint* error) {
  put(error, request,
      [&](MPI_Request* made) { return MPI_Ibarrier(PMPI_Comm_f2c(*communicator), made); });
}

void ompi_bcast_f(char* buffer, MPI_Fint* count, MPI_Fint* type, MPI_Fint* root,
                  MPI_Fint* communicator, MPI_Fint* error) {
  put(error, MPI_Bcast(buffer_of(buffer), *count, PMPI_Type_f2c(*type), *root,
                       PMPI_Comm_f2c(*communicator)));
}

void ompi_ibcast_f(char* buffer, MPI_Fint* count, MPI_Fint* type, MPI_Fint* root,
                   MPI_Fint* communicator, MPI_Fint* request, MPI_Fint* error) {
  put(error, request, [&](MPI_Request* made) {
    return MPI_Ibcast(buffer_of(buffer), *count, PMPI_Type_f2c(*type), *root,
                      PMPI_Comm_f2c(*communicator), made);
  });
}

HYCOLL_FORTRAN_NAMES(allreduce, ALLREDUCE,
                     (char*, char*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*))
HYCOLL_FORTRAN_NAMES(reduce, REDUCE,
                     (char*, char*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                      MPI_Fint*))
HYCOLL_FORTRAN_NAMES(scan, SCAN,
                     (char*, char*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*))
HYCOLL_FORTRAN_NAMES(exscan, EXSCAN,
                     (char*, char*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*))
HYCOLL_FORTRAN_NAMES(reduce_scatter_block, REDUCE_SCATTER_BLOCK,
                     (char*, char*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*))
HYCOLL_FORTRAN_NAMES(reduce_scatter, REDUCE_SCATTER,
                     (char*, char*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*))
HYCOLL_FORTRAN_NAMES(allgather, ALLGATHER,
                     (char*, MPI_Fint*, MPI_Fint*, char*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                      MPI_Fint*))
HYCOLL_FORTRAN_NAMES(iallgather, IALLGATHER,
                     (char*, MPI_Fint*, MPI_Fint*, char*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                      MPI_Fint*, MPI_Fint*))
HYCOLL_FORTRAN_NAMES(gather, GATHER,
                     (char*, MPI_Fint*, MPI_Fint*, char*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                      MPI_Fint*, MPI_Fint*))
HYCOLL_FORTRAN_NAMES(igather, IGATHER,
                     (char*, MPI_Fint*, MPI_Fint*, char*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                      MPI_Fint*, MPI_Fint*, MPI_Fint*))
HYCOLL_FORTRAN_NAMES(scatter, SCATTER,
                     (char*, MPI_Fint*, MPI_Fint*, char*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                      MPI_Fint*, MPI_Fint*))
HYCOLL_FORTRAN_NAMES(iscatter, ISCATTER,
                     (char*, MPI_Fint*, MPI_Fint*, char*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                      MPI_Fint*, MPI_Fint*, MPI_Fint*))
HYCOLL_FORTRAN_NAMES(alltoall, ALLTOALL,
                     (char*, MPI_Fint*, MPI_Fint*, char*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                      MPI_Fint*))
HYCOLL_FORTRAN_NAMES(ialltoall, IALLTOALL,
                     (char*, MPI_Fint*, MPI_Fint*, char*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                      MPI_Fint*, MPI_Fint*))
HYCOLL_FORTRAN_NAMES(barrier, BARRIER, (MPI_Fint*, MPI_Fint*))
HYCOLL_FORTRAN_NAMES(iallreduce, IALLREDUCE,
                     (char*, char*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                      MPI_Fint*))
HYCOLL_FORTRAN_NAMES(iscan, ISCAN,
                     (char*, char*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                      MPI_Fint*))
HYCOLL_FORTRAN_NAMES(iexscan, IEXSCAN,
                     (char*, char*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                      MPI_Fint*))
HYCOLL_FORTRAN_NAMES(ireduce_scatter_block, IREDUCE_SCATTER_BLOCK,
                     (char*, char*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                      MPI_Fint*))
HYCOLL_FORTRAN_NAMES(ireduce_scatter, IREDUCE_SCATTER,
                     (char*, char*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                      MPI_Fint*))
HYCOLL_FORTRAN_NAMES(ireduce, IREDUCE,
                     (char*, char*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                      MPI_Fint*, MPI_Fint*))
HYCOLL_FORTRAN_NAMES(ibarrier, IBARRIER, (MPI_Fint*, MPI_Fint*, MPI_Fint*))
HYCOLL_FORTRAN_NAMES(bcast, BCAST, (char*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*))
HYCOLL_FORTRAN_NAMES(ibcast, IBCAST,
                     (char*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*))

}  // extern "C"
