#ifndef HYCOLL_COLLECTIVES_ELEMENTS_VECTOR_ELEMENTS_H_
#define HYCOLL_COLLECTIVES_ELEMENTS_VECTOR_ELEMENTS_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

#include "collectives/api/element_type.h"
#include "collectives/elements/typed_staging.h"

namespace hycoll {

/// How the elements of a call's buffers lie in the vectors that hycoll works on. A copy keeps alive
/// what it refers to.
struct VectorElements {
  /// The distance of elements in the vectors. At least 1 where elements are combined; 0 for those
  /// that are only moved and have no data.
  std::size_t element_bytes = 0;

  /// As ElementType::code, for the call's signature.
  std::uint8_t type_code = 0;

  /// How to copy users' buffers to and from vectors; null if they are used themselves.
  std::shared_ptr<const TypedStaging> staging;

  /// The distance of elements in a user's buffer; may be negative.
  std::ptrdiff_t extent_bytes() const noexcept {
    return staging != nullptr ? staging->extent_bytes()
                              : static_cast<std::ptrdiff_t>(element_bytes);
  }

  /// Copies so many bytes of a vector from the user's elements, or to them. What lies between the
  /// data of these is neither read nor written.
  void pack(const void* user_buffer, std::size_t size_bytes, std::byte* packed) const noexcept {
    if (staging != nullptr) {
      staging->pack(user_buffer, 0, size_bytes, packed);
    } else if (size_bytes > 0) {
      std::memcpy(packed, user_buffer, size_bytes);
    }
  }
  void unpack(const std::byte* packed, std::size_t size_bytes, void* user_buffer) const noexcept {
    if (staging != nullptr) {
      staging->unpack(packed, 0, size_bytes, user_buffer);
    } else if (size_bytes > 0) {
      std::memcpy(user_buffer, packed, size_bytes);
    }
  }

  /// Where an element is in a user's buffer.
  const void* address_of(const void* buffer, std::ptrdiff_t element) const noexcept {
    return static_cast<const std::byte*>(buffer) + distance_to(element);
  }
  void* address_of(void* buffer, std::ptrdiff_t element) const noexcept {
    return static_cast<std::byte*>(buffer) + distance_to(element);
  }

 private:
  std::ptrdiff_t distance_to(std::ptrdiff_t element) const noexcept {
    return element * extent_bytes();
  }
};

/// Throws Error (invalid_argument), which begins with the collective's name, if this is
/// MPI_DATATYPE_NULL.
void require_type(const ElementType& type, std::string_view collective);

/// The elements of a type: their data and nothing else, in the order of the type map, so that
/// members may describe the same data by different types. element_bytes is 0 for those without
/// data. Throws Error (invalid_argument) for MPI_DATATYPE_NULL.
VectorElements elements_of(const ElementType& type, std::string_view collective);

/// Remembers the type that was moved last, if it is a predefined one: a program may free a derived
/// one, and get another one with the same handle. Used by one thread at a time.
class RecentMovedElements {
 public:
  /// As elements_of. The result is valid until the next call of find.
  const VectorElements& find(const ElementType& type, std::string_view collective) {
    if (is_known_ && type == type_) [[likely]]
      return elements_;
    return find_anew(type, collective);
  }

  /// Whether the type found last always means the same: it is a predefined one.
  bool lasts() const noexcept { return is_known_; }

 private:
  const VectorElements& find_anew(const ElementType& type, std::string_view collective);

  ElementType type_ = DataType::uint8;
  VectorElements elements_;
  bool is_known_ = false;
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ELEMENTS_VECTOR_ELEMENTS_H_
