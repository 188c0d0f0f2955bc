#include "heap/available_memory.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

namespace hycoll {
namespace {

namespace fs = std::filesystem;

/// The files of a control group that limit memory, by the version of control groups.
struct Files {
  const char* limit;
  const char* usage;
  std::string_view droppable;  ///< The line of memory.stat with caches that can be dropped.
};

constexpr Files kFilesV1{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"};
constexpr Files kFilesV2{"memory.max", "memory.current", "inactive_file"};

/// A file with one number; nullopt if there is none, as in "max".
std::optional<std::uint64_t> number_in(const fs::path& path) {
  std::ifstream file(path);
  std::uint64_t number = 0;
  if (!(file >> number)) return std::nullopt;
  return number;
}

/// The number behind `key` in a file of lines "key number" or "key: number".
std::optional<std::uint64_t> value_of(const fs::path& path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.size() > key.size() && line.starts_with(key) &&
        (line[key.size()] == ' ' || line[key.size()] == ':')) {
      return std::strtoull(line.c_str() + key.size() + 1, nullptr, 10);
    }
  }
  return std::nullopt;
}

std::optional<std::size_t> left_in(const ControlGroup& group) {
  const Files& files = group.version == ControlGroup::Version::v2 ? kFilesV2 : kFilesV1;
  const auto limit = number_in(group.directory / files.limit);
  const auto usage = number_in(group.directory / files.usage);
  if (!limit || !usage) return std::nullopt;
  const std::uint64_t droppable =
      value_of(group.directory / "memory.stat", files.droppable).value_or(0);
  const std::uint64_t taken = *usage - std::min(*usage, droppable);
  return *limit - std::min(*limit, taken);
}

std::size_t bytes_in_meminfo(const fs::path& meminfo, std::string_view key) {
  const auto kib = value_of(meminfo, key);
  return kib ? *kib * 1024 : SIZE_MAX;
}

constexpr const char* kMeminfo = "proc/meminfo";

}  // namespace

std::size_t total_memory_bytes(const fs::path& root) {
  return bytes_in_meminfo(root / kMeminfo, "MemTotal");
}

AvailableMemory::AvailableMemory(const fs::path& root)
    : meminfo_(root / kMeminfo), groups_(control_groups("memory", root)) {}

std::size_t AvailableMemory::bytes() const {
  std::size_t left = bytes_in_meminfo(meminfo_, "MemAvailable");
  for (const ControlGroup& group : groups_) left = std::min(left, left_in(group).value_or(left));
  return left;
}

}  // namespace hycoll
