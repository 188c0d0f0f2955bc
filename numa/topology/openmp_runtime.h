#ifndef HYCOLL_NUMA_TOPOLOGY_OPENMP_RUNTIME_H_
#define HYCOLL_NUMA_TOPOLOGY_OPENMP_RUNTIME_H_

#include "numa/topology/affinity_mask.h"

namespace hycoll {

/// The processing units of all places to which this process's OpenMP runtime binds its threads; the
/// empty mask if the runtime does not bind (OMP_PROC_BIND and OMP_PLACES unset) or if the program
/// has none.
///
/// A runtime that binds pins the initial thread when the program starts and creates the others at
/// the first parallel region. Until then the masks of the process's threads tell of one place only,
/// though the launcher gave it many; the runtime read the launcher's mask before it pinned, and
/// still knows.
///
/// Uses the standard's omp_get_place_proc_ids if the program has it, so that this folder depends on
/// no OpenMP runtime. Safe to call concurrently.
AffinityMask openmp_places();

/// Whether the calling thread is in a parallel region, and the runtime binds its threads. Those
/// that the program makes itself inherit a binding, perhaps, but nobody has chosen it for them.
bool openmp_binds_this_thread();

/// How many threads there are in the parallel region that the calling thread is in, those of the
/// regions around it counted in: each of theirs may have opened one like it. 0: it is in none.
int openmp_region_threads();

}  // namespace hycoll

#endif  // HYCOLL_NUMA_TOPOLOGY_OPENMP_RUNTIME_H_
