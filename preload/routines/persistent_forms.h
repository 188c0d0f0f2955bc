#ifndef HYCOLL_PRELOAD_ROUTINES_PERSISTENT_FORMS_H_
#define HYCOLL_PRELOAD_ROUTINES_PERSISTENT_FORMS_H_

// The names of persistent collectives: MPI's from MPI 4 on, and Open MPI's own before.

#include <mpi.h>
#if MPI_VERSION < 4 && defined(OPEN_MPI)
#include <mpi-ext.h>
#endif

/// Defines one function for each form that the MPI library has, by define(prefix, suffix, type of
/// counts, type of displacements).
#if MPI_VERSION >= 4
#define HYCOLL_PRELOAD_PERSISTENT_PREFIX MPI
#define HYCOLL_PRELOAD_PERSISTENT_FORMS(define) \
  define(MPI, , int, int) define(MPI, _c, MPI_Count, MPI_Aint)
#elif defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
#define HYCOLL_PRELOAD_PERSISTENT_PREFIX MPIX
#define HYCOLL_PRELOAD_PERSISTENT_FORMS(define) define(MPIX, , int, int)
#else
#define HYCOLL_PRELOAD_PERSISTENT_FORMS(define)
#endif

#endif  // HYCOLL_PRELOAD_ROUTINES_PERSISTENT_FORMS_H_
