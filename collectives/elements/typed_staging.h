#ifndef HYCOLL_COLLECTIVES_ELEMENTS_TYPED_STAGING_H_
#define HYCOLL_COLLECTIVES_ELEMENTS_TYPED_STAGING_H_

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "collectives/elements/type_map.h"

namespace hycoll {

/// How the elements of a datatype lie in a vector that hycoll works on.
struct ElementLayout {
  enum class Form : std::uint8_t {
    direct,  ///< As in users' buffers, which are used themselves.
    spaced,  ///< Each in a slot of its own; slots are as far apart as MPI takes elements to be.
    slots,   ///< Each in a slot of its own, as tightly as their alignment allows.
    packed,  ///< Their data only. To be unpacked before anybody computes with them.
  };
  Form form = Form::direct;

  /// The distance of elements; at least 1.
  std::size_t slot_bytes = 0;

  /// From the begin of a slot to the address that MPI is told, the element's origin. Data may lie
  /// far from it: then this is negative, or larger than the slot.
  std::ptrdiff_t origin_bytes = 0;
};

/// The layout of a committed datatype whose elements are combined. All members pass the same one,
/// so those without gaps are direct, in whatever order they name their data, and predefined ones
/// with their padding.
///
/// For a type with gaps a slot has the same address modulo 16 bytes, relative to the work buffer,
/// as an element at an aligned origin: data in slots are as aligned as in the user's buffer. A
/// vector takes at most twice the memory of its data: types with larger gaps, such as the column of
/// a matrix, are packed.
ElementLayout element_layout(MPI_Datatype type);

/// The layout of a committed datatype whose elements are moved and not combined. Members may
/// describe the same data in different ways: direct if the data lie in memory in the order of the
/// type map and without gaps, else packed, with a slot of 0 bytes if there are none.
ElementLayout data_layout(MPI_Datatype type);

/// Copies between users' buffers of a datatype and vectors of a layout that is not direct. Elements
/// of the user's buffer may interleave, those of a vector never do.
///
/// Immutable; used by any number of threads at once, for instance each for a part of a vector.
class TypedStaging {
 public:
  /// Requires a committed datatype; it may be freed while this object lives.
  explicit TypedStaging(MPI_Datatype type) : TypedStaging(type, element_layout(type)) {}
  /// With another layout than element_layout(), of data_layout().
  TypedStaging(MPI_Datatype type, const ElementLayout& layout);

  const ElementLayout& layout() const noexcept { return layout_; }

  /// The memory that `count` elements take as a user would lay them out, at least one of them.
  struct UserSpan {
    std::size_t size_bytes;
    /// From its begin, a multiple of 16 bytes, to the origin of the first element.
    std::ptrdiff_t origin_bytes;
  };
  UserSpan user_span(std::size_t count) const noexcept;

  /// The distance of elements in a user's buffer; may be negative.
  std::ptrdiff_t extent_bytes() const noexcept { return bounds_.extent; }

  /// Copies the elements [first, first + count) of `user_buffer` to those of the same numbers in
  /// `work_buffer`, which begins at a multiple of 16 bytes. What lies between the data of an
  /// element is not copied.
  void copy_in(const void* user_buffer, void* work_buffer, std::size_t first,
               std::size_t count) const;

  /// The bytes [begin, end) of a vector whose layout is packed, from or to the user's elements.
  void pack(const void* user_buffer, std::size_t begin, std::size_t end, std::byte* packed) const {
    map_->pack(user_buffer, begin, end, packed);
  }
  void unpack(const std::byte* packed, std::size_t begin, std::size_t end,
              void* user_buffer) const {
    map_->unpack(packed, begin, end, user_buffer);
  }

  /// Copies back; only the elements' data are written to the user's buffer, never its gaps.
  void copy_out(const void* work_buffer, void* user_buffer, std::size_t first,
                std::size_t count) const;

 private:
  struct Bounds {
    std::ptrdiff_t lower_bound;
    std::ptrdiff_t extent;
    std::ptrdiff_t true_lower_bound;
    std::ptrdiff_t true_extent;
    std::ptrdiff_t size;

    bool has_no_gaps() const noexcept {
      return size > 0 && lower_bound == 0 && true_lower_bound == 0 && true_extent == size &&
             extent == size;
    }
  };
  friend ElementLayout element_layout(MPI_Datatype type);

  static Bounds bounds_of(MPI_Datatype type);

  std::ptrdiff_t user_offset(std::size_t element) const noexcept {
    return static_cast<std::ptrdiff_t>(element) * bounds_.extent;
  }
  std::ptrdiff_t slot_distance() const noexcept {
    return static_cast<std::ptrdiff_t>(layout_.slot_bytes);
  }

  ElementLayout layout_;
  Bounds bounds_;
  std::shared_ptr<const TypeMap> map_;
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ELEMENTS_TYPED_STAGING_H_
