#ifndef HYCOLL_NUMA_PLACEMENT_BINDING_H_
#define HYCOLL_NUMA_PLACEMENT_BINDING_H_

#include <optional>
#include <string>

#include "numa/topology/affinity_mask.h"
#include "numa/topology/topology.h"

namespace hycoll {

/// Binds the calling thread to one processing unit, core.os_index.
/// Guarantees: returns when the thread runs there. Other threads are left alone; threads that it
/// creates afterwards inherit the binding. Errors: unsupported, if the topology does not describe
/// this machine; environment, if the operating system refuses (the core lies outside the cpuset, or
/// the container forbids it); the binding is then as before.
void bind_this_thread(const Topology& topology, const Core& core);

/// The same to any of the processing units of `mask`; those that the topology does not have are
/// ignored. Errors: as above; invalid_argument, if the topology has none of them.
void bind_this_thread(const Topology& topology, const AffinityMask& mask);

/// Where the calling thread may run. Not cut to the topology: a thread may be bound outside of it.
/// Errors: unsupported and environment, as above.
AffinityMask this_thread_affinity(const Topology& topology);

/// The processing unit (os_index) on which the calling thread ran last: a snapshot, unless it is
/// bound. Errors: unsupported and environment, as above.
int this_thread_processing_unit(const Topology& topology);

/// Binds the calling thread for as long as the object lives, then restores what was before. For
/// threads that belong to the user. Must be destroyed by the thread that made it. Where restoring
/// fails the thread stays bound.
class ScopedThreadBinding {
 public:
  /// Errors: as bind_this_thread.
  ScopedThreadBinding(const Topology& topology, const Core& core);
  ~ScopedThreadBinding();
  ScopedThreadBinding(const ScopedThreadBinding&) = delete;
  ScopedThreadBinding& operator=(const ScopedThreadBinding&) = delete;

 private:
  Topology topology_;
  AffinityMask before_;
};

/// Who started this process.
enum class Launcher { unknown, mpich, open_mpi, slurm };

/// As far as the environment variables tell. Not safe while another thread changes them.
Launcher detected_launcher();

/// A warning for people if `thread_count` threads of one process that wait for one another would be
/// slowed down by how it was launched, and what to change in the launch line; std::nullopt if all
/// is well, and if no launch line can help because the machine has no more cores.
/// - Confined: the affinity mask or the cpuset has fewer processing units than there are threads,
/// or a single core
///   for several threads, while the machine has more cores. Several launchers bind each process to
///   one core unless told otherwise, which hybrid programs stumble over (open-mpi/ompi#7806,
///   #13009).
/// - Throttled: a CPU quota grants fewer cores than there are threads.
/// Pure. Errors: invalid_argument, if thread_count < 1.
std::optional<std::string> confinement_warning(const CoreLimits& limits, int thread_count,
                                               Launcher launcher);

/// The same for this process: the topology's limits() and detected_launcher().
std::optional<std::string> confinement_warning(const Topology& topology, int thread_count);

}  // namespace hycoll

#endif  // HYCOLL_NUMA_PLACEMENT_BINDING_H_
