#include "numa/topology/cpu_quota.h"

#include <algorithm>
#include <fstream>

#include "numa/topology/control_groups.h"

namespace hycoll {
namespace {

std::optional<double> ratio(double quota_us, double period_us) {
  if (!(quota_us > 0) || !(period_us > 0)) return std::nullopt;
  return quota_us / period_us;
}

std::optional<double> quota_of_group(const ControlGroup& group) {
  double quota_us = 0;
  double period_us = 0;
  if (group.version == ControlGroup::Version::v2) {
    std::ifstream limit(group.directory / "cpu.max");
    // "max 100000" fails to parse as a number, which is what no limit should do.
    if (!(limit >> quota_us >> period_us)) return std::nullopt;
  } else {
    std::ifstream quota(group.directory / "cpu.cfs_quota_us");
    std::ifstream period(group.directory / "cpu.cfs_period_us");
    // A quota of -1 means no limit; ratio() refuses it.
    if (!(quota >> quota_us) || !(period >> period_us)) return std::nullopt;
  }
  return ratio(quota_us, period_us);
}

}  // namespace

std::optional<double> cpu_quota_cores(const std::filesystem::path& root) {
  std::optional<double> smallest;
  for (const ControlGroup& group : control_groups("cpu", root)) {
    const auto quota = quota_of_group(group);
    if (quota) smallest = std::min(smallest.value_or(*quota), *quota);
  }
  return smallest;
}

}  // namespace hycoll
