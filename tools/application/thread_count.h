#ifndef HYCOLL_TOOLS_APPLICATION_THREAD_COUNT_H_
#define HYCOLL_TOOLS_APPLICATION_THREAD_COUNT_H_

#include <mpi.h>

#include <optional>
#include <string>

#include "numa/topology/topology.h"

namespace hycoll::application {

/// How many threads a process starts when the user does not say: OMP_NUM_THREADS if it is set, else
/// one per core of the process's share of its node; the least of all processes, so that they do
/// equal work. Collective over `comm`; the same result everywhere. Errors: those of Topology.
int choose_thread_count(MPI_Comm comm);

/// A warning for people if the processes of this node together start more threads than `machine`
/// has cores while OpenMP's threads wait actively; std::nullopt if not. Collective over `comm`.
std::optional<std::string> oversubscription_warning(const Topology& machine, int thread_count,
                                                    MPI_Comm comm);

}  // namespace hycoll::application

#endif  // HYCOLL_TOOLS_APPLICATION_THREAD_COUNT_H_
