#ifndef HYCOLL_NUMA_TOPOLOGY_OPENMP_PLACES_H_
#define HYCOLL_NUMA_TOPOLOGY_OPENMP_PLACES_H_

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

}  // namespace hycoll

#endif  // HYCOLL_NUMA_TOPOLOGY_OPENMP_PLACES_H_
