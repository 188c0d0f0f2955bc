#ifndef HYCOLL_COLLECTIVES_API_ELEMENT_TYPE_H_
#define HYCOLL_COLLECTIVES_API_ELEMENT_TYPE_H_

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "hycoll/half.h"
#include "hycoll/types.h"

namespace hycoll {

/// What a vector consists of: one of hycoll's types, or whatever MPI can describe, by a committed
/// MPI_Datatype. Functions that take an ElementType accept a DataType in its place. An MPI_Datatype
/// is to be named one, ElementType(MPI_DOUBLE): with some MPI libraries it is an int, as counts
/// are.
///
/// Example: the smallest value of all processes, and where it is.
///
///     hycoll::Communicator communicator(MPI_COMM_WORLD);
///     struct { double value; int rank; } own{2.0, communicator.rank()}, least{};
///     communicator.allreduce(&own, &least, 1, hycoll::ElementType(MPI_DOUBLE_INT),
///                            hycoll::Operation(MPI_MINLOC));
///     check(least.value == 2.0 && least.rank == 0);
///
/// Holds the handle only: making and copying one costs nothing, and what it stands for is looked up
/// when somebody asks. A derived datatype must not be freed before the last call that uses it has
/// completed. All functions may be called by any thread while MPI is initialised.
class ElementType {
 public:
  /// One of hycoll's own types.
  constexpr ElementType(DataType type) noexcept  // NOLINT(google-explicit-constructor)
      : data_type_(static_cast<std::uint8_t>(type)) {}
  /// Numbers of 16 bits.
  constexpr ElementType(HalfType type) noexcept  // NOLINT(google-explicit-constructor)
      : data_type_(static_cast<std::uint8_t>(kFirstHalfType + static_cast<int>(type))) {}
  /// A predefined or derived datatype of MPI.
  explicit ElementType(MPI_Datatype type) noexcept : handle_(type) {}

  /// MPI's handle; for a DataType that of the type of fixed width, such as MPI_INT32_T, and
  /// for numbers of 16 bits one of their size.
  MPI_Datatype handle() const noexcept;

  /// The DataType that it was made from, if it was; asks nothing of MPI.
  constexpr std::optional<DataType> given_data_type() const noexcept {
    if (data_type_ >= kFirstHalfType) return std::nullopt;
    return static_cast<DataType>(data_type_);
  }
  /// The same of a HalfType.
  constexpr std::optional<HalfType> given_half_type() const noexcept {
    if (data_type_ < kFirstHalfType || data_type_ == kNoDataType) return std::nullopt;
    return static_cast<HalfType>(data_type_ - kFirstHalfType);
  }

  /// The type whose kernels reduce this one where MPI allows the operator; empty for types that
  /// hycoll has no kernels for, and for derived datatypes.
  std::optional<DataType> data_type() const;

  /// The distance of elements in a vector that hycoll works on, in bytes: that of their data, at
  /// least 1. Users' buffers look like that if is_contiguous(); others are copied.
  std::size_t slot_bytes() const;

  /// Whether elements lie in a user's buffer without gaps, in the order of their type map. Those of
  /// MPI's pairs of value and index have gaps where C's structs have padding.
  bool is_contiguous() const;

  /// For messages: hycoll's or MPI's name, or the one given by MPI_Type_set_name.
  std::string name() const;

  /// Six bits for the comparison of calls. Types of the same representation have the same code,
  /// such as DataType::int32, MPI_INT and MPI_INTEGER; so have all derived ones.
  std::uint8_t code() const;
  /// That of all derived datatypes: members may describe the same elements by different ones.
  static constexpr std::uint8_t kDerivedCode = 63;

  /// Whether both stand for the same handle or the same DataType.
  friend bool operator==(const ElementType&, const ElementType&) = default;

 private:
  static constexpr std::uint8_t kNoDataType = 255;
  static constexpr std::uint8_t kFirstHalfType = 250;

  MPI_Datatype handle_{};
  std::uint8_t data_type_ = kNoDataType;
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_API_ELEMENT_TYPE_H_
