#ifndef HYCOLL_HEAP_ARENA_H_
#define HYCOLL_HEAP_ARENA_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>

#include "heap/arena_memory.h"
#include "heap/extents.h"

namespace hycoll {

/// How an arena uses memory.
struct ArenaLimits {
  std::size_t capacity_bytes = 0;
  /// Free memory that has been written is kept for the next blocks up to this much, or up to the
  /// blocks' bytes if that is more; beyond it, it is given back to the system.
  std::size_t kept_bytes = std::size_t{64} << 20;
  enum class Commit {
    on_touch,    ///< Pages come with the first access, near whoever makes it.
    on_allocate  ///< Pages come with the block: for systems that do not overcommit memory.
  } commit = Commit::on_touch;
  /// What the system has left, asked before memory is taken that has no pages yet.
  std::function<std::size_t()> available_bytes;
};

struct ArenaUsage {
  std::size_t block_bytes = 0;  ///< In blocks, rounded up to their granularity.
  std::size_t block_count = 0;
  std::size_t peak_block_bytes = 0;
  std::size_t kept_bytes = 0;  ///< Free, but with pages.
  std::size_t capacity_bytes = 0;
};

/// An allocator over one ArenaMemory. Blocks begin at multiples of 64 bytes and share no cache
/// line; those of 32 KiB or more begin at multiples of 4096 bytes.
///
/// Every function may be called concurrently, apart from the three parts of a fork.
class Arena {
 public:
  static constexpr std::size_t kLineBytes = 64;
  static constexpr std::size_t kPageBytes = 4096;
  static constexpr std::size_t kPagedBytes = 32 * 1024;

  enum class Content { any, zero };

  explicit Arena(const ArenaLimits& limits);

  /// Whether there is any memory; nothing else may be called if not.
  bool is_valid() const { return memory_.is_valid(); }
  const ArenaMemory& memory() const { return memory_; }

  bool contains(const void* address) const {
    const auto offset = reinterpret_cast<std::uintptr_t>(address) -
                        reinterpret_cast<std::uintptr_t>(memory_.begin());
    return offset < memory_.capacity_bytes();
  }

  /// A block of at least `size_bytes` (0 counts as 1); null if the arena or the system is full.
  /// Requires: alignment_bytes a power of two.
  void* allocate(std::size_t size_bytes, std::size_t alignment_bytes, Content content);

  /// Frees a block. Ends the process if no block begins at `address`: it was freed twice, or never
  /// allocated. Requires: contains(address).
  void free(void* address);

  /// Makes the block `size_bytes` long where it is; false, and nothing changes, if there is no
  /// room. Requires: a block at `address`.
  bool resize(void* address, std::size_t size_bytes);

  /// What the block at `address` has room for; 0 if none begins there.
  std::size_t size_of(const void* address) const;

  ArenaUsage usage() const;

  /// To be called before and after a fork, on the thread that forks. In between, no other thread
  /// gets into the arena. The child keeps the blocks, as private copies, and can free and shrink
  /// them; it gets no further ones here.
  void before_fork();
  void after_fork_in_parent();
  void after_fork_in_child();

 private:
  static std::size_t rounded(std::size_t size_bytes);
  bool may_take(std::size_t size_bytes);
  bool commit(const Extents::Range& range);
  std::optional<Extents::Range> place(std::size_t size_bytes, std::size_t alignment_bytes);
  void give_back_beyond(std::size_t kept_bytes);
  std::size_t block_at(const void* address) const;

  ArenaLimits limits_;
  ArenaMemory memory_;
  mutable std::mutex mutex_;
  Extents extents_;
  std::size_t granted_bytes_ = 0;  ///< May be taken without asking the system again.
  std::size_t peak_block_bytes_ = 0;
  bool is_closed_ = false;  ///< No further blocks: this is a fork's child.
};

}  // namespace hycoll

#endif  // HYCOLL_HEAP_ARENA_H_
