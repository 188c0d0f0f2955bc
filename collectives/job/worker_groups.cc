#include "collectives/job/worker_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "core/base/errors.h"

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
                              "as in 4,16,64; correct or unset it",
                              requested, kLargestGroup));
    }
    sizes.push_back(size);
    if (comma == rest.size()) return sizes;
    rest.remove_prefix(comma + 1);
  }
}

/// What the groups of a level share that the user has given: the further out, the less.
Proximity shared_on(std::size_t level) {
  const std::size_t shared = index_of(Proximity::cache) + level;
  return static_cast<Proximity>(std::min(shared, index_of(Proximity::machine)));
}

/// The nearest thing that all of a node's workers share.
Proximity shared_by_all(std::span<const CorePlace> place_of_worker) {
  if (place_of_worker.empty()) return Proximity::machine;
  Proximity farthest = Proximity::core;
  for (const CorePlace& place : place_of_worker) {
    farthest = std::max(farthest, proximity_of(place_of_worker.front(), place));
  }
  return farthest;
}

GroupLevel runs_of_sizes(const std::vector<int>& sizes) {
  GroupLevel runs;
  for (const int size : sizes) {
    if (runs.empty() || runs.back().size != size) runs.push_back({.size = size, .count = 0});
    ++runs.back().count;
  }
  return runs;
}

}  // namespace

GroupRequest parse_groups(const std::string& requested) {
  if (requested == "machine") return {.is_of_machine = true, .sizes = {}};
  if (requested == "flat") return {};
  GroupRequest request{.is_of_machine = false, .sizes = parse_sizes(requested)};
  Groups::of_sizes(request.sizes.back(), request.sizes);  // each of whole inner ones
  return request;
}

std::vector<EqualNearness> groups_of_sizes(std::span<const EqualNodes> nodes,
                                           std::span<const int> sizes) {
  std::vector<EqualNearness> near;
  for (const EqualNodes& run : nodes) {
    EqualNearness added{
        .groups = Groups::of_sizes(run.node.workers, sizes), .shared = {}, .count = run.count};
    const auto levels = static_cast<std::size_t>(added.groups.level_count());
    for (std::size_t level = 0; level <= levels; ++level) added.shared.push_back(shared_on(level));
    near.push_back(std::move(added));
  }
  if (are_flat(near)) near.clear();
  return near;
}

EqualNearness groups_of_places(std::span<const CorePlace> place_of_worker) {
  EqualNearness near{.groups = {}, .shared = {}};
  std::vector<GroupLevel> levels;
  for (const Neighbourhood& level : neighbourhoods(place_of_worker)) {
    if (level.sizes.size() == 1) continue;
    levels.push_back(runs_of_sizes(level.sizes));
    near.shared.push_back(level.shared);
  }
  near.groups = Groups(std::move(levels));
  HYCOLL_ASSERT(near.shared.size() == near.groups.levels().size(),
                "levels that tell nothing are left out");
  near.shared.push_back(shared_by_all(place_of_worker));
  return near;
}

std::vector<int> packed(const EqualNearness& near) {
  std::vector<int> numbers = {static_cast<int>(near.shared.back())};
  for (std::size_t l = 0; l < near.groups.levels().size(); ++l) {
    const GroupLevel& level = near.groups.levels()[l];
    numbers.push_back(static_cast<int>(near.shared[l]));
    numbers.push_back(static_cast<int>(level.size()));
    for (const EqualGroups& run : level) {
      numbers.push_back(run.size);
      numbers.push_back(run.count);
    }
  }
  return numbers;
}

EqualNearness unpacked(std::span<const int> numbers) {
  std::size_t at = 0;
  const auto next = [&] { return numbers[at++]; };
  const auto shared_by_node = static_cast<Proximity>(next());
  EqualNearness near{.groups = {}, .shared = {}};
  std::vector<GroupLevel> levels;
  while (at < numbers.size()) {
    near.shared.push_back(static_cast<Proximity>(next()));
    GroupLevel level(static_cast<std::size_t>(next()));
    for (EqualGroups& run : level) {
      run.size = next();
      run.count = next();
    }
    levels.push_back(std::move(level));
  }
  near.groups = Groups(std::move(levels));
  near.shared.push_back(shared_by_node);
  return near;
}

bool are_flat(std::span<const EqualNearness> near) {
  return std::ranges::all_of(near, [](const EqualNearness& run) { return run.groups.is_flat(); });
}

}  // namespace hycoll
