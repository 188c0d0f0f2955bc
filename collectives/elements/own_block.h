#ifndef HYCOLL_COLLECTIVES_ELEMENTS_OWN_BLOCK_H_
#define HYCOLL_COLLECTIVES_ELEMENTS_OWN_BLOCK_H_

#include <mpi.h>

#include <cstddef>
#include <string_view>

#include "collectives/elements/vector_elements.h"

namespace hycoll {

/// So many elements of a type, as MPI describes a block.
struct BlockDescription {
  std::size_t count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  friend bool operator==(const BlockDescription&, const BlockDescription&) = default;
};

/// The block that a process both passes and gets in a collective that moves blocks: MPI lets the
/// process describe it twice, and hycoll's calls have one description. Where none fits both, the
/// process copies the block itself, and its call is one in place.
class OwnBlock {
 public:
  /// Of none.
  OwnBlock() = default;

  /// Throws Error (invalid_argument), which begins with the collective's name, for a type that is
  /// MPI_DATATYPE_NULL.
  OwnBlock(const BlockDescription& from, const BlockDescription& to, std::string_view collective);

  std::size_t from_bytes() const noexcept { return from_count_ * from_.element_bytes; }
  std::size_t to_bytes() const noexcept { return to_count_ * to_.element_bytes; }

  /// Of an element of the second description.
  std::size_t to_element_bytes() const noexcept { return to_.element_bytes; }

  /// Whether the same data are described, which are at addresses of the program's if there are any.
  bool is_whole(const void* from, const void* to) const noexcept;
  /// Whether less is passed than there is room for. MPI libraries take it.
  bool is_short(const void* from, const void* to) const noexcept {
    return from_bytes() < to_bytes() && are_there(from, to);
  }

  /// Whether both descriptions are of data as they lie in memory, so that either fits both.
  bool is_direct() const noexcept { return from_.staging == nullptr && to_.staging == nullptr; }

  /// Where the block of a rank is in a buffer of all blocks that are described as this one is.
  const void* block_from(const void* blocks, int rank) const noexcept {
    return element_from(blocks, static_cast<std::ptrdiff_t>(from_count_) * rank);
  }
  void* block_to(void* blocks, int rank) const noexcept {
    return element_to(blocks, static_cast<std::ptrdiff_t>(to_count_) * rank);
  }
  /// Where an element is in such a buffer.
  const void* element_from(const void* blocks, std::ptrdiff_t element) const noexcept {
    return from_.address_of(blocks, element);
  }
  void* element_to(void* blocks, std::ptrdiff_t element) const noexcept {
    return to_.address_of(blocks, element);
  }

  /// Copies the data, of which there is room for all. The two may overlap if is_direct().
  void copy(const void* from, void* to) const;

 private:
  bool are_there(const void* from, const void* to) const noexcept;

  VectorElements from_;
  VectorElements to_;
  std::size_t from_count_ = 0;
  std::size_t to_count_ = 0;
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ELEMENTS_OWN_BLOCK_H_
