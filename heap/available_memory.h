#ifndef HYCOLL_HEAP_AVAILABLE_MEMORY_H_
#define HYCOLL_HEAP_AVAILABLE_MEMORY_H_

#include <cstddef>
#include <filesystem>
#include <vector>

#include "numa/topology/control_groups.h"

namespace hycoll {

/// The machine's whole memory in bytes, as /proc/meminfo says it; SIZE_MAX where it does not.
std::size_t total_memory_bytes(const std::filesystem::path& root = "/");

/// How many bytes this process could take now without the system having to end somebody: what
/// /proc/meminfo says is available, and no more than the control groups of the process leave
/// (file caches that can be dropped count as free). Safe for concurrent use.
class AvailableMemory {
 public:
  /// Looks for the control groups, once. `root` is the directory that holds proc/ and the mount
  /// points, "/" but in tests. Never throws for what the files hold.
  explicit AvailableMemory(const std::filesystem::path& root = "/");

  /// SIZE_MAX where nothing is said. Takes some 20 us.
  std::size_t bytes() const;

 private:
  std::filesystem::path meminfo_;
  std::vector<ControlGroup> groups_;
};

}  // namespace hycoll

#endif  // HYCOLL_HEAP_AVAILABLE_MEMORY_H_
