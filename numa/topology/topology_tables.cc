#include "numa/topology/topology_tables.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "core/base/errors.h"

namespace hycoll::internal {
namespace {

/// A core, or a processing unit where hwloc knows no cores (some virtual machines).
int core_depth(hwloc_topology_t topology) {
  const int depth = hwloc_get_type_depth(topology, HWLOC_OBJ_CORE);
  return depth >= 0 ? depth : hwloc_get_type_depth(topology, HWLOC_OBJ_PU);
}

std::vector<hwloc_obj_t> core_objects(hwloc_topology_t topology) {
  std::vector<hwloc_obj_t> objects;
  const int depth = core_depth(topology);
  hwloc_obj_t object = nullptr;
  while ((object = hwloc_get_next_obj_by_depth(topology, depth, object)) != nullptr) {
    if (!hwloc_bitmap_iszero(object->cpuset)) objects.push_back(object);
  }
  return objects;
}

/// The usable memory domain that a core's memory comes from first: the one with the fewest cores
/// around this one, and of several (ordinary and high-bandwidth memory) the one that the system
/// numbers first. A core whose own domain is not allowed (cpuset.mems) takes the first that is.
hwloc_obj_t home_domain(hwloc_topology_t topology, hwloc_obj_t core) {
  const hwloc_const_bitmap_t allowed = hwloc_topology_get_allowed_nodeset(topology);
  hwloc_obj_t home = nullptr;
  hwloc_obj_t first_allowed = nullptr;
  hwloc_obj_t domain = nullptr;
  const auto rank = [](hwloc_obj_t object) {
    return std::pair(hwloc_bitmap_weight(object->cpuset), object->os_index);
  };
  while ((domain = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, domain)) != nullptr) {
    if (!hwloc_bitmap_isset(allowed, domain->os_index)) continue;
    if (first_allowed == nullptr) first_allowed = domain;
    if (!hwloc_bitmap_isincluded(core->cpuset, domain->cpuset)) continue;
    if (home == nullptr || rank(domain) < rank(home)) home = domain;
  }
  return home != nullptr ? home : first_allowed;
}

int os_index_of(hwloc_obj_t object) {
  return object == nullptr || object->os_index == HWLOC_UNKNOWN_INDEX
             ? -1
             : static_cast<int>(object->os_index);
}

hwloc_obj_t last_level_cache(hwloc_obj_t core_object) {
  hwloc_obj_t last = nullptr;
  for (hwloc_obj_t object = core_object; object != nullptr; object = object->parent) {
    if (hwloc_obj_type_is_dcache(object->type)) last = object;
  }
  return last;
}

/// Of numbers and words, one after the other (FNV-1a).
class Fingerprint {
 public:
  void add(std::string_view word) {
    for (const char letter : word) add_byte(static_cast<unsigned char>(letter));
    add_byte(0);
  }
  void add(int number) {
    for (int shift = 0; shift < 32; shift += 8) {
      add_byte(static_cast<unsigned char>(static_cast<unsigned>(number) >> shift));
    }
  }
  std::uint64_t value() const noexcept { return value_; }

 private:
  void add_byte(unsigned char byte) { value_ = (value_ ^ byte) * 1099511628211U; }

  std::uint64_t value_ = 14695981039346656037U;
};

/// numbers[index] = value, with -1 for what nobody has set.
void set_at(std::vector<int>& numbers, int index, int value) {
  const auto at = static_cast<std::size_t>(index);
  if (at >= numbers.size()) numbers.resize(at + 1, -1);
  numbers[at] = value;
}

/// The entry of `objects` for this object, added at the end if it is new.
int index_of(std::vector<hwloc_obj_t>& objects, hwloc_obj_t object) {
  const auto found = std::find(objects.begin(), objects.end(), object);
  if (found != objects.end()) return static_cast<int>(found - objects.begin());
  objects.push_back(object);
  return static_cast<int>(objects.size()) - 1;
}

/// Fills the tables core by core, so every entry of the other tables has a core.
class Reader {
 public:
  explicit Reader(TopologyHandle topology) : topology_(topology.get()) {
    tables_.handle = std::move(topology);
    tables_.is_this_machine = hwloc_topology_is_thissystem(topology_) != 0;
  }

  TopologyTables read() {
    for (hwloc_obj_t object : core_objects(topology_)) read_core(object);
    if (tables_.cores.empty()) {
      throw Error(ErrorKind::environment,
                  "hwloc shows no processing unit; check that `lstopo` works here");
    }
    for (NumaDomain& domain : tables_.numa_domains) {
      domain.package = tables_.cores[static_cast<std::size_t>(domain.cores.front())].package;
      for (int core : domain.cores) {
        if (tables_.cores[static_cast<std::size_t>(core)].package != domain.package)
          domain.package = -1;
      }
    }
    read_distances();
    const int core_count = static_cast<int>(tables_.cores.size());
    tables_.limits = {core_count, core_count, core_count, tables_.affinity.count(), std::nullopt};
    tables_.machine = describe_machine(topology_);
    return std::move(tables_);
  }

 private:
  void read_core(hwloc_obj_t object) {
    const int index = static_cast<int>(tables_.cores.size());
    const AffinityMask mask = to_mask(object->cpuset);
    tables_.processing_units.push_back(mask.processing_units());
    tables_.affinity = tables_.affinity | mask;
    const int os_index = tables_.processing_units.back().front();
    const int package = read_package(object, index);
    const int domain = read_domain(object, index);
    tables_.cores.push_back({index, os_index, package, domain, read_caches(object, index)});
  }

  int read_package(hwloc_obj_t core_object, int core) {
    const hwloc_obj_t object =
        hwloc_get_ancestor_obj_by_type(topology_, HWLOC_OBJ_PACKAGE, core_object);
    const int index = index_of(packages_, object);
    if (static_cast<std::size_t>(index) == tables_.packages.size()) {
      const char* model =
          object == nullptr ? nullptr : hwloc_obj_get_info_by_name(object, "CPUModel");
      tables_.packages.push_back({index, os_index_of(object), model == nullptr ? "" : model, {}});
    }
    tables_.packages[static_cast<std::size_t>(index)].cores.push_back(core);
    return index;
  }

  int read_domain(hwloc_obj_t core_object, int core) {
    const hwloc_obj_t object = home_domain(topology_, core_object);
    if (object == nullptr) {
      throw Error(
          ErrorKind::environment,
          "hwloc shows no memory domain that this process may use; check the control group's "
          "cpuset.mems");
    }
    const int index = index_of(domains_, object);
    if (static_cast<std::size_t>(index) == tables_.numa_domains.size()) {
      tables_.numa_domains.push_back(
          {index, os_index_of(object), -1, object->attr->numanode.local_memory, {}});
    }
    tables_.numa_domains[static_cast<std::size_t>(index)].cores.push_back(core);
    return index;
  }

  /// Returns the index of the last-level cache, or -1.
  int read_caches(hwloc_obj_t core_object, int core) {
    int last_level = -1;
    for (hwloc_obj_t object = core_object; object != nullptr; object = object->parent) {
      if (!hwloc_obj_type_is_dcache(object->type)) continue;
      last_level = index_of(caches_, object);
      if (static_cast<std::size_t>(last_level) == tables_.caches.size()) {
        const auto& cache = object->attr->cache;
        tables_.caches.push_back(
            {last_level, static_cast<int>(cache.depth), cache.size, cache.linesize, {}});
      }
      tables_.caches[static_cast<std::size_t>(last_level)].cores.push_back(core);
    }
    return last_level;
  }

  void read_distances() {
    unsigned count = 1;
    hwloc_distances_s* matrix = nullptr;
    if (hwloc_distances_get_by_type(topology_, HWLOC_OBJ_NUMANODE, &count, &matrix,
                                    HWLOC_DISTANCES_KIND_MEANS_LATENCY, 0) != 0 ||
        count == 0) {
      return;
    }
    copy_distances(*matrix);
    hwloc_distances_release(topology_, matrix);
  }

  void copy_distances(const hwloc_distances_s& matrix) {
    const std::size_t domain_count = domains_.size();
    std::vector<std::size_t> rows;
    for (hwloc_obj_t domain : domains_) {
      const auto end = matrix.objs + matrix.nbobjs;
      const auto found = std::find(matrix.objs, end, domain);
      if (found == end) return;  // a matrix of other domains
      rows.push_back(static_cast<std::size_t>(found - matrix.objs));
    }
    tables_.distances.resize(domain_count * domain_count);
    for (std::size_t from = 0; from < domain_count; ++from) {
      for (std::size_t to = 0; to < domain_count; ++to) {
        tables_.distances[from * domain_count + to] =
            matrix.values[rows[from] * matrix.nbobjs + rows[to]];
      }
    }
  }

  hwloc_topology_t topology_;
  TopologyTables tables_{};
  // Entry i is the object behind entry i of the table of the same name; a null package stands for
  // none known.
  std::vector<hwloc_obj_t> packages_;
  std::vector<hwloc_obj_t> domains_;
  std::vector<hwloc_obj_t> caches_;
};

}  // namespace

TopologyTables read_tables(TopologyHandle topology) { return Reader(std::move(topology)).read(); }

int count_cores(hwloc_topology_t topology, const AffinityMask& mask) {
  const Bitmap set = to_bitmap(mask);
  const std::vector<hwloc_obj_t> objects = core_objects(topology);
  return static_cast<int>(std::count_if(objects.begin(), objects.end(), [&](hwloc_obj_t object) {
    return hwloc_bitmap_intersects(object->cpuset, set.get()) != 0;
  }));
}

WholeMachine describe_machine(hwloc_topology_t topology) {
  WholeMachine machine{};
  Fingerprint fingerprint;
  for (hwloc_obj_t object : core_objects(topology)) {
    const std::vector<int> units = to_mask(object->cpuset).processing_units();
    const hwloc_obj_t cache = last_level_cache(object);
    const int cache_number = cache == nullptr ? -1 : hwloc_bitmap_first(cache->cpuset);
    const hwloc_obj_t package = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_PACKAGE, object);
    const char* model =
        package == nullptr ? nullptr : hwloc_obj_get_info_by_name(package, "CPUModel");
    fingerprint.add(model == nullptr ? "" : model);
    fingerprint.add(os_index_of(package));
    fingerprint.add(os_index_of(home_domain(topology, object)));
    for (const int unit : units) {
      set_at(machine.cores, unit, units.front());
      set_at(machine.caches, unit, cache_number);
      fingerprint.add(unit);
      fingerprint.add(units.front());
      fingerprint.add(cache_number);
    }
  }
  machine.fingerprint = fingerprint.value();
  return machine;
}

}  // namespace hycoll::internal
