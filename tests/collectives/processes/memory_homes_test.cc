#include "collectives/node/memory_homes.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "collectives/node/leaders.h"
#include "numa/placement/memory.h"
#include "numa/placement/placement.h"
#include "numa/topology/topology.h"

namespace hycoll {
namespace memory_homes_test {

using Section = NodeMemory::Section;
constexpr std::size_t kFurtherBytes = 100'000;

std::vector<int> domains_of(const Topology& topology, std::span<const Core> workers) {
  std::vector<int> domains;
  for (const Core& core : workers) {
    domains.push_back(topology.numa_domains()[static_cast<std::size_t>(core.numa_domain)].os_index);
  }
  return domains;
}

/// The domains in which a byte of a node's memory belongs; empty if no home has it.
std::vector<int> domains_at(std::span<const MemoryHome> homes, std::size_t offset) {
  std::vector<int> found;
  for (const MemoryHome& home : homes) {
    if (offset < home.extent.offset_bytes) continue;
    if (offset >= home.extent.offset_bytes + home.extent.size_bytes) continue;
    CHECK(found.empty());  // homes do not overlap
    found = home.domains;
  }
  return found;
}

TEST_CASE("each worker's memory lies where it runs, and the FIFO in all domains") {
  for (const char* description :
       {"pack:2 numa:2 core:3", "numa:2 core:1", "pack:4 numa:1 core:2", "numa:3 core:5"}) {
    const Topology topology = Topology::synthetic(description);
    for (const Placement placement : {Placement::compact, Placement::spread}) {
      for (int count = 1; count <= topology.core_count(); ++count) {
        CAPTURE(description);
        CAPTURE(count);
        const std::vector<Core> workers = place_workers(topology, count, placement);
        const std::vector<int> domains = domains_of(topology, workers);
        const std::set<int> all(domains.begin(), domains.end());
        std::vector<MemoryHome> homes =
            memory_homes(Section::rest, 0, count, kFurtherBytes, domains);
        const auto compact = memory_homes(Section::compact, 0, count, kFurtherBytes, domains);
        if (all.size() == 1) {
          CHECK(homes.empty());
          CHECK(compact.empty());
          continue;
        }
        homes.insert(homes.end(), compact.begin(), compact.end());
        std::vector<std::byte> block(NodeMemory::block_bytes(count, kFurtherBytes));
        NodeMemory memory(block, count, kFurtherBytes, nullptr);
        const auto offset_of = [&](const void* address) {
          return static_cast<std::size_t>(static_cast<const std::byte*>(address) - block.data());
        };
        for (int worker = 0; worker < count; ++worker) {
          const std::vector<int> own = {domains[static_cast<std::size_t>(worker)]};
          for (const CallNumber call : {1, 2}) {
            const std::byte* staging = memory.staging(worker, call, 0);
            CHECK(domains_at(homes, offset_of(staging)) == own);
            CHECK(domains_at(homes, offset_of(staging + memory.staging_bytes() - 1)) == own);
            CHECK(domains_at(homes, offset_of(memory.lines(Section::compact, worker, 1, call))) ==
                  own);
            CHECK(domains_at(homes, offset_of(memory.lines(Section::rest, worker, 1, call))) ==
                  own);
          }
          CHECK(domains_at(homes, offset_of(&memory.post(worker))) == own);
          CHECK(domains_at(homes, offset_of(&memory.flag(worker, 0))) == own);
        }
        const std::vector<int> everywhere(all.begin(), all.end());
        CHECK(domains_at(homes, offset_of(memory.fifo().data())) == everywhere);
        CHECK(domains_at(homes, offset_of(&memory.fifo().back())) == everywhere);
        // All of the block has one home.
        std::size_t homed = 0;
        for (const MemoryHome& home : homes) homed += home.extent.size_bytes;
        CHECK(homed == block.size());
      }
    }
  }
}

TEST_CASE("the processes of a node have their parts of the same homes") {
  const std::vector<int> domains = {4, 4, 7, 7, 4, 9};
  const auto whole = memory_homes(Section::rest, 0, 6, kFurtherBytes, domains);
  std::vector<MemoryHome> parts;
  for (const auto& [first, count] : std::vector<std::pair<int, int>>{{0, 1}, {1, 3}, {4, 2}}) {
    const auto part = memory_homes(Section::rest, first, count, kFurtherBytes, domains);
    parts.insert(parts.end(), part.begin(), part.end());
  }
  REQUIRE(parts.size() == whole.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    CHECK(parts[i].extent.offset_bytes == whole[i].extent.offset_bytes);
    CHECK(parts[i].extent.size_bytes == whole[i].extent.size_bytes);
    CHECK(parts[i].domains == whole[i].domains);
  }
  CHECK(whole.back().domains == std::vector<int>{4, 7, 9});
}

TEST_CASE("exchange buffers lie where their leader runs") {
  for (const char* description : {"pack:2 numa:2 core:4", "numa:4 core:2 pu:2", "numa:3 core:3"}) {
    const Topology topology = Topology::synthetic(description);
    for (const Placement placement : {Placement::compact, Placement::spread}) {
      const std::vector<Core> workers =
          place_workers(topology, topology.core_count(), Placement::compact);
      const auto domain_count = static_cast<int>(topology.numa_domains().size());
      std::set<int> used;
      for (const int leader : leaders_of(workers, domain_count, placement)) {
        const Core& core = workers[static_cast<std::size_t>(leader)];
        for (const int unit : topology.processing_units(core.index)) {
          CHECK(domain_of_unit(topology, unit, -1) == core.numa_domain);
        }
        used.insert(core.numa_domain);
      }
      // One leader for each domain: spread ones use the memory of all of them.
      CHECK(used.size() == (placement == Placement::spread ? topology.numa_domains().size()
                            : description[0] == 'p'        ? 1
                            : description[5] == '4'        ? 2
                                                           : 1));
    }
    CHECK(domain_of_unit(topology, 10000, 2) == 2);
    CHECK(domain_of_unit(topology, -1, 1) == 1);
    // Nothing runs on a synthetic machine.
    CHECK(domain_here(topology, 1) == 1);
  }
}

}  // namespace memory_homes_test
}  // namespace hycoll
