#ifndef HYCOLL_COLLECTIVES_ELEMENTS_TYPED_STAGING_H_
#define HYCOLL_COLLECTIVES_ELEMENTS_TYPED_STAGING_H_

#include <mpi.h>

#include <cstddef>
#include <memory>

#include "collectives/elements/type_map.h"

namespace hycoll {

/// Copies between users' buffers of a datatype and vectors that hycoll works on, in which the data
/// of all elements follow one another in the order of the type map. So vectors are alike on all
/// members whose types have the same type signature; where the data lie in memory is each member's
/// own business: gaps, bounds, alignment, absolute addresses.
///
/// Immutable; used by any number of threads at once, for instance each for a part of a vector.
class TypedStaging {
 public:
  /// Requires a committed datatype; it may be freed while this object lives.
  explicit TypedStaging(MPI_Datatype type);
  /// The same of a type whose map is known.
  TypedStaging(MPI_Datatype type, std::shared_ptr<const TypeMap> map);

  /// The memory that `count` elements take as a user would lay them out, at least one of them.
  struct UserSpan {
    std::size_t size_bytes;
    /// From its begin, a multiple of 16 bytes, to the origin of the first element, which is such a
    /// multiple too.
    std::ptrdiff_t origin_bytes;
  };
  UserSpan user_span(std::size_t count) const noexcept;

  /// The distance of elements in a user's buffer; may be negative.
  std::ptrdiff_t extent_bytes() const noexcept { return map_->extent_bytes(); }

  /// Copies the bytes [begin, end) of a vector, from or to the user's elements. What lies between
  /// the data of these is neither read nor written.
  void pack(const void* user_buffer, std::size_t begin, std::size_t end, std::byte* packed) const {
    map_->pack(user_buffer, begin, end, packed);
  }
  void unpack(const std::byte* packed, std::size_t begin, std::size_t end,
              void* user_buffer) const {
    map_->unpack(packed, begin, end, user_buffer);
  }

 private:
  std::shared_ptr<const TypeMap> map_;
  // Of an element's data, from its origin.
  std::ptrdiff_t lowest_bytes_ = 0;
  std::ptrdiff_t end_bytes_ = 0;
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ELEMENTS_TYPED_STAGING_H_
