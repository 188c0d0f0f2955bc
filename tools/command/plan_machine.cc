#include "tools/command/plan_machine.h"

#include <fmt/format.h>

#include <array>

#include "collectives/job/worker_groups.h"
#include "collectives/node/leaders.h"
#include "core/base/errors.h"
#include "numa/topology/neighbourhoods.h"

namespace hycoll::command {
namespace {

/// A core without a shared cache has one of its own.
WorkerPlace drawn_place_of(const Core& core) {
  return {.cache = core.last_level_cache >= 0 ? core.last_level_cache : -1 - core.index,
          .domain = core.numa_domain,
          .package = core.package};
}

}  // namespace

PlanMachine::PlanMachine(const std::string& description, int worker_count) {
  const Topology topology = Topology::synthetic(description);
  if (worker_count > topology.core_count()) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("--topology '{}' has {} cores for {} workers on a node; describe a "
                            "larger machine, or give fewer --members",
                            description, topology.core_count(), worker_count));
  }
  std::vector<CorePlace> places;
  for (const Core& core : topology.cores().first(static_cast<std::size_t>(worker_count))) {
    cores_.push_back(core);
    places_.push_back(drawn_place_of(core));
    places.push_back(place_of(core));
  }
  near_ = groups_of_places(places);
}

std::vector<int> PlanMachine::leaders(int lane_count, Placement placement) const {
  return leaders_of(cores_, lane_count, placement);
}

LineTransfers PlanMachine::transfers(const Schedule& schedule, const Partition& partition,
                                     std::size_t element_bytes) const {
  return count_line_transfers(schedule, partition, element_bytes, places_);
}

std::vector<std::pair<std::string, std::string>> transfer_facts(const LineTransfers& transfers) {
  const auto [cache, domain, package] = transfers.crossings;
  const auto [cache_chain, domain_chain, package_chain] = transfers.critical_crossings;
  const auto& bytes = transfers.bytes;
  const auto [core_ns, cache_ns, domain_ns, package_ns, machine_ns] = kPublishedTimes.latency;
  return {
      {"cache lines",
       fmt::format("{} pass between workers: {} within caches, {} within domains, {} within "
                   "packages, {} between packages",
                   transfers.count, transfers.count - cache, cache - domain, domain - package,
                   package)},
      {"one after another",
       fmt::format("{} of them; {} leave a cache, {} a domain, {} a package", transfers.critical,
                   cache_chain, domain_chain, package_chain)},
      {"across at most", fmt::format("{} B of a cache, {} B of a domain, {} B of a package, in or "
                                     "out",
                                     bytes[0], bytes[1], bytes[2])},
      {"priced",
       fmt::format("{:.2f} us, with {:g}, {:g}, {:g} and {:g} ns by distance, a tenth "
                   "for further lines",
                   transfers.nanoseconds / 1000, cache_ns, domain_ns, package_ns, machine_ns)}};
}

void add_to(Json& record, const std::optional<LineTransfers>& transfers) {
  const auto if_counted = [&](const auto& value_of) {
    return transfers ? Json(value_of(*transfers)) : Json();
  };
  record["line_transfers"] = if_counted([](const LineTransfers& t) { return t.count; });
  record["line_transfers_critical"] = if_counted([](const LineTransfers& t) { return t.critical; });
  constexpr std::array kBoundaries = {"cache", "domain", "package"};
  for (std::size_t b = 0; b < kBoundaries.size(); ++b) {
    const std::string name = kBoundaries[b];
    record[name + "_crossings"] =
        if_counted([b](const LineTransfers& t) { return t.crossings[b]; });
    record[name + "_crossings_critical"] =
        if_counted([b](const LineTransfers& t) { return t.critical_crossings[b]; });
    record[name + "_bytes"] = if_counted([b](const LineTransfers& t) { return t.bytes[b]; });
  }
  record["line_transfers_ns"] = if_counted([](const LineTransfers& t) { return t.nanoseconds; });
}

}  // namespace hycoll::command
