#include "numa/placement/placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "core/base/errors.h"

namespace hycoll {
namespace {

using Indices = std::vector<std::size_t>;

struct NamedPlacement {
  Placement placement;
  std::string_view name;
};
constexpr NamedPlacement kPlacements[] = {
    {Placement::compact, "compact"},
    {Placement::spread, "spread"},
    {Placement::one_per_package, "one_per_package"},
};

void check_positive(const char* argument, int value) {
  if (value < 1) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("{} is {}: expected 1 or more", argument, value));
  }
}

/// In one layer each core occurs at most once; a layer is used up before the next one is begun.
using Layers = std::vector<Indices>;

/// The k-th place on the same core is in layer k.
Layers layers_by_core(std::span<const Core> places) {
  std::map<int, std::size_t> places_on_core;
  Layers layers;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::size_t layer = places_on_core[places[i].index]++;
    if (layer == layers.size()) layers.emplace_back();
    layers[layer].push_back(i);
  }
  return layers;
}

void sort_compactly(std::span<const Core> places, Indices& layer) {
  const auto key = [&](std::size_t i) {
    const Core& core = places[i];
    return std::tuple(core.numa_domain, core.package, core.last_level_cache, core.index);
  };
  std::stable_sort(layer.begin(), layer.end(),
                   [&](std::size_t left, std::size_t right) { return key(left) < key(right); });
}

Indices concatenated(const Layers& layers) {
  Indices all;
  for (const Indices& layer : layers) all.insert(all.end(), layer.begin(), layer.end());
  return all;
}

/// The first of each group in turn, then the second of each, until all are dealt.
Indices dealt(const std::vector<Indices>& groups) {
  Indices order;
  bool any_left = true;
  for (std::size_t round = 0; any_left; ++round) {
    any_left = false;
    for (const Indices& group : groups) {
      if (round >= group.size()) continue;
      order.push_back(group[round]);
      any_left = true;
    }
  }
  return order;
}

/// Splits `chosen` by a key of Core. Groups of different packages alternate: the first group of
/// each package, then the second of each; within that, ascending. The order within a group stays.
template <typename KeyOf>
std::vector<Indices> groups_by(std::span<const Core> places, const Indices& chosen, KeyOf key_of) {
  std::map<decltype(key_of(places.front())), Indices> group_of_key;
  for (std::size_t i : chosen) group_of_key[key_of(places[i])].push_back(i);
  std::map<int, int> groups_of_package;
  std::map<std::pair<int, int>, Indices> ordered;
  for (auto& [key, group] : group_of_key) {
    const int package = places[group.front()].package;
    ordered[{groups_of_package[package]++, package}] = std::move(group);
  }
  std::vector<Indices> groups;
  for (auto& [rank, group] : ordered) groups.push_back(std::move(group));
  return groups;
}

Indices spread_layer(std::span<const Core> places, const Indices& layer) {
  const auto domain_of_core = [](const Core& core) { return core.numa_domain; };
  // A domain may span packages whose caches are not known.
  const auto cache_of_core = [](const Core& core) {
    return std::pair(core.package, core.last_level_cache);
  };
  std::vector<Indices> domains = groups_by(places, layer, domain_of_core);
  for (Indices& domain : domains) domain = dealt(groups_by(places, domain, cache_of_core));
  return dealt(domains);
}

Indices first_of_each_package(std::span<const Core> places, const Indices& layer) {
  std::map<int, std::size_t> first_of_package;
  for (std::size_t i : layer) {
    const auto [entry, is_new] = first_of_package.try_emplace(places[i].package, i);
    if (!is_new && places[i].index < places[entry->second].index) entry->second = i;
  }
  Indices firsts;
  for (const auto& [package, first] : first_of_package) firsts.push_back(first);
  return firsts;
}

/// The places in the order in which the placement takes them.
Indices order_of(std::span<const Core> places, Layers layers, Placement placement) {
  for (Indices& layer : layers) sort_compactly(places, layer);
  if (placement == Placement::one_per_package) return first_of_each_package(places, layers.front());
  if (placement == Placement::spread) {
    for (Indices& layer : layers) layer = spread_layer(places, layer);
  }
  return concatenated(layers);
}

void check_one_per_package(const char* argument, int count, const Indices& order) {
  const int package_count = static_cast<int>(order.size());
  if (count <= package_count) return;
  throw Error(
      ErrorKind::unsupported,
      fmt::format(
          "{} is {} with placement one_per_package, but there {} {} package{} to use: ask for "
          "at most {}, or use placement spread",
          argument, count, package_count == 1 ? "is" : "are", package_count,
          package_count == 1 ? "" : "s", package_count));
}

struct LayeredPlaces {
  std::vector<Core> places;
  Layers layers;
};

/// Every core once on its first processing unit, then those that have one on the next, and from the
/// start again until there are `count` places or more: a layer for each.
LayeredPlaces worker_places(const Topology& topology, std::size_t count) {
  LayeredPlaces result;
  std::size_t unit = 0;
  while (result.places.size() < count) {
    Indices layer;
    for (Core core : topology.cores()) {
      const std::span<const int> units = topology.processing_units(core.index);
      if (unit >= units.size()) continue;
      core.os_index = units[unit];
      layer.push_back(result.places.size());
      result.places.push_back(core);
    }
    unit = layer.empty() ? 0 : unit + 1;
    if (!layer.empty()) result.layers.push_back(std::move(layer));
  }
  return result;
}

}  // namespace

std::string_view placement_name(Placement placement) {
  for (const NamedPlacement& named : kPlacements) {
    if (named.placement == placement) return named.name;
  }
  throw Error(ErrorKind::invalid_argument,
              fmt::format("placement is {}: expected a value of the enumeration",
                          static_cast<int>(placement)));
}

Placement parse_placement(std::string_view name) {
  std::string names;
  for (const NamedPlacement& named : kPlacements) {
    if (named.name == name) return named.placement;
    names += (names.empty() ? "" : ", ") + std::string(named.name);
  }
  throw Error(ErrorKind::invalid_argument,
              fmt::format("placement is \"{}\": expected one of {}", name, names));
}

std::vector<Core> place_workers(const Topology& topology, int worker_count, Placement placement) {
  check_positive("worker_count", worker_count);
  const std::size_t count = static_cast<std::size_t>(worker_count);
  const auto [places, layers] = worker_places(topology, count);
  Indices order = order_of(places, layers, placement);
  if (placement == Placement::one_per_package) {
    check_one_per_package("worker_count", worker_count, order);
  }
  order.resize(count);
  std::vector<Core> workers;
  for (std::size_t i : order) workers.push_back(places[i]);
  std::stable_sort(workers.begin(), workers.end(), [](const Core& left, const Core& right) {
    return std::tuple(left.index, left.os_index) < std::tuple(right.index, right.os_index);
  });
  return workers;
}

std::vector<int> leading_order(std::span<const Core> workers, Placement placement) {
  if (workers.empty()) {
    throw Error(ErrorKind::invalid_argument,
                "workers is empty: expected the core of each of at least one worker");
  }
  std::vector<int> leaders;
  std::vector<bool> leads(workers.size(), false);
  for (const std::size_t i : order_of(workers, layers_by_core(workers), placement)) {
    leaders.push_back(static_cast<int>(i));
    leads[i] = true;
  }
  for (std::size_t i = 0; i < workers.size(); ++i) {
    if (!leads[i]) leaders.push_back(static_cast<int>(i));
  }
  return leaders;
}

std::vector<int> lane_workers(std::span<const Core> workers, int lane_count, Placement placement) {
  check_positive("lane_count", lane_count);
  const std::vector<int> order = leading_order(workers, placement);
  if (placement == Placement::one_per_package) {
    check_one_per_package("lane_count", lane_count,
                          first_of_each_package(workers, layers_by_core(workers).front()));
  }
  std::vector<int> driver_of_lane;
  for (std::size_t lane = 0; lane < static_cast<std::size_t>(lane_count); ++lane) {
    driver_of_lane.push_back(order[lane % order.size()]);
  }
  return driver_of_lane;
}

}  // namespace hycoll
