#ifndef HYCOLL_THREADING_TRANSPORT_MPI_MPI_TYPES_H_
#define HYCOLL_THREADING_TRANSPORT_MPI_MPI_TYPES_H_

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/half.h"
#include "core/base/types.h"

namespace hycoll {

/// MPI's handles for types and operators against hycoll's own. All functions may be called by any
/// thread between MPI_Init_thread and MPI_Finalize, and take any handle but freed ones. None of
/// them communicates.

/// The groups of predefined types by which MPI says what its operators act on (MPI 4.0, section
/// 6.9.2).
enum class TypeGroup : std::uint8_t {
  c_integer,
  fortran_integer,
  floating_point,
  logical,
  complex,
  byte,
  multi_language,  ///< MPI_AINT, MPI_OFFSET and MPI_COUNT.
  pair,            ///< A value and an index, for MPI_MINLOC and MPI_MAXLOC.
  text,            ///< Characters and packed data: no predefined operator acts on them.
};

/// What one element of a predefined type is made of. Types of the same representation that go by
/// several names, such as MPI_INT and MPI_INTEGER, have one Representation.
enum class Representation : std::uint8_t {
  int8,  // the DataTypes, in their order
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float32,
  float64,
  int128,
  long_double,
  float128,  ///< IEEE binary128, which REAL(16) is in Fortran and long double is not on x86.
  complex_float32,
  complex_float64,
  complex_long_double,
  complex_float128,
  boolean,   ///< bool of C and C++.
  logical,   ///< LOGICAL of Fortran's default kind, whose bits are the compiler's business.
  logical8,  ///< LOGICAL of another kind, of one byte, and so on.
  logical16,
  logical32,
  logical64,
  pair_float_int,
  pair_double_int,
  pair_long_int,
  pair_2int,
  pair_short_int,
  pair_long_double_int,
  pair_2real,
  pair_2double_precision,
  float16,  ///< Of 16 bits: no types of MPI's, but hycoll's HalfType.
  bfloat16,
  text,
};
inline constexpr int kRepresentationCount = static_cast<int>(Representation::text) + 1;
static_assert(kRepresentationCount < 63, "six bits of a call's signature, and one code to spare");

/// What is known about a type of MPI's own.
struct PredefinedType {
  TypeGroup group;
  Representation representation;

  friend bool operator==(const PredefinedType&, const PredefinedType&) = default;
};

/// The properties of a predefined type, among them those made by MPI_Type_create_f90_integer, _real
/// and _complex. Empty for derived types and MPI_DATATYPE_NULL.
std::optional<PredefinedType> find_predefined(MPI_Datatype type);

/// The type whose kernels act on this representation: also uint8 for a boolean of one byte, on
/// which logical operators act alike. Which operators MPI allows is up to is_allowed.
std::optional<DataType> data_type_of(Representation representation) noexcept;

/// The representation of numbers of 16 bits, and its inverse; empty for others.
constexpr Representation representation_of(HalfType type) noexcept {
  return type == HalfType::float16 ? Representation::float16 : Representation::bfloat16;
}
constexpr std::optional<HalfType> half_type_of(Representation representation) noexcept {
  if (representation == Representation::float16) return HalfType::float16;
  if (representation == Representation::bfloat16) return HalfType::bfloat16;
  return std::nullopt;
}

/// The MPI datatype and operator of hycoll's own.
MPI_Datatype mpi_type_of(DataType type) noexcept;
MPI_Op mpi_operator_of(Operator op) noexcept;

/// The inverse of mpi_operator_of; empty for MPI_MINLOC, MPI_MAXLOC and everything else.
std::optional<Operator> operator_of(MPI_Op op) noexcept;

/// Whether the operator is one of MPI's own, MPI_REPLACE and MPI_NO_OP among them, or MPI_OP_NULL.
bool is_predefined(MPI_Op op) noexcept;

/// Whether MPI 4.0 defines the predefined operator on the type in collectives: the table of section
/// 6.9.2, and 6.9.4 for MPI_MINLOC and MPI_MAXLOC. False for user-defined operators, MPI_REPLACE
/// and MPI_NO_OP, and for derived types.
bool is_allowed(MPI_Op op, TypeGroup group) noexcept;
bool is_allowed(MPI_Op op, MPI_Datatype type);

/// How users know the handle: MPI's name, the name that the program gave it, or what it is.
std::string type_name(MPI_Datatype type);
std::string operator_name(MPI_Op op);

/// The name of an MPI thread level, such as "MPI_THREAD_MULTIPLE".
std::string thread_level_name(int level);

}  // namespace hycoll

#endif  // HYCOLL_THREADING_TRANSPORT_MPI_MPI_TYPES_H_
