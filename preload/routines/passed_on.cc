// What hycoll does not serve: it goes to the MPI library, and into the report.

#include <mpi.h>

#include <string_view>

#include "preload/routines/serve.h"

namespace hycoll::preload {
namespace {

constexpr std::string_view kNotYet = "hycoll does not serve this collective yet";

template <class Library>
int pass(Routine routine, std::string_view reason, MPI_Count count, MPI_Datatype type,
         const Library& library) {
  return pass_on({.routine = routine, .element_count = count, .type = type}, reason, library);
}

}  // namespace
}  // namespace hycoll::preload

namespace preload = hycoll::preload;
using preload::Routine;

extern "C" {

int MPI_Igatherv(const void* input, int send_count, MPI_Datatype send_type, void* output,
                 const int* counts, const int* offsets, MPI_Datatype type, int root,
                 MPI_Comm communicator, MPI_Request* request) {
  return preload::pass(Routine::igatherv, preload::kNotYet, send_count, send_type, [&] {
    return PMPI_Igatherv(input, send_count, send_type, output, counts, offsets, type, root,
                         communicator, request);
  });
}

int MPI_Iscatterv(const void* input, const int* send_counts, const int* send_offsets,
                  MPI_Datatype send_type, void* output, int count, MPI_Datatype type, int root,
                  MPI_Comm communicator, MPI_Request* request) {
  return preload::pass(Routine::iscatterv, preload::kNotYet, count, type, [&] {
    return PMPI_Iscatterv(input, send_counts, send_offsets, send_type, output, count, type, root,
                          communicator, request);
  });
}

}  // extern "C"
