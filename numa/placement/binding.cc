#include "numa/placement/binding.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "core/base/errors.h"
#include "numa/topology/topology_tables.h"

namespace hycoll {
namespace {

using internal::TopologyAccess;

// Of a kernel with 2 million processing units.
constexpr std::size_t kMostMaskWords = 1 << 15;
static_assert(sizeof(unsigned long) == sizeof(std::uint64_t));  // NOLINT(google-runtime-int)

/// hwloc pretends to succeed on topologies of other machines, so they are refused here.
hwloc_topology_t handle_of_this_machine(const Topology& topology) {
  if (!topology.is_this_machine()) {
    throw Error(
        ErrorKind::unsupported,
        "topology is synthetic or recorded: threads can be bound only by Topology::this_machine()");
  }
  return TopologyAccess::tables(topology).handle.get();
}

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

/// How to give one process `thread_count` cores, for each launcher.
std::string launch_advice(int thread_count, Launcher launcher) {
  const std::string mpich = "with MPICH's mpiexec add -bind-to none (or -bind-to numa)";
  const std::string open_mpi = fmt::format(
      "with Open MPI's mpiexec add --bind-to none (or --map-by slot:PE={})", thread_count);
  const std::string slurm = fmt::format("with srun add --cpus-per-task={}", thread_count);
  switch (launcher) {
    case Launcher::mpich:
      return mpich;
    case Launcher::open_mpi:
      return open_mpi;
    case Launcher::slurm:
      return slurm;
    case Launcher::unknown:
      break;
  }
  return fmt::format("{}; {}; {}", mpich, open_mpi, slurm);
}

std::string units_text(const CoreLimits& limits) {
  const int units = limits.affinity_processing_units;
  if (limits.affinity_cores == 1 && units == 1) return "1 core";
  if (units == limits.affinity_cores) return fmt::format("{} cores", units);
  return fmt::format("{} core{} ({} hardware threads)", limits.affinity_cores,
                     limits.affinity_cores == 1 ? "" : "s", units);
}

std::string confined_text(const CoreLimits& limits, int thread_count, Launcher launcher) {
  std::string text =
      fmt::format("the {} threads of this process are confined to {} of the machine's {}, ",
                  thread_count, units_text(limits), limits.machine_cores);
  if (limits.affinity_cores == limits.cpuset_cores) {
    return text +
           fmt::format(
               "by its control group's cpuset. Ask the batch system or the container for more "
               "cores: srun --cpus-per-task={}, docker run --cpuset-cpus=...",
               thread_count);
  }
  return text + fmt::format(
                    "by its affinity mask, so they take turns. Change the launch line: {}. If the "
                    "program uses OpenMP, OMP_PLACES=cores and OMP_PROC_BIND=close then give each "
                    "thread a core of its own",
                    launch_advice(thread_count, launcher));
}

std::string throttled_text(double quota_cores, int thread_count) {
  const int served = std::max(1, static_cast<int>(quota_cores));
  return fmt::format(
      "a CPU quota grants this process the time of {:.3g} cores for {} threads: when it is used "
      "up, they all stop "
      "until the next period. Raise it (docker run --cpus={}, Kubernetes limits.cpu), or use {} "
      "thread{}",
      quota_cores, thread_count, thread_count, served, served == 1 ? "" : "s");
}

}  // namespace

void bind_this_thread(const Topology& topology, const Core& core) {
  bind_this_thread(topology, AffinityMask{core.os_index});
}

void bind_this_thread(const Topology& topology, const AffinityMask& mask) {
  const hwloc_topology_t handle = handle_of_this_machine(topology);
  const AffinityMask target = mask & topology.affinity();
  if (target.empty()) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("mask is \"{}\": expected some of this topology's processing units {}",
                            mask.to_string(), topology.affinity().to_string()));
  }
  const internal::Bitmap set = internal::to_bitmap(target);
  if (hwloc_set_cpubind(handle, set.get(), HWLOC_CPUBIND_THREAD | HWLOC_CPUBIND_STRICT) != 0) {
    throw Error(
        ErrorKind::environment,
        internal::with_errno(fmt::format(
            "the operating system refuses to bind a thread to processing units {}; check the "
            "cpuset of "
            "the container or batch job, which may have changed since the topology was read",
            target.to_string())));
  }
}

AffinityMask this_thread_affinity(const Topology& topology) {
  handle_of_this_machine(topology);
  // Not by hwloc, which leaves out what lies behind the topology's last processing unit.
  std::vector<unsigned long> words(16);  // NOLINT(google-runtime-int): the kernel's
  const auto bytes = [&] { return words.size() * sizeof(words[0]); };
  while (sched_getaffinity(0, bytes(), reinterpret_cast<cpu_set_t*>(words.data())) != 0) {
    if (errno != EINVAL || words.size() > kMostMaskWords) {
      throw Error(
          ErrorKind::environment,
          internal::with_errno("the operating system does not tell a thread's affinity mask"));
    }
    words.resize(2 * words.size());  // the machine may have more processing units
  }
  return AffinityMask::from_words(std::vector<std::uint64_t>(words.begin(), words.end()));
}

int this_thread_processing_unit(const Topology& topology) {
  const hwloc_topology_t handle = handle_of_this_machine(topology);
  const internal::Bitmap set = internal::make_bitmap();
  if (hwloc_get_last_cpu_location(handle, set.get(), HWLOC_CPUBIND_THREAD) != 0) {
    throw Error(ErrorKind::environment,
                internal::with_errno("the operating system does not tell where a thread runs"));
  }
  return hwloc_bitmap_first(set.get());
}

ScopedThreadBinding::ScopedThreadBinding(const Topology& topology, const Core& core)
    : topology_(topology), before_(this_thread_affinity(topology)) {
  bind_this_thread(topology, core);
}

ScopedThreadBinding::~ScopedThreadBinding() {
  const internal::Bitmap set = internal::to_bitmap(before_);
  // A destructor has nobody to tell; the contract says what happens.
  (void)hwloc_set_cpubind(TopologyAccess::tables(topology_).handle.get(), set.get(),
                          HWLOC_CPUBIND_THREAD);
}

Launcher detected_launcher() {
  // mpiexec inside a Slurm job sees Slurm's variables as well, so it is asked about first.
  if (is_set("OMPI_COMM_WORLD_SIZE")) return Launcher::open_mpi;
  if (is_set("HYDI_CONTROL_FD") || is_set("MPI_LOCALNRANKS")) return Launcher::mpich;
  if (is_set("SLURM_STEP_ID")) return Launcher::slurm;
  return Launcher::unknown;
}

std::optional<std::string> confinement_warning(const CoreLimits& limits, int thread_count,
                                               Launcher launcher) {
  if (thread_count < 1) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("thread_count is {}: expected 1 or more", thread_count));
  }
  const bool crowded = thread_count > limits.affinity_processing_units ||
                       (thread_count > 1 && limits.affinity_cores == 1);
  if (crowded && limits.machine_cores > limits.affinity_cores) {
    return confined_text(limits, thread_count, launcher);
  }
  const bool throttled = limits.quota_cores && *limits.quota_cores < thread_count &&
                         *limits.quota_cores < limits.affinity_cores;
  if (throttled) return throttled_text(*limits.quota_cores, thread_count);
  return std::nullopt;
}

std::optional<std::string> confinement_warning(const Topology& topology, int thread_count) {
  return confinement_warning(topology.limits(), thread_count, detected_launcher());
}

}  // namespace hycoll
