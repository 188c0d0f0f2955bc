#include "numa/topology/topology.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <hwloc.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "core/base/errors.h"
#include "numa/placement/binding.h"
#include "tests/numa/topology_samples.h"

namespace hycoll {
namespace topology_test {

using testing::NamedTopology;

/// That `groups` (packages, domains) divide the cores into neighbours, and that `member` names the
/// group.
template <typename Group>
void check_division(const Topology& topology, std::span<const Group> groups, int Core::*member) {
  std::vector<int> all;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    CHECK(groups[i].index == static_cast<int>(i));
    REQUIRE_FALSE(groups[i].cores.empty());
    for (int core : groups[i].cores) {
      REQUIRE(core >= 0);
      REQUIRE(core < topology.core_count());
      CHECK(topology.cores()[static_cast<std::size_t>(core)].*member == static_cast<int>(i));
      all.push_back(core);
    }
  }
  REQUIRE(all.size() == topology.cores().size());
  for (std::size_t i = 0; i < all.size(); ++i) CHECK(all[i] == static_cast<int>(i));
}

void check_caches(const Topology& topology) {
  for (std::size_t i = 0; i < topology.caches().size(); ++i) {
    const Cache& cache = topology.caches()[i];
    CHECK(cache.index == static_cast<int>(i));
    CHECK(cache.level >= 1);
    CHECK(std::is_sorted(cache.cores.begin(), cache.cores.end()));
    for (int core : cache.cores) {
      CHECK(topology.cache_size_bytes(core, cache.level) == cache.size_bytes);
      const int last = topology.cores()[static_cast<std::size_t>(core)].last_level_cache;
      REQUIRE(last >= 0);
      CHECK(topology.caches()[static_cast<std::size_t>(last)].level >= cache.level);
    }
  }
  for (const Core& core : topology.cores()) {
    if (core.last_level_cache < 0) continue;
    const Cache& cache = topology.caches()[static_cast<std::size_t>(core.last_level_cache)];
    CHECK(std::count(cache.cores.begin(), cache.cores.end(), core.index) == 1);
    CHECK(topology.cache_size_bytes(core.index, cache.level + 1) == 0);
  }
}

void check_consistent(const Topology& topology) {
  check_division(topology, topology.packages(), &Core::package);
  check_division(topology, topology.numa_domains(), &Core::numa_domain);
  check_caches(topology);
  AffinityMask all;
  for (std::size_t i = 0; i < topology.cores().size(); ++i) {
    const Core& core = topology.cores()[i];
    CHECK(core.index == static_cast<int>(i));
    const std::span<const int> units = topology.processing_units(core.index);
    REQUIRE_FALSE(units.empty());
    CHECK(units.front() == core.os_index);
    CHECK(std::is_sorted(units.begin(), units.end()));
    for (int unit : units) {
      CHECK_FALSE(all.contains(unit));
      all.add(unit);
      CHECK(topology.core_of(unit) == core.index);
    }
  }
  CHECK(topology.affinity() == all);
  for (const NumaDomain& domain : topology.numa_domains()) {
    std::set<int> packages;
    for (int core : domain.cores) {
      packages.insert(topology.cores()[static_cast<std::size_t>(core)].package);
    }
    CHECK(domain.package == (packages.size() == 1 ? *packages.begin() : -1));
  }
}

TEST_CASE("every sample is consistent in itself") {
  const std::vector<NamedTopology> samples = testing::sample_topologies();
  REQUIRE(samples.size() > 200);
  for (const NamedTopology& sample : samples) {
    CAPTURE(sample.name);
    check_consistent(sample.topology);
    CHECK_FALSE(sample.topology.is_this_machine());
    CHECK_FALSE(sample.topology.limits().quota_cores.has_value());
    CHECK(sample.topology.usable_core_count() == sample.topology.core_count());
    CHECK(sample.topology.core_of(100000) == std::nullopt);
    CHECK(sample.topology.core_of(-1) == std::nullopt);
  }
}

TEST_CASE("a synthetic machine has what its description says") {
  for (int packages : {1, 2, 5}) {
    for (int domains : {1, 2, 3}) {
      for (int caches : {1, 2}) {
        for (int cores : {1, 2, 7}) {
          for (int units : {1, 2, 4}) {
            const std::string description = fmt::format("pack:{} numa:{} l3:{} core:{} pu:{}",
                                                        packages, domains, caches, cores, units);
            CAPTURE(description);
            const Topology topology = Topology::synthetic(description);
            const int domain_cores = caches * cores;
            CHECK(topology.packages().size() == static_cast<std::size_t>(packages));
            CHECK(topology.numa_domains().size() == static_cast<std::size_t>(packages * domains));
            CHECK(topology.caches().size() ==
                  static_cast<std::size_t>(packages * domains * caches));
            REQUIRE(topology.core_count() == packages * domains * domain_cores);
            for (const Core& core : topology.cores()) {
              CHECK(core.os_index == core.index * units);
              CHECK(core.numa_domain == core.index / domain_cores);
              CHECK(core.package == core.numa_domain / domains);
              CHECK(core.last_level_cache == core.index / cores);
              CHECK(topology.processing_units(core.index).size() ==
                    static_cast<std::size_t>(units));
            }
          }
        }
      }
    }
  }
}

TEST_CASE("the machine of the second paper's kind: two packages of two domains of 14 cores") {
  const Topology topology = Topology::synthetic("pack:2 numa:2 core:14");
  CHECK(topology.core_count() == 56);
  CHECK(topology.packages().size() == 2);
  REQUIRE(topology.numa_domains().size() == 4);
  for (const NumaDomain& domain : topology.numa_domains()) {
    CHECK(domain.cores.size() == 14);
    CHECK(domain.package == domain.index / 2);
    CHECK(domain.memory_bytes > 0);
  }
  CHECK(topology.cores()[28] == Core{28, 28, 1, 2, -1});
  CHECK(topology.distance(0, 3) == std::nullopt);
  CHECK(topology.summary() == "2 packages, 4 NUMA domains, 56 cores, 4 GiB memory");
}

TEST_CASE("cache and memory sizes are bytes") {
  const Topology topology = Topology::synthetic(
      "pack:1 numa:2(memory=3221225472) l3:1(size=31457280) l2:2(size=1048576) l1d:1(size=49152) "
      "core:1 pu:2");
  REQUIRE(topology.core_count() == 4);
  for (int core = 0; core < 4; ++core) {
    CHECK(topology.cache_size_bytes(core, 1) == 49152);
    CHECK(topology.cache_size_bytes(core, 2) == 1048576);
    CHECK(topology.cache_size_bytes(core, 3) == 31457280);
    CHECK(topology.cache_size_bytes(core, 4) == 0);
    CHECK(topology.cache_size_bytes(core, 0) == 0);
  }
  CHECK(topology.numa_domains()[1].memory_bytes == 3221225472);
  CHECK(topology.summary() ==
        "1 package, 2 NUMA domains, 4 cores with 2 hardware threads each, L3 30 MiB x 2, 6 GiB "
        "memory");
}

TEST_CASE("machines that tell less") {
  SUBCASE("no packages: one") {
    const Topology topology = Topology::synthetic("numa:2 core:3");
    REQUIRE(topology.packages().size() == 1);
    CHECK(topology.packages()[0].os_index == -1);
    CHECK(topology.packages()[0].cores.size() == 6);
  }
  SUBCASE("no cores: each processing unit is one") {
    const Topology topology = Topology::synthetic("pack:2 pu:4");
    CHECK(topology.core_count() == 8);
    CHECK(topology.processing_units(5).size() == 1);
  }
  SUBCASE("a domain that spans the packages belongs to none") {
    const Topology topology = Topology::synthetic("numa:1 pack:2 core:4 pu:2");
    REQUIRE(topology.numa_domains().size() == 1);
    CHECK(topology.numa_domains()[0].package == -1);
  }
}

TEST_CASE("of ordinary and high-bandwidth memory the ordinary is the cores' domain") {
  const Topology topology = Topology::synthetic(
      "pack:2 [numa(memory=68719476736)] [numa(memory=17179869184)] core:4 pu:1");
  REQUIRE(topology.numa_domains().size() == 2);
  for (const NumaDomain& domain : topology.numa_domains()) {
    CHECK(domain.memory_bytes == 68719476736);
    CHECK(domain.cores.size() == 4);
  }
}

TEST_CASE("restricted_to keeps exactly the named processing units, and the limits") {
  for (const NamedTopology& sample : testing::sample_topologies()) {
    CAPTURE(sample.name);
    const std::vector<int> units = sample.topology.affinity().processing_units();
    AffinityMask odd{100000};
    for (std::size_t i = 0; i < units.size(); i += 2) odd.add(units[i]);
    const Topology rest = sample.topology.restricted_to(odd);
    check_consistent(rest);
    CHECK(rest.affinity() == (odd & sample.topology.affinity()));
    CHECK(rest.limits().affinity_cores == sample.topology.limits().affinity_cores);
    for (const Core& core : rest.cores()) {
      const auto before = sample.topology.core_of(core.os_index);
      REQUIRE(before.has_value());
      const Core& old = sample.topology.cores()[static_cast<std::size_t>(*before)];
      CHECK(rest.numa_domains()[static_cast<std::size_t>(core.numa_domain)].os_index ==
            sample.topology.numa_domains()[static_cast<std::size_t>(old.numa_domain)].os_index);
      CHECK(rest.packages()[static_cast<std::size_t>(core.package)].os_index ==
            sample.topology.packages()[static_cast<std::size_t>(old.package)].os_index);
    }
  }
}

TEST_CASE("a quota counts whole cores, at least one and no more than there are") {
  const Topology topology = Topology::synthetic("pack:2 core:4 pu:2");
  struct Expected {
    double quota_cores;
    int usable;
  };
  for (const Expected& expected : {Expected{0.01, 1},
                                   {0.99, 1},
                                   {1, 1},
                                   {1.99, 1},
                                   {2, 2},
                                   {7.5, 7},
                                   {8, 8},
                                   {8.5, 8},
                                   {1e30, 8}}) {
    CAPTURE(expected.quota_cores);
    CHECK(topology.with_quota(expected.quota_cores).usable_core_count() == expected.usable);
  }
  CHECK(topology.with_quota(2).with_quota(std::nullopt).usable_core_count() == 8);
  CHECK(topology.with_quota(2).restricted_to(AffinityMask{0}).limits().quota_cores == 2);
  CHECK_THROWS_AS(topology.with_quota(0), Error);
  CHECK_THROWS_AS(topology.with_quota(-1), Error);
}

/// The message of the Error that `call` throws, with its kind; "" if none.
template <typename Call>
std::string error_of(ErrorKind kind, Call call) {
  try {
    call();
  } catch (const Error& error) {
    CHECK(error.kind() == kind);
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("errors name the argument and the value") {
  const Topology topology = Topology::synthetic("core:4");
  constexpr ErrorKind kMisuse = ErrorKind::invalid_argument;
  CHECK(contains(error_of(kMisuse, [] { Topology::synthetic("nonsense"); }), "\"nonsense"));
  CHECK(contains(error_of(kMisuse, [] { Topology::synthetic("pack:0 core:2"); }), "pack:0"));
  CHECK(contains(error_of(kMisuse, [] { Topology::synthetic(""); }), "description"));
  CHECK(contains(error_of(kMisuse, [] { Topology::from_xml_file("no/such/file.xml"); }),
                 "no/such/file"));
  CHECK(contains(error_of(kMisuse, [&] { topology.processing_units(4); }), "core_index is 4"));
  CHECK(contains(error_of(kMisuse, [&] { topology.processing_units(-1); }), "core_index is -1"));
  CHECK(contains(error_of(kMisuse, [&] { topology.cache_size_bytes(9, 1); }), "core_index is 9"));
  CHECK(contains(error_of(kMisuse, [&] { topology.distance(0, 1); }), "to_domain is 1"));
  CHECK(contains(error_of(kMisuse, [&] { topology.restricted_to({}); }), "0-3"));
  CHECK(contains(error_of(kMisuse, [&] { topology.restricted_to({7}); }), "\"7\""));
  CHECK(contains(error_of(kMisuse, [] { Topology::this_machine(AffinityMask{}); }), "allowed is"));
  CHECK(contains(error_of(kMisuse, [] { Topology::this_machine(AffinityMask{1 << 20}); }),
                 "1048576"));
}

/// A file name of its own, removed at the end.
class TemporaryFile {
 public:
  TemporaryFile() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "hycoll_topology_XXXXXX").string();
    const int descriptor = mkstemp(pattern.data());
    REQUIRE(descriptor >= 0);
    close(descriptor);
    path_ = pattern;
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Records a machine with distances 10 + 7 |i - j| and a processor model, as lstopo would.
void record_machine(const std::string& description, const std::string& path) {
  hwloc_topology_t machine = nullptr;
  REQUIRE(hwloc_topology_init(&machine) == 0);
  REQUIRE(hwloc_topology_set_synthetic(machine, description.c_str()) == 0);
  REQUIRE(hwloc_topology_load(machine) == 0);
  std::vector<hwloc_obj_t> domains;
  hwloc_obj_t object = nullptr;
  while ((object = hwloc_get_next_obj_by_type(machine, HWLOC_OBJ_NUMANODE, object)) != nullptr) {
    domains.push_back(object);
  }
  std::vector<hwloc_uint64_t> values;
  for (std::size_t i = 0; i < domains.size(); ++i) {
    for (std::size_t j = 0; j < domains.size(); ++j)
      values.push_back(10 + 7 * (i > j ? i - j : j - i));
  }
  const hwloc_distances_add_handle_t distances = hwloc_distances_add_create(
      machine, "NUMALatency", HWLOC_DISTANCES_KIND_FROM_USER | HWLOC_DISTANCES_KIND_MEANS_LATENCY,
      0);
  REQUIRE(distances != nullptr);
  REQUIRE(hwloc_distances_add_values(machine, distances, static_cast<unsigned>(domains.size()),
                                     domains.data(), values.data(), 0) == 0);
  REQUIRE(hwloc_distances_add_commit(machine, distances, 0) == 0);
  while ((object = hwloc_get_next_obj_by_type(machine, HWLOC_OBJ_PACKAGE, object)) != nullptr) {
    REQUIRE(hwloc_obj_add_info(object, "CPUModel", "Example & Co <9>") == 0);
  }
  REQUIRE(hwloc_topology_export_xml(machine, path.c_str(), 0) == 0);
  hwloc_topology_destroy(machine);
}

TEST_CASE("a recorded machine is the machine that was recorded") {
  for (const std::string description : {"pack:2 numa:2 core:3 pu:2", "pack:1 numa:2 core:1 pu:1",
                                        "pack:2 numa:3 l3:2 core:2 pu:1"}) {
    CAPTURE(description);
    const TemporaryFile file;
    record_machine(description, file.path());
    const Topology original = Topology::synthetic(description);
    const Topology recorded = Topology::from_xml_file(file.path());
    check_consistent(recorded);
    CHECK_FALSE(recorded.is_this_machine());
    REQUIRE(recorded.core_count() == original.core_count());
    for (std::size_t i = 0; i < original.cores().size(); ++i) {
      CHECK(recorded.cores()[i] == original.cores()[i]);
    }
    CHECK(recorded.packages()[0].model == "Example & Co <9>");
    const int domain_count = static_cast<int>(recorded.numa_domains().size());
    for (int from = 0; from < domain_count; ++from) {
      for (int to = 0; to < domain_count; ++to) {
        CHECK(recorded.distance(from, to) ==
              static_cast<std::uint64_t>(10 + 7 * std::abs(from - to)));
      }
    }
  }
}

TEST_CASE("distances follow their domains when others disappear") {
  const TemporaryFile file;
  record_machine("pack:2 numa:3 core:2 pu:1", file.path());
  const Topology machine = Topology::from_xml_file(file.path());
  // Domains 1, 2 and 5 keep one core each.
  const Topology rest = machine.restricted_to({2, 5, 11});
  REQUIRE(rest.numa_domains().size() == 3);
  CHECK(rest.distance(0, 0) == 10);
  CHECK(rest.distance(0, 1) == 17);
  CHECK(rest.distance(0, 2) == 38);
  CHECK(rest.distance(2, 1) == 31);
}

TEST_CASE("a file that is no topology is refused") {
  const TemporaryFile file;
  for (const char* content : {"", "hello", "<?xml version=\"1.0\"?><a/>"}) {
    std::ofstream(file.path()) << content;
    CHECK(contains(
        error_of(ErrorKind::invalid_argument, [&] { Topology::from_xml_file(file.path()); }),
        file.path()));
  }
}

AffinityMask own_mask() {
  cpu_set_t set;
  CPU_ZERO(&set);
  REQUIRE(sched_getaffinity(0, sizeof(set), &set) == 0);
  AffinityMask mask;
  for (int unit = 0; unit < CPU_SETSIZE; ++unit) {
    if (CPU_ISSET(static_cast<std::size_t>(unit), &set)) mask.add(unit);
  }
  return mask;
}

TEST_CASE("this machine: consistent, and exactly what the process may use") {
  const Topology topology = Topology::this_machine();
  check_consistent(topology);
  CHECK(topology.is_this_machine());
  CHECK(topology.affinity() == own_mask());
  const CoreLimits& limits = topology.limits();
  CHECK(limits.affinity_cores == topology.core_count());
  CHECK(limits.affinity_processing_units == topology.affinity().count());
  CHECK(limits.cpuset_cores >= limits.affinity_cores);
  CHECK(limits.machine_cores >= limits.cpuset_cores);
  CHECK(topology.usable_core_count() >= 1);
  CHECK(topology.usable_core_count() <= topology.core_count());
  for (const NumaDomain& domain : topology.numa_domains()) CHECK(domain.memory_bytes > 0);
  MESSAGE(topology.summary());
}

TEST_CASE("this machine, to a process that is confined to each processing unit in turn") {
  const Topology whole = Topology::this_machine();
  for (int unit : whole.affinity().processing_units()) {
    CAPTURE(unit);
    CHECK(testing::holds_in_confined_child(AffinityMask{unit}, [](const AffinityMask& mask) {
      const Topology topology = Topology::this_machine();
      return topology.core_count() == 1 && topology.affinity() == mask &&
             topology.limits().affinity_cores == 1 &&
             topology.limits().affinity_processing_units == 1;
    }));
    CHECK(testing::holds_in_confined_child(AffinityMask{unit}, [](const AffinityMask& mask) {
      // Asked for explicitly, the cores outside the mask are there: a mask is no cpuset.
      const Topology confined = Topology::this_machine();
      AffinityMask all;
      for (int i = 0; i < 4096; ++i) all.add(i);
      const Topology every = Topology::this_machine(all);
      return mask.is_subset_of(every.affinity()) &&
             every.core_count() == confined.limits().cpuset_cores &&
             every.limits().machine_cores == confined.limits().machine_cores;
    }));
  }
}

TEST_CASE("this machine follows hwloc's variables, though it is read once") {
  const Topology before = Topology::this_machine();
  REQUIRE(setenv("HWLOC_SYNTHETIC", "pack:2 core:3 pu:2", 1) == 0);
  const Topology described = Topology::this_machine();
  REQUIRE(setenv("HWLOC_SYNTHETIC", "pack:5 core:1 pu:1", 1) == 0);
  const Topology other = Topology::this_machine();
  REQUIRE(unsetenv("HWLOC_SYNTHETIC") == 0);
  const Topology after = Topology::this_machine();
  CHECK_FALSE(described.is_this_machine());
  CHECK(described.core_count() == 6);
  CHECK(other.core_count() == 5);
  CHECK(after.is_this_machine());
  CHECK(after.affinity() == before.affinity());
  CHECK(after.machine_fingerprint() == before.machine_fingerprint());
}

TEST_CASE("a pinned thread does not hide the other threads' cores") {
  const Topology whole = Topology::this_machine();
  AffinityMask seen;
  std::thread pinned([&] {
    bind_this_thread(whole, whole.cores().back());
    seen = Topology::this_machine().affinity();
  });
  pinned.join();
  CHECK(seen == whole.affinity());
}

TEST_CASE("sizes for people") {
  CHECK(size_text(0) == "0 B");
  CHECK(size_text(1023) == "1023 B");
  CHECK(size_text(1024) == "1 KiB");
  CHECK(size_text(1536) == "1.5 KiB");
  CHECK(size_text(33554432) == "32 MiB");
  CHECK(size_text(std::uint64_t{3} << 40) == "3 TiB");
}

}  // namespace topology_test
}  // namespace hycoll
