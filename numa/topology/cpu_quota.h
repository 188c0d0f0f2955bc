#ifndef HYCOLL_NUMA_TOPOLOGY_CPU_QUOTA_H_
#define HYCOLL_NUMA_TOPOLOGY_CPU_QUOTA_H_

#include <filesystem>
#include <optional>

namespace hycoll {

/// How many cores' worth of time the control groups of this process grant it, e.g. 1.5 under
/// `docker run --cpus=1.5`: the smallest quota / period from its own group up to the root, of
/// cgroup v2 (cpu.max) and of cgroup v1 (cpu.cfs_quota_us, cpu.cfs_period_us). std::nullopt without
/// a limit, and where the files do not exist or cannot be read. A quota is no cpuset: threads run
/// on any core until the period's time is used up and then all stop, which is why threads that wait
/// for one another must be no more.
///
/// `root` is the directory that holds proc/self and the mount points, "/" but in tests.
/// Never throws for what the files hold; safe to call concurrently.
std::optional<double> cpu_quota_cores(const std::filesystem::path& root = "/");

}  // namespace hycoll

#endif  // HYCOLL_NUMA_TOPOLOGY_CPU_QUOTA_H_
