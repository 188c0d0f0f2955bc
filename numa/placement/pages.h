#ifndef HYCOLL_NUMA_PLACEMENT_PAGES_H_
#define HYCOLL_NUMA_PLACEMENT_PAGES_H_

#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "numa/placement/numa_library.h"

namespace hycoll {

/// Pages of memory, as libnuma sees and moves them. NUMA domains are named by the operating
/// system's numbers here (NumaDomain::os_index), which are libnuma's too: memory may lie in domains
/// that a process's topology does not have. Every function may be called concurrently, and leaves
/// everything as it is where there is no libnuma or the system refuses.

/// How many of the pages of a range lie where.
struct PageCounts {
  std::map<int, std::size_t> in_domain;  ///< By os_index; domains without any are left out.
  /// Without memory: this process has not touched them yet, or has only read what was never
  /// written, or has given them back. A page of shared memory that only others have touched counts
  /// here too.
  std::size_t absent = 0;
  std::size_t untold = 0;  ///< Those of which the system does not tell.

  std::size_t present() const noexcept;
  std::size_t total() const noexcept { return present() + absent + untold; }
  PageCounts& operator+=(const PageCounts& other);
  friend bool operator==(const PageCounts&, const PageCounts&) = default;
};

/// Counts the pages of which a byte is in the range. Touches none of them. Costs some 0.1 us a
/// page.
PageCounts count_pages(std::span<const std::byte> bytes, const FoundNuma& numa = found_numa());

/// Sees to it that the pages that begin in the range lie in the domain, or, where there are
/// several, in these domains in equal numbers: those that come later by the kernel's policy for
/// them, those that are there by moving as few of them as necessary. A domain that is full is
/// passed over. The policy lasts as long as the mapping, so the range must not be part of what
/// malloc gives out again; in memory that processes share it holds for all of them. Returns
/// whether the system has accepted the policy, and all pages that are there lie so now (pages that
/// other processes have touched too may stay where they are). Requires at least one domain.
bool settle_pages(std::span<std::byte> bytes, std::span<const int> domains,
                  const FoundNuma& numa = found_numa());

/// Where pages have to go, for settle_pages(): `places` has for each page its domain, or a negative
/// number for a page that is not there. The result has for each the domain it is to move to, or -1
/// if it stays. Pure.
std::vector<int> page_moves(std::span<const int> places, std::span<const int> domains);

}  // namespace hycoll

#endif  // HYCOLL_NUMA_PLACEMENT_PAGES_H_
