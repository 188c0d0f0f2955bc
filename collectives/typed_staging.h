#ifndef HYCOLL_COLLECTIVES_TYPED_STAGING_H_
#define HYCOLL_COLLECTIVES_TYPED_STAGING_H_

#include <mpi.h>

#include <cstddef>

namespace hycoll {

/// Where the elements of a datatype lie in a vector that hycoll works on. MPI is told an address
/// that may lie far from an element's data, its origin; the slot is where the data are.
struct ElementLayout {
  /// The distance of elements; at least 1.
  std::size_t slot_bytes = 0;

  /// From the begin of a slot to its element's origin; negative for data that lie above it.
  std::ptrdiff_t origin_bytes = 0;

  /// Whether users' buffers look the same, so that they are used themselves.
  bool is_contiguous = false;

  /// Whether slots are as far apart as MPI takes elements to be, so that one call of MPI can act on
  /// several.
  bool is_spaced_as_extent = false;
};

/// The layout of a committed datatype. Predefined types are contiguous, with their padding.
///
/// For a type with gaps a slot has the same address modulo 16 bytes, relative to the work buffer,
/// as an element at an aligned origin: data in slots are as aligned as in the user's buffer. Slots
/// are spaced as the type's extent if that takes no more than twice the memory, and otherwise as
/// tightly as this alignment allows.
ElementLayout element_layout(MPI_Datatype type);

/// Copies between users' buffers of a datatype with gaps and vectors in which every element has a
/// slot of its own, as element_layout says. Elements of the user's buffer may interleave.
///
/// Immutable; used by any number of threads at once, for instance each for a part of a vector.
class TypedStaging {
 public:
  /// Requires a committed datatype; it may be freed while this object lives.
  explicit TypedStaging(MPI_Datatype type);
  ~TypedStaging();
  TypedStaging(const TypedStaging&) = delete;
  TypedStaging& operator=(const TypedStaging&) = delete;

  const ElementLayout& layout() const noexcept { return layout_; }

  /// Copies the elements [first, first + count) of `user_buffer` to the slots of the same numbers
  /// in `work_buffer`, which begins at a multiple of 16 bytes. What lies between the data of an
  /// element is not copied. Throws Error (unsupported) for elements of more than INT_MAX bytes.
  void copy_in(const void* user_buffer, void* work_buffer, std::size_t first,
               std::size_t count) const;

  /// Copies back; only the elements' data are written to the user's buffer, never its gaps.
  void copy_out(const void* work_buffer, void* user_buffer, std::size_t first,
                std::size_t count) const;

 private:
  /// Copies through a packed block: elements [first, first + count) from a buffer of one datatype
  /// to one of the other.
  void copy(const void* source, MPI_Datatype source_type, std::ptrdiff_t source_spacing_bytes,
            void* destination, MPI_Datatype destination_type,
            std::ptrdiff_t destination_spacing_bytes, std::size_t count) const;

  ElementLayout layout_;
  MPI_Datatype user_type_ = MPI_DATATYPE_NULL;
  MPI_Datatype slot_type_ = MPI_DATATYPE_NULL;
  std::ptrdiff_t extent_bytes_ = 0;
  std::size_t packed_bytes_ = 0;  // of one element
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_TYPED_STAGING_H_
