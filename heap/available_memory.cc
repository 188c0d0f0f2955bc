#include "heap/available_memory.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

namespace hycoll {
namespace {

/// The files of a control group that limit memory, in one of the two versions of control groups.
struct Files {
  std::string_view mount;       ///< Where the hierarchy usually lies.
  std::string_view controller;  ///< Its field in /proc/self/cgroup.
  const char* limit;
  const char* usage;
  std::string_view droppable;  ///< The line of memory.stat with caches that can be dropped.
};

constexpr Files kFiles[] = {
    {"/sys/fs/cgroup", "", "memory.max", "memory.current", "inactive_file"},
    {"/sys/fs/cgroup/memory", "memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
     "total_inactive_file"},
};

/// A file with one number; nullopt if there is none, as in "max".
std::optional<std::uint64_t> number_in(const std::string& path) {
  std::ifstream file(path);
  std::uint64_t number = 0;
  if (!(file >> number)) return std::nullopt;
  return number;
}

/// The number behind `key` in a file of lines "key number".
std::optional<std::uint64_t> value_of(const std::string& path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.size() > key.size() && line.starts_with(key) &&
        (line[key.size()] == ' ' || line[key.size()] == ':')) {
      return std::strtoull(line.c_str() + key.size() + 1, nullptr, 10);
    }
  }
  return std::nullopt;
}

/// The group of this process, "/a/b", as cgroups(7) lists it: "ID:controllers:group".
std::string group_of_process(const std::string& root, std::string_view controller) {
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const auto controllers = std::string_view(line).substr(first + 1, second - first - 1);
    if (controllers == controller) return line.substr(second + 1);
  }
  return "/";
}

std::optional<std::uint64_t> left_in(const std::string& directory, const Files& files) {
  const auto limit = number_in(directory + "/" + files.limit);
  const auto usage = number_in(directory + "/" + files.usage);
  if (!limit || !usage) return std::nullopt;
  const std::uint64_t droppable = value_of(directory + "/memory.stat", files.droppable).value_or(0);
  const std::uint64_t taken = *usage - std::min(*usage, droppable);
  return *limit - std::min(*limit, taken);
}

std::size_t left_by_groups(const std::string& root) {
  std::uint64_t left = SIZE_MAX;
  for (const Files& files : kFiles) {
    // A container's mount may show its own group as the top, under a path that does not exist:
    // walking up ends at the mount point in either case.
    std::string group = group_of_process(root, files.controller);
    while (true) {
      const std::string directory = root + std::string(files.mount) + (group == "/" ? "" : group);
      left = std::min(left, left_in(directory, files).value_or(left));
      if (group.empty() || group == "/") break;
      group.resize(group.rfind('/') == std::string::npos ? 0 : group.rfind('/'));
    }
  }
  return left;
}

std::size_t meminfo_bytes(const std::string& root, std::string_view key) {
  const auto kib = value_of(root + "/proc/meminfo", key);
  return kib ? *kib * 1024 : SIZE_MAX;
}

}  // namespace

std::size_t available_memory_bytes(const char* root) {
  return std::min(meminfo_bytes(root, "MemAvailable"), left_by_groups(root));
}

std::size_t total_memory_bytes(const char* root) { return meminfo_bytes(root, "MemTotal"); }

}  // namespace hycoll
