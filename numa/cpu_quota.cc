#include "numa/cpu_quota.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace hycoll {
namespace {

namespace fs = std::filesystem;

enum class Version { v1, v2 };

/// A mounted control group hierarchy that may limit CPU time.
struct Hierarchy {
  Version version;
  fs::path mount_point;
  fs::path mounted_group;  ///< The group that shows at the mount point: "/", or a container's own.
};

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

bool names_cpu(const std::string& comma_separated) {
  const std::vector<std::string> names = split(comma_separated, ',');
  return std::find(names.begin(), names.end(), "cpu") != names.end();
}

/// Undoes the octal escapes of proc(5)'s mountinfo: a space is "\040".
std::string unescaped(std::string_view text) {
  const auto is_octal = [](char c) { return c >= '0' && c <= '7'; };
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size() && is_octal(text[i + 1]) && is_octal(text[i + 2]) &&
        is_octal(text[i + 3])) {
      plain += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                                 (text[i + 3] - '0'));
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

/// proc(5): ID parent device root mount-point options [optional fields] - type source super-options
std::vector<Hierarchy> cpu_hierarchies(const fs::path& root) {
  std::vector<Hierarchy> hierarchies;
  std::ifstream mounts(root / "proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    const std::vector<std::string> fields = split(line, ' ');
    const auto dash = std::find(fields.begin(), fields.end(), "-");
    if (dash - fields.begin() < 6 || fields.end() - dash < 4) continue;
    const std::string& type = dash[1];
    const bool is_v2 = type == "cgroup2";
    if (!is_v2 && !(type == "cgroup" && names_cpu(dash[3]))) continue;
    hierarchies.push_back({is_v2 ? Version::v2 : Version::v1,
                           root / fs::path(unescaped(fields[4])).relative_path(),
                           unescaped(fields[3])});
  }
  return hierarchies;
}

/// cgroups(7): "ID:controllers:group" per line; version 2 has no controllers.
std::optional<fs::path> group_of_process(const fs::path& root, Version version) {
  std::ifstream groups(root / "proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (version == Version::v2 ? controllers.empty() : names_cpu(controllers)) {
      return fs::path(line.substr(second + 1));
    }
  }
  return std::nullopt;
}

std::optional<double> ratio(double quota_us, double period_us) {
  if (!(quota_us > 0) || !(period_us > 0)) return std::nullopt;
  return quota_us / period_us;
}

std::optional<double> quota_of_group(const fs::path& directory, Version version) {
  double quota_us = 0;
  double period_us = 0;
  if (version == Version::v2) {
    std::ifstream limit(directory / "cpu.max");
    // "max 100000" fails to parse as a number, which is what no limit should do.
    if (!(limit >> quota_us >> period_us)) return std::nullopt;
  } else {
    std::ifstream quota(directory / "cpu.cfs_quota_us");
    std::ifstream period(directory / "cpu.cfs_period_us");
    // A quota of -1 means no limit; ratio() refuses it.
    if (!(quota >> quota_us) || !(period >> period_us)) return std::nullopt;
  }
  return ratio(quota_us, period_us);
}

/// The part of `group` below `mounted_group`; empty if it lies elsewhere, as seen from inside a
/// container whose mount shows only its own group.
fs::path below(const fs::path& group, const fs::path& mounted_group) {
  const fs::path rest = group.lexically_normal().lexically_relative(mounted_group);
  if (rest.empty() || rest == "." || *rest.begin() == "..") return {};
  return rest;
}

}  // namespace

std::optional<double> cpu_quota_cores(const fs::path& root) {
  std::optional<double> smallest;
  for (const Hierarchy& hierarchy : cpu_hierarchies(root)) {
    const std::optional<fs::path> group = group_of_process(root, hierarchy.version);
    if (!group) continue;
    fs::path rest = below(*group, hierarchy.mounted_group);
    while (true) {
      const auto quota = quota_of_group(hierarchy.mount_point / rest, hierarchy.version);
      if (quota) smallest = std::min(smallest.value_or(*quota), *quota);
      if (rest.empty()) break;
      rest = rest.parent_path();
    }
  }
  return smallest;
}

}  // namespace hycoll
