#ifndef HYCOLL_HEAP_AVAILABLE_MEMORY_H_
#define HYCOLL_HEAP_AVAILABLE_MEMORY_H_

#include <cstddef>

namespace hycoll {

/// How many bytes this process could take now without the system having to end somebody: what
/// /proc/meminfo says is available, and no more than the control groups of the process leave
/// (file caches that can be dropped count as free). SIZE_MAX where nothing is said.
///
/// Allocates nothing larger than a few KiB; safe for concurrent use; takes some 20 us. `root` is
/// the directory that holds proc/ and sys/, for tests.
std::size_t available_memory_bytes(const char* root = "");

/// The machine's whole memory in bytes, by the same source; SIZE_MAX where nothing is said.
std::size_t total_memory_bytes(const char* root = "");

}  // namespace hycoll

#endif  // HYCOLL_HEAP_AVAILABLE_MEMORY_H_
