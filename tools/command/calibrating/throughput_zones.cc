#include "tools/command/calibrating/throughput_zones.h"

#include <fmt/format.h>

#include <ranges>
#include <vector>

#include "tools/command/line/sizes.h"

namespace hycoll::command {
namespace {

constexpr double kGrowing = 0.75;
constexpr double kAsOne = 1.25;

}  // namespace

std::optional<ThroughputZones> find_zones(const MessageCosts& costs) {
  const int pairs = costs.most_pairs();
  if (pairs < 2) return {};
  std::vector<const StreamPoint*> of_most;
  for (const StreamPoint& point : costs.points) {
    if (point.pairs != 1 && point.pairs != pairs) continue;
    if (!point.messages_per_s.is_told()) return {};
    if (point.pairs == pairs) of_most.push_back(&point);
  }
  ThroughputZones zones;
  for (const StreamPoint* point : of_most) {
    if (costs.relative(*point) < kGrowing * pairs) break;
    zones.last_of_a = point->size_bytes;
  }
  for (const StreamPoint* point : of_most | std::views::reverse) {
    if (costs.relative(*point) > kAsOne || point->size_bytes <= zones.last_of_a) break;
    zones.first_of_c = point->size_bytes;
  }
  return zones;
}

std::string to_text(const ThroughputZones& zones) {
  const std::string a = zones.last_of_a == 0
                            ? "no zone A"
                            : fmt::format("zone A up to {}", short_size(zones.last_of_a));
  const std::string c = zones.first_of_c == SIZE_MAX
                            ? "no zone C"
                            : fmt::format("zone C from {}", short_size(zones.first_of_c));
  return a + ", " + c;
}

}  // namespace hycoll::command
