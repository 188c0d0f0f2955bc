#include "threading/latency/core_latencies.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "core/base/errors.h"
#include "core/base/lifetime.h"
#include "numa/topology/neighbourhoods.h"
#include "threading/latency/core_handoff.h"

namespace hycoll {
namespace {

/// Two cores may be neighbours in a mesh, or far from one another: a few pairs are looked at.
constexpr std::size_t kPairs = 2;
constexpr HandoffRounds kRounds{.batches = 5, .round_trips_per_batch = 40};
constexpr std::chrono::milliseconds kPatience{2};

[[noreturn]] void refuse(std::string_view text) {
  throw Error(
      ErrorKind::invalid_argument,
      fmt::format("Options::latencies (HYCOLL_LATENCIES) is '{}': expected measure, "
                  "published, or nanoseconds from core to core on the same core, cache, NUMA "
                  "domain and package, and between packages, as in 10,25,80,110,200; correct "
                  "or unset it",
                  text));
}

/// The hardware threads of a core: two of them, if it has several.
std::optional<CorePair> siblings(const Topology& topology, const Core& core) {
  const std::span<const int> units = topology.processing_units(core.index);
  if (units.size() < 2) return std::nullopt;
  CorePair pair{core, core};
  pair.b.os_index = units[1];
  return pair;
}

/// The median of the pairs' least times; none if there are no such cores, or if they were busy.
std::optional<double> measured(const Topology& topology, Proximity proximity) {
  std::vector<double> least_ns;
  for (const CorePair& pair : core_pairs(topology, proximity)) {
    const std::vector<double> batches =
        measure_core_handoff(topology, pair.a, pair.b, kRounds, kPatience);
    if (!batches.empty()) least_ns.push_back(std::ranges::min(batches));
  }
  if (least_ns.empty()) return std::nullopt;
  const auto middle = least_ns.begin() + static_cast<std::ptrdiff_t>(least_ns.size() / 2);
  std::ranges::nth_element(least_ns, middle);
  return *middle;
}

/// Measures what is missing; what cannot be measured stays so.
void complete(const Topology& topology, MeasuredLatencies& latencies) {
  try {
    for (std::size_t p = 0; p < kProximityCount; ++p) {
      if (!latencies[p]) latencies[p] = measured(topology, static_cast<Proximity>(p));
    }
  } catch (const Error&) {
    // Threads may not be bound here.
  }
}

/// What this process has found, by machine, cores and where it is kept.
class KnownLatencies {
 public:
  MeasuredLatencies of(const Topology& topology, const std::filesystem::path& file,
                       bool may_measure, bool anew) {
    const std::lock_guard lock(mutex_);
    const Key key{file, topology.machine_fingerprint(), topology.affinity().words(), anew};
    const auto found = known_.find(key);
    if (found != known_.end()) return found->second;
    const MeasuredLatencies kept = anew ? MeasuredLatencies{} : read_latencies(file);
    if (!may_measure) return kept;
    MeasuredLatencies latencies = kept;
    complete(topology, latencies);
    if (latencies != kept) write_latencies(file, latencies);
    return known_[key] = latencies;
  }

 private:
  using Key = std::tuple<std::filesystem::path, std::uint64_t, std::vector<std::uint64_t>, bool>;
  std::mutex mutex_;
  std::map<Key, MeasuredLatencies> known_;  // guarded by mutex_
};

}  // namespace

std::vector<CorePair> core_pairs(const Topology& topology, Proximity proximity) {
  std::vector<CorePair> pairs;
  const std::span<const Core> cores = topology.cores();
  for (const Core& core : cores) {
    if (pairs.size() == kPairs) break;
    if (proximity == Proximity::core) {
      if (const auto pair = siblings(topology, core)) pairs.push_back(*pair);
      continue;
    }
    const auto is_so_near = [&](const Core& other) {
      return proximity_of(place_of(core), place_of(other)) == proximity;
    };
    const auto after = cores.subspan(static_cast<std::size_t>(core.index) + 1);
    const auto last = std::find_if(after.rbegin(), after.rend(), is_so_near);
    if (last != after.rend()) pairs.push_back({core, *last});
  }
  return pairs;
}

LatencyRequest parse_latency_request(std::string_view text) {
  if (text.empty()) return {};
  if (text == "measure") return {.source = LatencyRequest::Source::measured};
  if (text == "published") return {.source = LatencyRequest::Source::published};
  LatencyRequest request{.source = LatencyRequest::Source::given};
  std::string_view rest = text;
  for (std::size_t p = 0; p < kProximityCount; ++p) {
    const std::string_view part = rest.substr(0, rest.find(','));
    double& ns = request.given_ns[p];
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), ns);
    const bool is_number = error == std::errc{} && end == part.data() + part.size();
    const bool is_last = p + 1 == kProximityCount;
    if (!is_number || !(ns > 0 && ns <= 1e6) || is_last != (part.size() == rest.size())) {
      refuse(text);
    }
    rest.remove_prefix(is_last ? rest.size() : part.size() + 1);
  }
  return request;
}

CoreLatencies core_latencies(const Topology& topology, bool cores_are_shared,
                             const LatencyRequest& request) {
  using Origin = CoreLatencies::Origin;
  using Source = LatencyRequest::Source;
  CoreLatencies found;
  if (request.source == Source::published) return found;
  if (request.source == Source::given) {
    found.times = TransferTimes::of(request.given_ns);
    found.origins.fill(Origin::given);
    return found;
  }
  static Immortal<KnownLatencies> known;
  found.file = latency_file(topology.machine_fingerprint());
  const bool may_measure = topology.is_this_machine() && !cores_are_shared;
  const MeasuredLatencies latencies =
      known->of(topology, found.file, may_measure, request.source == Source::measured);
  auto ns = kPublishedTimes.latency;
  for (std::size_t p = 0; p < kProximityCount; ++p) {
    if (!latencies[p]) continue;
    ns[p] = *latencies[p];
    found.origins[p] = Origin::measured;
  }
  found.times = TransferTimes::of(ns);
  return found;
}

}  // namespace hycoll
