#ifndef HYCOLL_NUMA_PLACEMENT_MEMORY_H_
#define HYCOLL_NUMA_PLACEMENT_MEMORY_H_

#include <cstddef>
#include <optional>
#include <span>

#include "numa/topology/topology.h"

namespace hycoll {

enum class HugePages {
  no,
  advise,  ///< Ask for transparent huge pages; the kernel may decline.
};

/// Memory of its own pages in one NUMA domain, whoever touches it first. Move-only; frees the
/// memory when it ends. Different buffers may be used concurrently; the bytes of one follow the
/// rules of any memory.
class NumaBuffer {
 public:
  /// No memory: data() is null, size_bytes() is 0.
  NumaBuffer() = default;

  /// Allocates `size_bytes` zeroed bytes whose pages will come from `numa_domain` (an index into
  /// topology.numa_domains()), or from another domain when that one is full. No page is touched
  /// here. Takes whole pages: for large, long-lived buffers. Zero bytes are legal and take no
  /// memory. Where the system does not permit binding (containers without the right, synthetic
  /// topologies) the buffer is ordinary memory, which lies in the domain of the thread that first
  /// writes a page; bound() tells. Errors: invalid_argument, if the domain does not exist, if
  /// `alignment_bytes` is below 64 or no power of two, or if the size does not fit the address
  /// space; environment, if the system has no memory left.
  NumaBuffer(const Topology& topology, std::size_t size_bytes, int numa_domain,
             std::size_t alignment_bytes = 64, HugePages huge_pages = HugePages::no);

  NumaBuffer(NumaBuffer&& other) noexcept;
  NumaBuffer& operator=(NumaBuffer&& other) noexcept;
  ~NumaBuffer();

  /// Aligned as asked for; null if size_bytes() is 0.
  std::byte* data() const { return data_; }
  std::size_t size_bytes() const { return size_bytes_; }
  std::span<std::byte> bytes() const { return {data_, size_bytes_}; }

  /// The domain asked for; -1 for a default-constructed or moved-from buffer.
  int numa_domain() const { return numa_domain_; }

  /// Whether the system accepted the domain as the pages' place. False also for zero bytes.
  bool bound() const { return bound_; }

 private:
  void release() noexcept;

  void* mapping_ = nullptr;
  std::size_t mapping_bytes_ = 0;
  std::byte* data_ = nullptr;
  std::size_t size_bytes_ = 0;
  int numa_domain_ = -1;
  bool bound_ = false;
};

/// The index of the NUMA domain that memory of the calling thread's own belongs in: the one in
/// which the thread runs now, whether it is bound or not; `otherwise` if the topology does not have
/// that one, has no other one to choose, or does not describe this machine.
int domain_here(const Topology& topology, int otherwise) noexcept;

/// The same of a thread that runs on this processing unit. Pure.
int domain_of_unit(const Topology& topology, int processing_unit_os_index, int otherwise) noexcept;

/// The index of the NUMA domain in which the page of `address` lies now; std::nullopt if no page is
/// there yet (never touched), if it lies in a domain that is not in the topology, or if the system
/// does not tell. Errors: unsupported, if the topology does not describe this machine.
std::optional<int> domain_of(const Topology& topology, const void* address);

}  // namespace hycoll

#endif  // HYCOLL_NUMA_PLACEMENT_MEMORY_H_
