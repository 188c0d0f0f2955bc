#include "numa/topology/control_groups.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

namespace hycoll {
namespace {

namespace fs = std::filesystem;
using Version = ControlGroup::Version;

/// A mounted control group hierarchy.
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

bool names(const std::string& comma_separated, std::string_view controller) {
  const std::vector<std::string> all = split(comma_separated, ',');
  return std::find(all.begin(), all.end(), controller) != all.end();
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
std::vector<Hierarchy> hierarchies_with(std::string_view controller, const fs::path& root) {
  std::vector<Hierarchy> hierarchies;
  std::ifstream mounts(root / "proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    const std::vector<std::string> fields = split(line, ' ');
    const auto dash = std::find(fields.begin(), fields.end(), "-");
    if (dash - fields.begin() < 6 || fields.end() - dash < 4) continue;
    const std::string& type = dash[1];
    const bool is_v2 = type == "cgroup2";
    if (!is_v2 && !(type == "cgroup" && names(dash[3], controller))) continue;
    hierarchies.push_back({is_v2 ? Version::v2 : Version::v1,
                           root / fs::path(unescaped(fields[4])).relative_path(),
                           unescaped(fields[3])});
  }
  return hierarchies;
}

/// cgroups(7): "ID:controllers:group" per line; version 2 has no controllers.
std::optional<fs::path> group_of_process(std::string_view controller, const fs::path& root,
                                         Version version) {
  std::ifstream groups(root / "proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (version == Version::v2 ? controllers.empty() : names(controllers, controller)) {
      return fs::path(line.substr(second + 1));
    }
  }
  return std::nullopt;
}

/// The part of `group` below `mounted_group`; empty if it lies elsewhere, as seen from inside a
/// container whose mount shows only its own group.
fs::path below(const fs::path& group, const fs::path& mounted_group) {
  const fs::path rest = group.lexically_normal().lexically_relative(mounted_group);
  if (rest.empty() || rest == "." || *rest.begin() == "..") return {};
  return rest;
}

}  // namespace

std::vector<ControlGroup> control_groups(std::string_view controller, const fs::path& root) {
  std::vector<ControlGroup> all;
  for (const Hierarchy& hierarchy : hierarchies_with(controller, root)) {
    const std::optional<fs::path> group = group_of_process(controller, root, hierarchy.version);
    if (!group) continue;
    fs::path rest = below(*group, hierarchy.mounted_group);
    while (true) {
      all.push_back({hierarchy.version, hierarchy.mount_point / rest});
      if (rest.empty()) break;
      rest = rest.parent_path();
    }
  }
  return all;
}

}  // namespace hycoll
