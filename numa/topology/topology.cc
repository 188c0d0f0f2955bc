#include "numa/topology/topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "core/base/errors.h"
#include "numa/topology/cpu_quota.h"
#include "numa/topology/crowding.h"
#include "numa/topology/openmp_runtime.h"
#include "numa/topology/process_share.h"
#include "numa/topology/topology_tables.h"

namespace hycoll {
namespace {

using internal::TopologyAccess;
using internal::TopologyTables;

AffinityMask cpuset_of(hwloc_topology_t topology) {
  return internal::to_mask(hwloc_topology_get_allowed_cpuset(topology));
}

/// The tables of what `allowed` leaves of this machine's cpuset.
TopologyTables tables_of_this_machine(internal::TopologyHandle machine,
                                      const AffinityMask& allowed) {
  const AffinityMask cpuset = cpuset_of(machine.get());
  const AffinityMask all = internal::to_mask(hwloc_topology_get_topology_cpuset(machine.get()));
  const int machine_cores = internal::count_cores(machine.get(), all);
  const int cpuset_cores = internal::count_cores(machine.get(), cpuset);
  internal::WholeMachine whole = internal::describe_machine(machine.get());
  TopologyTables tables =
      internal::read_tables(internal::restricted(std::move(machine), allowed & cpuset));
  tables.limits.machine_cores = machine_cores;
  tables.limits.cpuset_cores = cpuset_cores;
  if (tables.is_this_machine) tables.limits.quota_cores = cpu_quota_cores();
  tables.machine = std::move(whole);
  return tables;
}

std::size_t checked_index(const char* argument, int index, std::size_t count) {
  if (index < 0 || static_cast<std::size_t>(index) >= count) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("{} is {}: expected 0 to {}, an index of this topology", argument,
                            index, static_cast<long long>(count) - 1));
  }
  return static_cast<std::size_t>(index);
}

void check_process(int local_process_index, int local_process_count) {
  if (local_process_count < 1 || local_process_index < 0 ||
      local_process_index >= local_process_count) {
    throw Error(
        ErrorKind::invalid_argument,
        fmt::format(
            "local_process_index is {} and local_process_count is {}: expected 0 <= index < "
            "count, the process's place among those of this machine",
            local_process_index, local_process_count));
  }
}

/// The processing units for one of more processes than cores: process i is on core i * cores /
/// processes, and those that share a core take turns on its processing units.
AffinityMask unit_of_crowded_core(const Topology& topology, int process, int process_count) {
  const auto core_of_process = [&](int index) {
    return static_cast<int>(static_cast<std::int64_t>(index) * topology.core_count() /
                            process_count);
  };
  const int core = core_of_process(process);
  int turn = 0;
  while (turn < process && core_of_process(process - turn - 1) == core) ++turn;
  const std::span<const int> units = topology.processing_units(core);
  return AffinityMask{units[static_cast<std::size_t>(turn) % units.size()]};
}

AffinityMask units_of_cores(const Topology& topology, int begin, int end) {
  AffinityMask mask;
  for (int core = begin; core < end; ++core) {
    for (int unit : topology.processing_units(core)) mask.add(unit);
  }
  return mask;
}

/// numbers[index], or -1 beyond them.
int number_at(std::span<const int> numbers, int index) {
  const auto at = static_cast<std::size_t>(index);
  return index >= 0 && at < numbers.size() ? numbers[at] : -1;
}

/// The cores that a process may use, by their numbers in `machine_cores`.
std::vector<int> cores_of(const AffinityMask& mask, std::span<const int> machine_cores) {
  std::vector<int> cores;
  for (const int unit : mask.processing_units()) {
    const int core = number_at(machine_cores, unit);
    if (core >= 0) cores.push_back(core);
  }
  std::ranges::sort(cores);
  cores.erase(std::unique(cores.begin(), cores.end()), cores.end());
  return cores;
}

std::optional<double> divided(std::optional<double> quota_cores, int process_count) {
  if (!quota_cores) return std::nullopt;
  return *quota_cores / process_count;
}

std::string counted(std::size_t count, const char* singular, const char* plural) {
  return fmt::format("{} {}", count, count == 1 ? singular : plural);
}

/// "L3 32 MiB x 4", over the caches of the highest level; "" without caches.
std::string last_level_text(std::span<const Cache> caches) {
  int level = 0;
  for (const Cache& cache : caches) level = std::max(level, cache.level);
  std::map<std::uint64_t, int> count_of_size;
  for (const Cache& cache : caches) {
    if (cache.level == level) ++count_of_size[cache.size_bytes];
  }
  std::string text;
  for (const auto& [size_bytes, count] : count_of_size) {
    text += fmt::format(", L{} {}{}", level,
                        size_bytes == 0 ? "of unknown size" : size_text(size_bytes),
                        count == 1 ? "" : fmt::format(" x {}", count));
  }
  return text;
}

}  // namespace

Topology::Topology(std::shared_ptr<const TopologyTables> tables) : tables_(std::move(tables)) {}

Topology Topology::this_machine() {
  internal::TopologyHandle machine = internal::this_machine();
  // A described machine (HWLOC_SYNTHETIC) is not confined by this one's masks.
  AffinityMask allowed;
  if (hwloc_topology_is_thissystem(machine.get()) != 0) {
    allowed = internal::process_affinity(machine.get());
    if (!allowed.empty()) allowed = allowed | openmp_places();
  }
  if (allowed.empty()) allowed = cpuset_of(machine.get());
  if (!allowed.intersects(cpuset_of(machine.get()))) {
    throw Error(
        ErrorKind::environment,
        fmt::format(
            "this process may run on processing units {}, of which hwloc shows none as allowed "
            "({}); check the control group's cpuset and `lstopo`",
            allowed.to_string(), cpuset_of(machine.get()).to_string()));
  }
  return TopologyAccess::make(tables_of_this_machine(std::move(machine), allowed));
}

Topology Topology::this_machine(const AffinityMask& allowed) {
  internal::TopologyHandle machine = internal::this_machine();
  if (!allowed.intersects(cpuset_of(machine.get()))) {
    throw Error(
        ErrorKind::invalid_argument,
        fmt::format(
            "allowed is \"{}\": expected some of the processing units {} that this process's "
            "cpuset allows",
            allowed.to_string(), cpuset_of(machine.get()).to_string()));
  }
  return TopologyAccess::make(tables_of_this_machine(std::move(machine), allowed));
}

Topology Topology::synthetic(const std::string& description) {
  return TopologyAccess::make(internal::read_tables(internal::load_synthetic(description)));
}

Topology Topology::from_xml_file(const std::string& path) {
  return TopologyAccess::make(internal::read_tables(internal::load_xml_file(path)));
}

bool Topology::is_this_machine() const { return tables_->is_this_machine; }
std::span<const Package> Topology::packages() const { return tables_->packages; }
std::span<const NumaDomain> Topology::numa_domains() const { return tables_->numa_domains; }
std::span<const Core> Topology::cores() const { return tables_->cores; }
std::span<const Cache> Topology::caches() const { return tables_->caches; }
int Topology::core_count() const { return static_cast<int>(tables_->cores.size()); }
const CoreLimits& Topology::limits() const { return tables_->limits; }
const AffinityMask& Topology::affinity() const { return tables_->affinity; }

std::span<const int> Topology::processing_units(int core_index) const {
  return tables_->processing_units[checked_index("core_index", core_index, tables_->cores.size())];
}

std::optional<int> Topology::core_of(int processing_unit_os_index) const {
  for (std::size_t core = 0; core < tables_->processing_units.size(); ++core) {
    const std::vector<int>& units = tables_->processing_units[core];
    if (std::find(units.begin(), units.end(), processing_unit_os_index) != units.end()) {
      return static_cast<int>(core);
    }
  }
  return std::nullopt;
}

int Topology::machine_core_of(int processing_unit_os_index) const {
  return number_at(tables_->machine.cores, processing_unit_os_index);
}

int Topology::machine_cache_of(int processing_unit_os_index) const {
  return number_at(tables_->machine.caches, processing_unit_os_index);
}

std::uint64_t Topology::machine_fingerprint() const { return tables_->machine.fingerprint; }

std::uint64_t Topology::cache_size_bytes(int core_index, int level) const {
  checked_index("core_index", core_index, tables_->cores.size());
  for (const Cache& cache : tables_->caches) {
    if (cache.level == level &&
        std::binary_search(cache.cores.begin(), cache.cores.end(), core_index)) {
      return cache.size_bytes;
    }
  }
  return 0;
}

std::optional<std::uint64_t> Topology::distance(int from_domain, int to_domain) const {
  const std::size_t count = tables_->numa_domains.size();
  const std::size_t from = checked_index("from_domain", from_domain, count);
  const std::size_t to = checked_index("to_domain", to_domain, count);
  if (tables_->distances.empty()) return std::nullopt;
  return tables_->distances[from * count + to];
}

int Topology::usable_core_count() const {
  if (!tables_->limits.quota_cores) return core_count();
  // The quota is capped first: a large one does not fit an int.
  const double quota = std::min(*tables_->limits.quota_cores, static_cast<double>(core_count()));
  return std::max(1, static_cast<int>(std::floor(quota)));
}

Topology Topology::restricted_to(const AffinityMask& mask) const {
  const AffinityMask rest = mask & affinity();
  if (rest.empty()) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("mask is \"{}\": expected some of this topology's processing units {}",
                            mask.to_string(), affinity().to_string()));
  }
  if (rest == affinity()) return *this;
  TopologyTables tables =
      internal::read_tables(internal::restricted(internal::duplicate(tables_->handle.get()), rest));
  tables.limits = tables_->limits;
  tables.machine = tables_->machine;
  return TopologyAccess::make(std::move(tables));
}

Topology Topology::with_quota(std::optional<double> quota_cores) const {
  if (quota_cores && !(*quota_cores > 0)) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("quota_cores is {}: expected more than 0, or std::nullopt for no quota",
                            *quota_cores));
  }
  TopologyTables tables = *tables_;
  tables.limits.quota_cores = quota_cores;
  return TopologyAccess::make(std::move(tables));
}

Topology Topology::share_of_cores(int process_index, int process_count) const {
  if (process_count > core_count()) {
    return restricted_to(unit_of_crowded_core(*this, process_index, process_count));
  }
  const std::vector<int> cuts = internal::cut_among_processes(cores(), process_count);
  const std::size_t range = static_cast<std::size_t>(process_index);
  return restricted_to(units_of_cores(*this, cuts[range], cuts[range + 1]));
}

Topology Topology::share(int local_process_index, int local_process_count,
                         LauncherBinding binding) const {
  check_process(local_process_index, local_process_count);
  const Topology own_quota = with_quota(divided(limits().quota_cores, local_process_count));
  if (binding == LauncherBinding::disjoint) return own_quota;
  return own_quota.share_of_cores(local_process_index, local_process_count);
}

Topology Topology::share(std::span<const AffinityMask> local_masks, int local_process_index) const {
  const int process_count = static_cast<int>(local_masks.size());
  check_process(local_process_index, process_count);
  const AffinityMask& mine = local_masks[static_cast<std::size_t>(local_process_index)];
  if (mine != affinity()) {
    throw Error(
        ErrorKind::invalid_argument,
        fmt::format("local_masks[{}] is \"{}\": expected this topology's own affinity() \"{}\"",
                    local_process_index, mine.to_string(), affinity().to_string()));
  }
  const auto own = local_masks.begin() + local_process_index;
  const auto index_in_group = std::count(local_masks.begin(), own, mine);
  const auto group_size = std::count(local_masks.begin(), local_masks.end(), mine);
  return with_quota(divided(limits().quota_cores, process_count))
      .share_of_cores(static_cast<int>(index_in_group), static_cast<int>(group_size));
}

bool Topology::has_contended_cores(std::span<const AffinityMask> local_masks,
                                   int local_process_index) const {
  const int process_count = static_cast<int>(local_masks.size());
  check_process(local_process_index, process_count);
  const std::optional<double> quota_cores = limits().quota_cores;
  if (quota_cores && process_count > std::max(1.0, std::floor(*quota_cores))) return true;
  std::vector<std::vector<int>> cores;
  for (const AffinityMask& mask : local_masks) {
    cores.push_back(cores_of(mask, tables_->machine.cores));
  }
  return internal::crowded_processes(cores)[static_cast<std::size_t>(local_process_index)];
}

std::string Topology::summary() const {
  const auto [fewest, most] = std::minmax_element(
      tables_->processing_units.begin(), tables_->processing_units.end(),
      [](const auto& left, const auto& right) { return left.size() < right.size(); });
  const std::string threads =
      most->size() == 1 ? ""
      : fewest->size() == most->size()
          ? fmt::format(" with {} hardware threads each", most->size())
          : fmt::format(" with {} to {} hardware threads", fewest->size(), most->size());
  std::uint64_t memory_bytes = 0;
  for (const NumaDomain& domain : tables_->numa_domains) memory_bytes += domain.memory_bytes;
  return fmt::format("{}, {}, {}{}{}{}", counted(tables_->packages.size(), "package", "packages"),
                     counted(tables_->numa_domains.size(), "NUMA domain", "NUMA domains"),
                     counted(tables_->cores.size(), "core", "cores"), threads,
                     last_level_text(tables_->caches),
                     memory_bytes == 0 ? "" : ", " + size_text(memory_bytes) + " memory");
}

std::string size_text(std::uint64_t size_bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(size_bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  const double tenths = std::round(value * 10) / 10;
  return fmt::format("{} {}", tenths, kUnits[unit]);
}

}  // namespace hycoll
