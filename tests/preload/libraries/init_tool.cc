// A tool that wraps MPI_Init and nothing else.

#include <mpi.h>

namespace {
int init_calls = 0;
}  // namespace

extern "C" {

int init_tool_calls() { return init_calls; }

int MPI_Init(int* argc, char*** argv) {
  ++init_calls;
  return PMPI_Init(argc, argv);
}

}  // extern "C"
