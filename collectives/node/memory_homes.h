#ifndef HYCOLL_COLLECTIVES_NODE_MEMORY_HOMES_H_
#define HYCOLL_COLLECTIVES_NODE_MEMORY_HOMES_H_

#include <span>
#include <vector>

#include "threading/memory/node_memory.h"

namespace hycoll {

/// In which NUMA domains a section of what a node's workers share is to lie: in the only one of
/// them, or dealt to all of them page by page.
struct MemoryHome {
  NodeMemory::Extent extent;
  std::vector<int> domains;  ///< By os_index, ascending.
};

/// The homes of what the workers from `first` on, `count` of them, have of a section of the node's
/// memory: each worker's areas lie in the domain where it runs, for it alone writes them; the
/// broadcast FIFO, which belongs to the last worker, is dealt to the domains of all, for all read
/// all of it. `domain_of_worker` is of all workers of the node, by os_index. None where all run in
/// one domain: whoever touches the memory first puts it there. Pure.
std::vector<MemoryHome> memory_homes(NodeMemory::Section section, int first, int count,
                                     std::size_t further_bytes,
                                     std::span<const int> domain_of_worker);

/// Sees to it that memory lies there, as far as the system lets it. Costs nothing where there are
/// no homes. `block` is the node's memory.
void settle_memory(std::span<std::byte> block, std::span<const MemoryHome> homes);

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_NODE_MEMORY_HOMES_H_
