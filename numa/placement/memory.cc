#include "numa/placement/memory.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <fstream>
#include <limits>
#include <utility>

#include "core/base/errors.h"
#include "core/base/pages.h"
#include "numa/topology/topology_tables.h"

namespace hycoll {
namespace {

using internal::TopologyAccess;

/// The size of a transparent huge page; that of x86-64 where the kernel does not tell.
std::size_t huge_page_bytes() {
  std::ifstream file("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size");
  std::size_t size_bytes = 0;
  if (file >> size_bytes && std::has_single_bit(size_bytes)) return size_bytes;
  return std::size_t{2} << 20;
}

std::uintptr_t rounded_up(std::uintptr_t value, std::size_t alignment) {
  return (value + alignment - 1) & ~static_cast<std::uintptr_t>(alignment - 1);
}

void check_arguments(const Topology& topology, std::size_t size_bytes, int numa_domain,
                     std::size_t alignment_bytes) {
  const std::size_t domain_count = topology.numa_domains().size();
  if (numa_domain < 0 || static_cast<std::size_t>(numa_domain) >= domain_count) {
    throw Error(
        ErrorKind::invalid_argument,
        fmt::format(
            "numa_domain is {}: expected 0 to {}, an index into the topology's NUMA domains",
            numa_domain, domain_count - 1));
  }
  if (alignment_bytes < 64 || !std::has_single_bit(alignment_bytes)) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("alignment_bytes is {}: expected a power of two of 64 or more",
                            alignment_bytes));
  }
  constexpr std::size_t kLargest = std::numeric_limits<std::size_t>::max() / 4;
  if (size_bytes > kLargest || alignment_bytes > kLargest) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("size_bytes is {} and alignment_bytes is {}: expected at most {} each",
                            size_bytes, alignment_bytes, kLargest));
  }
}

bool bind_pages(const Topology& topology, void* address, std::size_t size_bytes, int numa_domain) {
  // hwloc pretends to succeed on topologies of other machines.
  if (!topology.is_this_machine()) return false;
  const int os_index = topology.numa_domains()[static_cast<std::size_t>(numa_domain)].os_index;
  const internal::Bitmap domains = internal::to_bitmap(AffinityMask{os_index});
  // Without HWLOC_MEMBIND_STRICT the domain is preferred, so a full domain does not end the
  // process.
  return hwloc_set_area_membind(TopologyAccess::tables(topology).handle.get(), address, size_bytes,
                                domains.get(), HWLOC_MEMBIND_BIND, HWLOC_MEMBIND_BYNODESET) == 0;
}

}  // namespace

NumaBuffer::NumaBuffer(const Topology& topology, std::size_t size_bytes, int numa_domain,
                       std::size_t alignment_bytes, HugePages huge_pages) {
  check_arguments(topology, size_bytes, numa_domain, alignment_bytes);
  numa_domain_ = numa_domain;
  if (size_bytes == 0) return;
  const bool use_huge_pages = huge_pages == HugePages::advise && size_bytes >= huge_page_bytes();
  const std::size_t alignment = std::max(alignment_bytes, use_huge_pages ? huge_page_bytes() : 1);
  // Pages are aligned as they come; anything beyond is found inside a larger mapping.
  const std::size_t slack = alignment > page_bytes() ? alignment : 0;
  const std::size_t whole_pages_bytes = rounded_up_to_pages(size_bytes);
  void* mapping = mmap(nullptr, whole_pages_bytes + slack, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) {
    throw Error(
        ErrorKind::environment,
        internal::with_errno(fmt::format(
            "the system has no {} of memory to give; use smaller buffers, or check `ulimit -v` and "
            "the job's memory limit",
            size_text(whole_pages_bytes + slack))));
  }
  mapping_ = mapping;
  mapping_bytes_ = whole_pages_bytes + slack;
  size_bytes_ = size_bytes;
  const std::uintptr_t start = rounded_up(reinterpret_cast<std::uintptr_t>(mapping), alignment);
  data_ = reinterpret_cast<std::byte*>(start);
  // Advice: what the kernel makes of it changes speed only.
  if (use_huge_pages) (void)madvise(data_, whole_pages_bytes, MADV_HUGEPAGE);
  bound_ = bind_pages(topology, data_, whole_pages_bytes, numa_domain);
}

NumaBuffer::NumaBuffer(NumaBuffer&& other) noexcept { *this = std::move(other); }

NumaBuffer& NumaBuffer::operator=(NumaBuffer&& other) noexcept {
  if (this == &other) return *this;
  release();
  mapping_ = std::exchange(other.mapping_, nullptr);
  mapping_bytes_ = std::exchange(other.mapping_bytes_, 0);
  data_ = std::exchange(other.data_, nullptr);
  size_bytes_ = std::exchange(other.size_bytes_, 0);
  numa_domain_ = std::exchange(other.numa_domain_, -1);
  bound_ = std::exchange(other.bound_, false);
  return *this;
}

NumaBuffer::~NumaBuffer() { release(); }

void NumaBuffer::release() noexcept {
  if (mapping_ != nullptr) munmap(mapping_, mapping_bytes_);
}

int domain_of_unit(const Topology& topology, int processing_unit_os_index, int otherwise) noexcept {
  const std::optional<int> core = topology.core_of(processing_unit_os_index);
  if (!core) return otherwise;
  return topology.cores()[static_cast<std::size_t>(*core)].numa_domain;
}

int domain_here(const Topology& topology, int otherwise) noexcept {
  if (!topology.is_this_machine() || topology.numa_domains().size() == 1) return otherwise;
  return domain_of_unit(topology, sched_getcpu(), otherwise);
}

std::optional<int> domain_of(const Topology& topology, const void* address) {
  if (!topology.is_this_machine()) {
    throw Error(
        ErrorKind::unsupported,
        "topology is synthetic or recorded: only Topology::this_machine() knows where memory lies");
  }
  const internal::Bitmap domains = internal::make_bitmap();
  if (hwloc_get_area_memlocation(TopologyAccess::tables(topology).handle.get(), address, 1,
                                 domains.get(), HWLOC_MEMBIND_BYNODESET) != 0) {
    return std::nullopt;
  }
  const int os_index = hwloc_bitmap_first(domains.get());
  for (const NumaDomain& domain : topology.numa_domains()) {
    if (os_index >= 0 && domain.os_index == os_index) return domain.index;
  }
  return std::nullopt;
}

}  // namespace hycoll
