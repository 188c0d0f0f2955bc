#ifndef HYCOLL_HEAP_HEAP_H_
#define HYCOLL_HEAP_HEAP_H_

/// Memory that the processes of a node can access directly: the shared heap.
///
/// Every process has an arena of its own, which neighbours can map; a block in it is ordinary
/// memory to its owner, so that collectives can read and write it without staging. Where the system
/// gives no shared memory, or no more of it, blocks are private memory, and one line on stderr says
/// so once per process. After a fork the child has copies of the blocks, as malloc promises; its
/// further allocations are private. HYCOLL_SHARED_HEAP_LIMIT bounds the arena (bytes; suffixes K,
/// M, G, T).
///
/// Example: a vector that collectives read and write where it is.
///
///     std::vector<double, hycoll::Allocator<double>> vector(100000, 1.0);
///     hycoll::Options options;
///     options.layout = hycoll::Options::Layout::processes;
///     hycoll::Communicator communicator(MPI_COMM_WORLD, options);
///     communicator.allreduce(vector, vector);
///     check(vector[0] == communicator.size());
///
/// Every function may be called concurrently. Blocks are freed by the process that allocated them,
/// by any of its threads. Source: glex-malloc in "Overlapped NUMA-aware multi-leader multi-port
/// all-to-all", section 7.1; hycoll's HeapNeighbours (hycoll/heap_neighbours.h) has its fence, put
/// and get.

#ifdef __cplusplus
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <optional>

extern "C" {
#else
#include <stddef.h>
#endif

/// As malloc, calloc, realloc, aligned_alloc and free do, for blocks in the shared heap: null and
/// ENOMEM if there is no memory at all; a block of 0 bytes is a block. They are aligned to 64 bytes
/// at least, blocks of 32 KiB or more to 4096. hycoll_realloc and hycoll_free take what the others
/// (and hycoll::allocate) returned, or null.
void* hycoll_malloc(size_t size_bytes);
void* hycoll_calloc(size_t count, size_t size_bytes);
void* hycoll_realloc(void* block, size_t size_bytes);
void* hycoll_aligned_alloc(size_t alignment_bytes, size_t size_bytes);
void hycoll_free(void* block);

/// What this process has in the shared heap, and of the heaps of its neighbours.
struct hycoll_heap_usage {
  size_t block_bytes;       /**< In blocks now, rounded up to their granularity. */
  size_t block_count;       /**< Blocks now. */
  size_t peak_block_bytes;  /**< The largest block_bytes so far. */
  size_t kept_bytes;        /**< Free, but kept for the next blocks. */
  size_t capacity_bytes;    /**< The arena's size; 0 while there is no arena. */
  size_t private_fallbacks; /**< Allocations that got private memory instead. */

  size_t mapped_arenas; /**< Of neighbours, mapped here now: one mapping each. */
  size_t mapped_bytes;  /**< Address space that those take; no memory. */
  size_t mappings_made; /**< Since the process began. */
  size_t mapping_hits;  /**< Accesses to a neighbour's arena that found it mapped. */
};

/// Writes this process's usage to `*usage`.
void hycoll_get_heap_usage(struct hycoll_heap_usage* usage);

#ifdef __cplusplus
}

namespace hycoll {

/// A block of at least `size_bytes` in the shared heap, aligned to `alignment_bytes`, a power of
/// two, and to 64. Errors: std::bad_alloc.
void* allocate(std::size_t size_bytes, std::size_t alignment_bytes = 64);

/// Frees what allocate or the functions in C returned; null does nothing.
void deallocate(void* block) noexcept;

/// An allocator for containers: std::vector<double, hycoll::Allocator<double>>.
template <typename T>
class Allocator {
 public:
  /// What containers ask for.
  using value_type = T;

  /// All are equal.
  Allocator() = default;
  /// All are equal.
  template <typename U>
  Allocator(const Allocator<U>&) noexcept {}  // NOLINT: conversions are what containers need.

  /// A block for so many elements. Errors: std::bad_alloc.
  T* allocate(std::size_t count) {
    if (count > std::numeric_limits<std::size_t>::max() / sizeof(T)) {
      throw std::bad_array_new_length();
    }
    return static_cast<T*>(hycoll::allocate(count * sizeof(T), alignof(T)));
  }
  /// Frees such a block.
  void deallocate(T* block, std::size_t) noexcept { hycoll::deallocate(block); }

  /// All are equal.
  template <typename U>
  bool operator==(const Allocator<U>&) const noexcept {
    return true;
  }
};

/// Where a byte of the shared heap lies, for any process of the node.
struct HeapAddress {
  std::uint64_t arena = 0;   ///< The id of a process's arena; never 0.
  std::uint64_t offset = 0;  ///< From the arena's beginning.
};

/// The place of an address of this process in its arena; nullopt if it lies elsewhere. Two
/// comparisons, whatever the number of blocks: the arena is one range of addresses, and no object
/// that begins inside reaches beyond it.
std::optional<HeapAddress> announce(const void* address) noexcept;

/// What this process has in the shared heap, and of the heaps of its neighbours.
using HeapUsage = ::hycoll_heap_usage;

/// The same as hycoll_get_heap_usage().
HeapUsage heap_usage();

}  // namespace hycoll
#endif

#endif  // HYCOLL_HEAP_HEAP_H_
