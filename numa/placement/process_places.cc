#include "numa/placement/process_places.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <vector>

namespace hycoll {
namespace {

using Masks = std::vector<AffinityMask>;

/// Hosts whose processes have the same masks.
struct Kind {
  Masks masks;  // by the order of their ranks
  std::vector<std::string> hosts;
};

/// In the order in which hosts first occur.
std::vector<Kind> kinds_of_hosts(std::span<const ProcessPlace> places) {
  std::map<std::string, Masks> masks_of_host;
  std::vector<std::string> hosts;
  for (const ProcessPlace& place : places) {
    Masks& masks = masks_of_host[place.host];
    if (masks.empty()) hosts.push_back(place.host);
    masks.push_back(place.cpus);
  }
  std::vector<Kind> kinds;
  for (const std::string& host : hosts) {
    const Masks& masks = masks_of_host[host];
    auto kind = std::ranges::find(kinds, masks, &Kind::masks);
    if (kind == kinds.end()) kind = kinds.insert(kind, {.masks = masks, .hosts = {}});
    kind->hosts.push_back(host);
  }
  return kinds;
}

std::string hosts_text(const std::vector<std::string>& hosts) {
  constexpr std::size_t kMostNames = 4;
  if (hosts.size() <= kMostNames) return fmt::format("{}", fmt::join(hosts, ", "));
  const std::span<const std::string> first(hosts.data(), kMostNames);
  return fmt::format("{} and {} more", fmt::join(first, ", "), hosts.size() - kMostNames);
}

/// How the processes of a host divide their processing units.
std::string division_text(const Masks& masks) {
  AffinityMask all;
  int least = masks.front().count();
  int most = 0;
  int sum = 0;
  for (const AffinityMask& mask : masks) {
    all = all | mask;
    least = std::min(least, mask.count());
    most = std::max(most, mask.count());
    sum += mask.count();
  }
  if (all.empty()) return "CPUs that are not known";
  const std::string cpus = fmt::format("CPU{} {}", all.count() == 1 ? "" : "s", all.to_string());
  if (masks.size() == 1) return cpus;
  if (least == all.count()) return cpus + ", all of them for each";
  const std::string share =
      least == most ? fmt::format("{}", most) : fmt::format("{} to {}", least, most);
  return fmt::format("{}, {} for each{}", cpus, share,
                     sum > all.count() ? ", some of them shared" : "");
}

}  // namespace

std::string describe_places(std::span<const ProcessPlace> places) {
  std::string text;
  for (const auto& [masks, hosts] : kinds_of_hosts(places)) {
    text += fmt::format("  {}: {} process{}{}, on {}\n", hosts_text(hosts), masks.size(),
                        masks.size() == 1 ? "" : "es", hosts.size() == 1 ? "" : " each",
                        division_text(masks));
  }
  return text;
}

}  // namespace hycoll
