#ifndef HYCOLL_HEAP_ARENA_MEMORY_H_
#define HYCOLL_HEAP_ARENA_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <functional>

namespace hycoll {

/// What a process tells its neighbours so that they can map its arena. Plain bytes, to be sent as
/// they are. id 0: the process has no arena that others could map.
struct ArenaDescription {
  std::uint64_t id = 0;     ///< Random; stands in the arena's first bytes too.
  std::uint64_t begin = 0;  ///< Where the owner has it mapped.
  std::uint64_t capacity_bytes = 0;
  std::int32_t process_id = 0;
  std::int32_t file_descriptor = -1;
};

/// The pages of one process's arena: a range of addresses, reserved once and backed by a file in
/// memory without a name (memfd_create), so that neighbours can map it, and so that nothing is left
/// when its processes are gone, however they end.
///
/// The file has its full length from the start and is sealed against shrinking: an access inside
/// the range can never meet the end of the file. Pages exist once they are touched, in the NUMA
/// domain of whoever touches them first; what is given back reads as zeros. Offset + begin() is the
/// owner's address of a byte for the arena's whole life.
///
/// The address, the size and the id never change. Everything else is for one caller at a time.
class ArenaMemory {
 public:
  /// The arena's first bytes are its header; blocks begin behind it.
  static constexpr std::size_t kHeaderBytes = 4096;

  /// Reserves `capacity_bytes` (rounded up to pages). is_valid() is false if the system gives no
  /// shared memory, no file of this length or no address space.
  explicit ArenaMemory(std::size_t capacity_bytes);
  ~ArenaMemory();
  ArenaMemory(const ArenaMemory&) = delete;
  ArenaMemory& operator=(const ArenaMemory&) = delete;

  bool is_valid() const { return begin_ != nullptr; }
  /// False after a fork, in the child.
  bool is_shared() const { return file_descriptor_ >= 0; }
  std::byte* begin() const { return begin_; }
  std::size_t capacity_bytes() const { return capacity_bytes_; }

  /// id 0 if the memory is private.
  ArenaDescription description() const;

  /// Makes pages for a range now. False if the system has none left (or does not know how, before
  /// Linux 5.14).
  bool populate(std::size_t offset, std::size_t size_bytes);

  /// Gives the range's whole pages back to the system and zeroes the rest of it: while the memory
  /// is shared, all of it reads as zeros afterwards, in every process.
  void give_back(std::size_t offset, std::size_t size_bytes);

  /// The three parts of a fork. The child must not share the arena with its parent, for malloc
  /// promises each its own: before_fork copies what `copy_blocks` copies, given the address that
  /// stands for begin(), into `copy_bytes` of private memory, which after_fork_in_child moves to
  /// the place of the arena. With copy_bytes 0, or without memory for them, the child gets the
  /// parent's pages copied when it writes to them; it may then see what the parent writes later,
  /// but the parent never anything of the child's. Either way the child has private memory from
  /// then on.
  void before_fork(std::size_t copy_bytes, const std::function<void(std::byte*)>& copy_blocks);
  void after_fork_in_parent();
  void after_fork_in_child();

 private:
  std::byte* begin_ = nullptr;
  std::size_t capacity_bytes_ = 0;
  std::uint64_t id_ = 0;
  int file_descriptor_ = -1;  ///< -1: the memory is private, or there is none.
  std::uint64_t device_ = 0;  ///< The file's identity: programs may close descriptors not theirs.
  std::uint64_t inode_ = 0;
  std::byte* snapshot_ = nullptr;
  std::size_t snapshot_bytes_ = 0;

  bool owns_descriptor() const;
};

/// A neighbour's arena, mapped whole.
class MappedArena {
 public:
  /// Maps the arena that `description` names. data() is null if it cannot be opened (other user,
  /// other process namespace, process gone) or turns out to be another file.
  explicit MappedArena(const ArenaDescription& description);
  ~MappedArena();
  MappedArena(const MappedArena&) = delete;
  MappedArena& operator=(const MappedArena&) = delete;

  std::byte* data() const { return data_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_bytes_ = 0;
};

}  // namespace hycoll

#endif  // HYCOLL_HEAP_ARENA_MEMORY_H_
