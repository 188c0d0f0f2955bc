#ifndef HYCOLL_THREADING_MEMORY_SHARED_SEGMENT_H_
#define HYCOLL_THREADING_MEMORY_SHARED_SEGMENT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace hycoll {

/// Memory that several processes of a machine map, each at an address of its own. One creates it
/// and hands its Handle to the others, which attach; when all have, each closes it, and nothing is
/// left of it but the mappings. It ends with the last of them, however its process ends.
class SharedSegment {
 public:
  enum class Kind : int {
    /// Without a name: the others open it through the creator's /proc directory, which containers
    /// may forbid. Never outlives its processes, and is not limited by the size of /dev/shm.
    anonymous,
    /// In /dev/shm until the creator closes it. A name is used once and contains random bits, so
    /// one that a crash has left behind is never taken for another.
    named,
  };

  /// What other processes find the segment by: plain bytes.
  struct Handle {
    Kind kind = Kind::anonymous;
    int process = 0;
    int descriptor = -1;
    std::uint64_t size_bytes = 0;
    std::array<std::uint64_t, 2> token{};  ///< Random; also stands in the segment.
    std::array<char, 64> name{};           ///< Kind::named only.
  };

  SharedSegment() = default;
  /// Of `size_bytes` bytes, all zero, for which memory is not yet reserved: see reserve(). Throws
  /// Error (environment).
  SharedSegment(Kind kind, std::size_t size_bytes);
  /// One that another process, or this one, has created and not yet closed. Throws Error
  /// (environment), also if the handle leads to something else, as it does between containers.
  explicit SharedSegment(const Handle& handle);
  ~SharedSegment();
  SharedSegment(SharedSegment&& other) noexcept;
  SharedSegment& operator=(SharedSegment&& other) noexcept;

  const Handle& handle() const noexcept { return handle_; }
  /// At addresses that are multiples of the page size.
  std::span<std::byte> bytes() const noexcept;

  /// Sees to it that there is memory for these bytes, on the calling thread's NUMA domain if they
  /// have none yet. Without that, a full /dev/shm would end the process when it touches them.
  /// Throws Error (environment). Requires that the segment has not been closed.
  void reserve(std::size_t offset_bytes, std::size_t size_bytes);

  /// The same, in segments that have been closed too, by way of the mapping. Requires
  /// can_reserve_mapped().
  void reserve_mapped(std::size_t offset_bytes, std::size_t size_bytes);
  /// Whether this kernel can: Linux 5.14 and later.
  static bool can_reserve_mapped() noexcept;
  /// Gives the memory of these bytes back, but for pages that others share. They read as zeros.
  /// Requires that nobody uses them.
  void release_mapped(std::size_t offset_bytes, std::size_t size_bytes) noexcept;

  /// Removes name and descriptor. Afterwards nobody can attach.
  void close() noexcept;

 private:
  void create_file();
  void open_file();
  void map();
  void unmap() noexcept;

  Handle handle_;
  bool owns_name_ = false;
  int descriptor_ = -1;
  std::byte* mapping_ = nullptr;  // with the header before the bytes
};

}  // namespace hycoll

#endif  // HYCOLL_THREADING_MEMORY_SHARED_SEGMENT_H_
