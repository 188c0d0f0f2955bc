#include "collectives/node/memory_homes.h"

#include <set>
#include <utility>

#include "numa/placement/pages.h"

namespace hycoll {

std::vector<MemoryHome> memory_homes(NodeMemory::Section section, int first, int count,
                                     std::size_t further_bytes,
                                     std::span<const int> domain_of_worker) {
  const std::set<int> domains(domain_of_worker.begin(), domain_of_worker.end());
  if (domains.size() < 2) return {};
  const auto worker_count = static_cast<int>(domain_of_worker.size());
  const NodeMemory::Extent fifo = NodeMemory::fifo_extent(worker_count, further_bytes);
  std::vector<MemoryHome> homes;
  for (int worker = first; worker < first + count; ++worker) {
    NodeMemory::Extent extent =
        NodeMemory::extent_of(section, worker, 1, worker_count, further_bytes);
    const bool has_fifo = section == NodeMemory::Section::rest && worker == worker_count - 1;
    if (has_fifo) extent.size_bytes -= fifo.size_bytes;
    const int domain = domain_of_worker[static_cast<std::size_t>(worker)];
    homes.push_back({.extent = extent, .domains = {domain}});
    if (has_fifo) homes.push_back({.extent = fifo, .domains = {domains.begin(), domains.end()}});
  }
  return homes;
}

void settle_memory(std::span<std::byte> block, std::span<const MemoryHome> homes) {
  for (const MemoryHome& home : homes) {
    // Where the system does not let it memory lies where it was first touched.
    (void)settle_pages(block.subspan(home.extent.offset_bytes, home.extent.size_bytes),
                       home.domains);
  }
}

}  // namespace hycoll
