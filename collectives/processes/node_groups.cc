#include "collectives/processes/node_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "core/base/errors.h"
#include "core/schedule/group_sizes.h"
#include "numa/topology/neighbourhoods.h"

namespace hycoll {
namespace {

constexpr int kLargestGroup = 1'000'000;

std::vector<int> parse_sizes(const std::string& requested) {
  std::vector<int> sizes;
  std::string_view rest = requested;
  while (true) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view part = rest.substr(0, comma);
    int size = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), size);
    const bool is_number = error == std::errc{} && end == part.data() + part.size();
    if (!is_number || size < 1 || size > kLargestGroup) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("Options::groups (HYCOLL_GROUPS) is '{}': expected machine, flat, or "
                              "the workers of a group on each level from inner to outer, 1 to {}, "
                              "as in 4,16,64",
                              requested, kLargestGroup));
    }
    sizes.push_back(size);
    if (comma == rest.size()) return sizes;
    rest.remove_prefix(comma + 1);
  }
}

bool is_of_own_workers(std::span<const NodeRun> nodes, std::span<const Core> own_cores) {
  return nodes.size() == 1 && nodes.front().count == 1 &&
         std::cmp_equal(own_cores.size(), nodes.front().node.workers);
}

Groups groups_of_machine(const Topology& topology, std::span<const Core> own_cores) {
  std::vector<int> cores;
  for (const Core& core : own_cores) cores.push_back(core.index);
  return groups_of_sizes(neighbourhoods(topology, cores));
}

}  // namespace

std::vector<GroupedRun> groups_of_nodes(const std::string& requested,
                                        std::span<const NodeRun> nodes, const Topology& topology,
                                        std::span<const Core> own_cores) {
  std::vector<GroupedRun> groups;
  if (requested == "flat") return groups;
  if (requested == "machine") {
    if (!is_of_own_workers(nodes, own_cores)) return groups;
    groups.push_back({.groups = groups_of_machine(topology, own_cores), .count = 1});
  } else {
    const std::vector<int> sizes = parse_sizes(requested);
    for (const NodeRun& run : nodes) {
      groups.push_back({.groups = Groups::of_sizes(run.node.workers, sizes), .count = run.count});
    }
  }
  const auto is_flat = [](const GroupedRun& run) { return run.groups.is_flat(); };
  if (std::ranges::all_of(groups, is_flat)) groups.clear();
  return groups;
}

}  // namespace hycoll
