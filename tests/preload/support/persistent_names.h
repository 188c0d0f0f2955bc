#ifndef HYCOLL_TESTS_PRELOAD_SUPPORT_PERSISTENT_NAMES_H_
#define HYCOLL_TESTS_PRELOAD_SUPPORT_PERSISTENT_NAMES_H_

// The names of persistent collectives, for C and C++: MPI's from MPI 4 on, and in Open MPI 5; Open
// MPI's own before.

#include <mpi.h>

#if MPI_VERSION >= 4 || OMPI_MAJOR_VERSION >= 5
#define PERSISTENT(name) MPI_##name##_init
#define PERSISTENT_BY_PMPI(name) PMPI_##name##_init
#else
#include <mpi-ext.h>
#define PERSISTENT(name) MPIX_##name##_init
#define PERSISTENT_BY_PMPI(name) PMPIX_##name##_init
#endif

#endif  // HYCOLL_TESTS_PRELOAD_SUPPORT_PERSISTENT_NAMES_H_
