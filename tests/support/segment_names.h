#ifndef HYCOLL_TESTS_SUPPORT_SEGMENT_NAMES_H_
#define HYCOLL_TESTS_SUPPORT_SEGMENT_NAMES_H_

#include <sys/types.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>

namespace hycoll {

/// How many segments in /dev/shm bear the name of a process. Those of others, which run meanwhile,
/// do not count.
inline std::ptrdiff_t segment_names_of(pid_t process) {
  const std::string prefix = "hycoll-" + std::to_string(process) + "-";
  const std::filesystem::directory_iterator names("/dev/shm");
  return std::count_if(begin(names), end(names), [&](const auto& entry) {
    return entry.path().filename().string().starts_with(prefix);
  });
}

}  // namespace hycoll

#endif  // HYCOLL_TESTS_SUPPORT_SEGMENT_NAMES_H_
