#ifndef HYCOLL_NUMA_TOPOLOGY_CONTROL_GROUPS_H_
#define HYCOLL_NUMA_TOPOLOGY_CONTROL_GROUPS_H_

#include <filesystem>
#include <string_view>
#include <vector>

namespace hycoll {

/// A control group, cgroups(7), of this process: the directory with its limits.
struct ControlGroup {
  enum class Version { v1, v2 };
  Version version;
  std::filesystem::path directory;
};

/// The groups of this process that may limit what `controller` ("cpu", "memory") hands out: in each
/// mounted hierarchy of version 2, and of version 1 with that controller, from the process's own
/// group up to the topmost one that is visible. Directories need not exist or hold limits. Inside a
/// container whose mount shows only its own group, that is the topmost one.
///
/// `root` is the directory that holds proc/self and the mount points, "/" but in tests.
/// Never throws for what the files hold; safe to call concurrently.
std::vector<ControlGroup> control_groups(std::string_view controller,
                                         const std::filesystem::path& root = "/");

}  // namespace hycoll

#endif  // HYCOLL_NUMA_TOPOLOGY_CONTROL_GROUPS_H_
