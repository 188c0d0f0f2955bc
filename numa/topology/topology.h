#ifndef HYCOLL_NUMA_TOPOLOGY_TOPOLOGY_H_
#define HYCOLL_NUMA_TOPOLOGY_TOPOLOGY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "numa/topology/affinity_mask.h"

namespace hycoll {

namespace internal {
struct TopologyTables;  // numa/topology/topology_tables.h, private to this folder
struct TopologyAccess;
}  // namespace internal

/// In these structs `index` counts from 0 in the topology's own order, which follows the hierarchy:
/// the cores of a package, of a NUMA domain and of a cache are neighbours. `os_index` is the
/// operating system's number. -1 stands for what is not known or does not apply.

struct Core {
  int index;
  int os_index;          ///< The core's first usable processing unit.
  int package;           ///< Index into packages().
  int numa_domain;       ///< Index into numa_domains(): the nearest memory.
  int last_level_cache;  ///< Index into caches(), or -1.

  friend bool operator==(const Core&, const Core&) = default;
};

/// A socket. A machine that does not tell its sockets counts as one package.
struct Package {
  int index;
  int os_index;
  std::string model;       ///< Of the processor, or "".
  std::vector<int> cores;  ///< Indices into cores(), ascending.
};

/// Memory and the cores nearest to it. Memory that is nearest to no usable core is not listed: that
/// of other processes' cores, and high-bandwidth or CXL memory beside ordinary memory.
struct NumaDomain {
  int index;
  int os_index;
  int package;  ///< Index into packages(), or -1 if its cores lie on several.
  std::uint64_t memory_bytes;
  std::vector<int> cores;  ///< Indices into cores(), ascending.
};

/// A data or unified cache.
struct Cache {
  int index;
  int level;                 ///< 1 is nearest to the core.
  std::uint64_t size_bytes;  ///< 0 if not known.
  std::uint64_t line_bytes;  ///< 0 if not known.
  std::vector<int> cores;    ///< Those that share it: indices into cores(), ascending.
};

/// From all of the machine to what this process may use. Each count includes the limits before it.
/// On a topology that does not describe this machine all counts are equal and there is no quota.
struct CoreLimits {
  int machine_cores;   ///< Online.
  int cpuset_cores;    ///< Allowed by the control group's cpuset (container, batch system).
  int affinity_cores;  ///< In the affinity mask of some thread of the process (launcher).
  int affinity_processing_units;  ///< The same, in processing units.
  std::optional<double>
      quota_cores;  ///< CPU time per time that this process may count on: see cpu_quota.h.
};

/// Whether the launcher has given each process of this machine cores of its own.
enum class LauncherBinding {
  none,      ///< The processes may all use the same cores.
  disjoint,  ///< Each has its own cores already.
};

/// The packages, NUMA domains, cores and caches that a process may use: those of this machine, of a
/// synthetic one or of a recorded one. An immutable value; copies are cheap and share the tables.
/// All members may be called concurrently. Every topology has at least one core, one package and
/// one NUMA domain.
class Topology {
 public:
  /// This machine, restricted to the cores that the process may use now: by its control group's
  /// cpuset and by the affinity masks of its threads (their union, so that a pinned thread does not
  /// hide the others' cores). Reads the CPU quota as well.
  ///
  /// OpenMP places count as well (openmp_runtime.h), since a runtime that binds has pinned the
  /// initial thread already.
  ///
  /// The first call costs milliseconds, on large machines tens of them; what it reads of the
  /// machine is kept, so that later ones read the limits only. hwloc's variables HWLOC_SYNTHETIC
  /// and HWLOC_XMLFILE replace the machine, as in every hwloc program. Errors: environment, if
  /// hwloc cannot read the machine or if no core is left.
  static Topology this_machine();

  /// As above, with `allowed` in place of the affinity masks of the process's threads.
  /// Errors: as above; invalid_argument, if `allowed` names no processing unit of this machine's
  /// cpuset.
  static Topology this_machine(const AffinityMask& allowed);

  /// The machine that hwloc's synthetic `description` describes: "pack:2 numa:2 l3:1 core:14 pu:2".
  /// Without a level pu each core has one processing unit. Errors: invalid_argument, if hwloc does
  /// not understand it.
  static Topology synthetic(const std::string& description);

  /// The machine recorded in an hwloc XML file (`lstopo file.xml`).
  /// Errors: invalid_argument, if the file cannot be read or is no hwloc XML.
  static Topology from_xml_file(const std::string& path);

  /// Whether threads and memory can be bound by this topology: false for synthetic and recorded
  /// ones.
  bool is_this_machine() const;

  std::span<const Package> packages() const;
  std::span<const NumaDomain> numa_domains() const;
  std::span<const Core> cores() const;
  std::span<const Cache> caches() const;
  int core_count() const;

  /// The usable processing units (hardware threads) of a core, by their os_index, ascending; the
  /// first is Core::os_index. Errors: invalid_argument, if there is no such core.
  std::span<const int> processing_units(int core_index) const;

  /// The core of a processing unit, or std::nullopt if it is not in this topology.
  std::optional<int> core_of(int processing_unit_os_index) const;

  /// The number of a processing unit's core, and of its last level of cache, on the whole machine,
  /// of which this topology may be a part: the first unit there, or -1 if not known. The same in
  /// all processes of the machine.
  int machine_core_of(int processing_unit_os_index) const;
  int machine_cache_of(int processing_unit_os_index) const;

  /// Of the whole machine: the same for machines that are built of the same parts.
  std::uint64_t machine_fingerprint() const;

  /// Size of the cache of that level that serves a core, shared or not; 0 if there is none or if it
  /// is not known. Errors: invalid_argument, if there is no such core.
  std::uint64_t cache_size_bytes(int core_index, int level) const;

  /// Relative latency from a core in one domain to memory in another, as the firmware tells (SLIT:
  /// 10 is local); std::nullopt if not known. Errors: invalid_argument, if there is no such domain.
  std::optional<std::uint64_t> distance(int from_domain, int to_domain) const;

  const CoreLimits& limits() const;

  /// How many threads can run at the same time without being stopped: the cores, or fewer if a CPU
  /// quota grants less time than that (rounded down, since threads that wait for one another are as
  /// fast as the slowest), but at least 1.
  int usable_core_count() const;

  /// All processing units.
  const AffinityMask& affinity() const;

  /// The same machine with only those processing units. Indices are counted anew; os_index stays.
  /// limits() stays, except for what share() says.
  /// Errors: invalid_argument, if `mask` has no processing unit of this topology; environment, if
  /// hwloc fails.
  Topology restricted_to(const AffinityMask& mask) const;

  /// The same cores with another CPU quota in limits(), or with none: for what-if questions.
  /// Errors: invalid_argument, if the quota is not above 0.
  Topology with_quota(std::optional<double> quota_cores) const;

  /// The part for one of several processes on this machine that start from equal topologies.
  /// none: the cores are cut into contiguous ranges, in order of the process index. Their sizes
  /// differ by at most one, and among those cuts the one is taken in which the fewest processes
  /// straddle NUMA domains and packages. With more processes than cores a core serves several; they
  /// take turns on its processing units. disjoint: the same cores. In both cases the CPU quota is
  /// divided by the number of processes. Errors: invalid_argument, if not 0 <= local_process_index
  /// < local_process_count.
  Topology share(int local_process_index, int local_process_count, LauncherBinding binding) const;

  /// The same with the affinity() of every process of this machine, as exchanged by the caller;
  /// this one's is at local_process_index. Processes with equal masks share those cores, in order
  /// of their index. Masks that overlap but differ are not reconciled: their shares may overlap.
  /// Errors: invalid_argument, if the index is outside local_masks, or its mask is not affinity().
  Topology share(std::span<const AffinityMask> local_masks, int local_process_index) const;

  /// Whether a process of this machine must expect that others need its cores: when all processes,
  /// with these masks, run at the same time, it may be left without a core of its own. Two that are
  /// bound to one core are, wherever a third one runs; two with a core each are not. Masks may name
  /// cores outside this topology. All processes are, if there are more of them than the CPU quota
  /// lets run. Errors: invalid_argument, if the index is outside local_masks.
  bool has_contended_cores(std::span<const AffinityMask> local_masks,
                           int local_process_index) const;

  /// One line for people: "2 packages, 4 NUMA domains, 56 cores with 2 hardware threads each, L3 30
  /// MiB x 4, 128 GiB".
  std::string summary() const;

 private:
  friend struct internal::TopologyAccess;

  explicit Topology(std::shared_ptr<const internal::TopologyTables> tables);
  Topology share_of_cores(int process_index, int process_count) const;

  std::shared_ptr<const internal::TopologyTables> tables_;
};

/// "32 KiB", "1.5 GiB": a size for people.
std::string size_text(std::uint64_t size_bytes);

}  // namespace hycoll

#endif  // HYCOLL_NUMA_TOPOLOGY_TOPOLOGY_H_
