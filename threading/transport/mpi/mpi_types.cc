#include "threading/transport/mpi/mpi_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cfloat>
#include <cstddef>
#include <string_view>
#include <vector>

#include "core/base/lifetime.h"
#include "threading/transport/mpi/type_contents.h"

namespace hycoll {
namespace {

/// How the size of a type tells its representation.
enum class Family { signed_integer, unsigned_integer, real, complex, sized_logical, other };

std::optional<Representation> representation_of(Family family, int size_bytes) noexcept {
  using enum Representation;
  switch (family) {
    case Family::signed_integer:
      return size_bytes == 1    ? int8
             : size_bytes == 2  ? int16
             : size_bytes == 4  ? int32
             : size_bytes == 8  ? int64
             : size_bytes == 16 ? std::optional(int128)
                                : std::nullopt;
    case Family::unsigned_integer:
      return size_bytes == 1   ? uint8
             : size_bytes == 2 ? uint16
             : size_bytes == 4 ? uint32
             : size_bytes == 8 ? std::optional(uint64)
                               : std::nullopt;
    case Family::real:
      return size_bytes == 4    ? float32
             : size_bytes == 8  ? float64
             : size_bytes == 16 ? std::optional(float128)
                                : std::nullopt;
    case Family::complex:
      return size_bytes == 8    ? complex_float32
             : size_bytes == 16 ? complex_float64
             : size_bytes == 32 ? std::optional(complex_float128)
                                : std::nullopt;
    case Family::sized_logical:
      return size_bytes == 1   ? logical8
             : size_bytes == 2 ? logical16
             : size_bytes == 4 ? logical32
             : size_bytes == 8 ? std::optional(logical64)
                               : std::nullopt;
    case Family::other:
      return std::nullopt;
  }
  return std::nullopt;
}

struct Entry {
  MPI_Datatype handle;
  PredefinedType type;
};

/// Collects the types that the MPI library has.
class Table {
 public:
  Table() {
    add_c_types();
    add_fortran_types();
    add_sized_fortran_types();
    add_complex_and_logical_types();
    add_pairs_and_text();
  }

  const PredefinedType* find(MPI_Datatype handle) const noexcept {
    const auto found = std::find_if(entries_.begin(), entries_.end(),
                                    [&](const Entry& entry) { return entry.handle == handle; });
    return found == entries_.end() ? nullptr : &found->type;
  }

 private:
  /// A type that the library lacks is a null handle, or has no size.
  static int size_of_handle(MPI_Datatype handle) noexcept {
    int size_bytes = 0;
    if (handle == MPI_DATATYPE_NULL || MPI_Type_size(handle, &size_bytes) != MPI_SUCCESS) return 0;
    return std::max(size_bytes, 0);  // MPI_UNDEFINED is negative
  }

  void add(MPI_Datatype handle, TypeGroup group, Family family) {
    const int size_bytes = size_of_handle(handle);
    if (size_bytes == 0) return;
    if (const auto representation = representation_of(family, size_bytes)) {
      entries_.push_back({handle, {group, *representation}});
    }
  }

  void add(MPI_Datatype handle, TypeGroup group, Representation representation) {
    if (size_of_handle(handle) != 0) entries_.push_back({handle, {group, representation}});
  }

  void add_c_types() {
    for (const MPI_Datatype handle : {MPI_INT, MPI_LONG, MPI_SHORT, MPI_SIGNED_CHAR, MPI_LONG_LONG,
                                      MPI_INT8_T, MPI_INT16_T, MPI_INT32_T, MPI_INT64_T}) {
      add(handle, TypeGroup::c_integer, Family::signed_integer);
    }
    for (const MPI_Datatype handle :
         {MPI_UNSIGNED, MPI_UNSIGNED_LONG, MPI_UNSIGNED_SHORT, MPI_UNSIGNED_CHAR,
          MPI_UNSIGNED_LONG_LONG, MPI_UINT8_T, MPI_UINT16_T, MPI_UINT32_T, MPI_UINT64_T}) {
      add(handle, TypeGroup::c_integer, Family::unsigned_integer);
    }
    add(MPI_FLOAT, TypeGroup::floating_point, Family::real);
    add(MPI_DOUBLE, TypeGroup::floating_point, Family::real);
    add(MPI_LONG_DOUBLE, TypeGroup::floating_point,
        sizeof(long double) == sizeof(double) ? Representation::float64
                                              : Representation::long_double);
    for (const MPI_Datatype handle : {MPI_AINT, MPI_OFFSET, MPI_COUNT}) {
      add(handle, TypeGroup::multi_language, Family::signed_integer);
    }
    add(MPI_BYTE, TypeGroup::byte, Family::unsigned_integer);
  }

  void add_fortran_types() {
    add(MPI_INTEGER, TypeGroup::fortran_integer, Family::signed_integer);
    add(MPI_REAL, TypeGroup::floating_point, Family::real);
    add(MPI_DOUBLE_PRECISION, TypeGroup::floating_point, Family::real);
    add(MPI_COMPLEX, TypeGroup::complex, Family::complex);
    add(MPI_DOUBLE_COMPLEX, TypeGroup::complex, Family::complex);
    add(MPI_LOGICAL, TypeGroup::logical, Representation::logical);
    add(MPI_CHARACTER, TypeGroup::text, Representation::text);
  }

  // Libraries leave out the names of optional types that they were built without.
  void add_sized_fortran_types() {
#ifdef MPI_INTEGER1
    add(MPI_INTEGER1, TypeGroup::fortran_integer, Family::signed_integer);
#endif
#ifdef MPI_INTEGER2
    add(MPI_INTEGER2, TypeGroup::fortran_integer, Family::signed_integer);
#endif
#ifdef MPI_INTEGER4
    add(MPI_INTEGER4, TypeGroup::fortran_integer, Family::signed_integer);
#endif
#ifdef MPI_INTEGER8
    add(MPI_INTEGER8, TypeGroup::fortran_integer, Family::signed_integer);
#endif
#ifdef MPI_INTEGER16
    add(MPI_INTEGER16, TypeGroup::fortran_integer, Family::signed_integer);
#endif
#ifdef MPI_REAL4
    add(MPI_REAL4, TypeGroup::floating_point, Family::real);
#endif
#ifdef MPI_REAL8
    add(MPI_REAL8, TypeGroup::floating_point, Family::real);
#endif
#ifdef MPI_REAL16
    add(MPI_REAL16, TypeGroup::floating_point, Family::real);
#endif
#ifdef MPI_COMPLEX8
    add(MPI_COMPLEX8, TypeGroup::complex, Family::complex);
#endif
#ifdef MPI_COMPLEX16
    add(MPI_COMPLEX16, TypeGroup::complex, Family::complex);
#endif
#ifdef MPI_COMPLEX32
    add(MPI_COMPLEX32, TypeGroup::complex, Family::complex);
#endif
  }

  void add_complex_and_logical_types() {
    add(MPI_C_FLOAT_COMPLEX, TypeGroup::complex, Family::complex);
    add(MPI_C_DOUBLE_COMPLEX, TypeGroup::complex, Family::complex);
    add(MPI_CXX_FLOAT_COMPLEX, TypeGroup::complex, Family::complex);
    add(MPI_CXX_DOUBLE_COMPLEX, TypeGroup::complex, Family::complex);
    constexpr Representation kLongDoubleComplex = sizeof(long double) == sizeof(double)
                                                      ? Representation::complex_float64
                                                      : Representation::complex_long_double;
    add(MPI_C_LONG_DOUBLE_COMPLEX, TypeGroup::complex, kLongDoubleComplex);
    add(MPI_CXX_LONG_DOUBLE_COMPLEX, TypeGroup::complex, kLongDoubleComplex);
    add(MPI_C_BOOL, TypeGroup::logical, Representation::boolean);
    add(MPI_CXX_BOOL, TypeGroup::logical, Representation::boolean);
#ifdef MPI_LOGICAL1
    add(MPI_LOGICAL1, TypeGroup::logical, Family::sized_logical);
#endif
#ifdef MPI_LOGICAL2
    add(MPI_LOGICAL2, TypeGroup::logical, Family::sized_logical);
#endif
#ifdef MPI_LOGICAL4
    add(MPI_LOGICAL4, TypeGroup::logical, Family::sized_logical);
#endif
#ifdef MPI_LOGICAL8
    add(MPI_LOGICAL8, TypeGroup::logical, Family::sized_logical);
#endif
  }

  void add_pairs_and_text() {
    using enum Representation;
    const std::array<Entry, 9> pairs = {{
        {MPI_FLOAT_INT, {TypeGroup::pair, pair_float_int}},
        {MPI_DOUBLE_INT, {TypeGroup::pair, pair_double_int}},
        {MPI_LONG_INT, {TypeGroup::pair, pair_long_int}},
        {MPI_2INT, {TypeGroup::pair, pair_2int}},
        {MPI_SHORT_INT, {TypeGroup::pair, pair_short_int}},
        {MPI_LONG_DOUBLE_INT, {TypeGroup::pair, pair_long_double_int}},
        {MPI_2REAL, {TypeGroup::pair, pair_2real}},
        {MPI_2DOUBLE_PRECISION, {TypeGroup::pair, pair_2double_precision}},
        {MPI_2INTEGER, {TypeGroup::pair, pair_2int}},
    }};
    for (const Entry& pair : pairs) add(pair.handle, pair.type.group, pair.type.representation);
    for (const MPI_Datatype handle : {MPI_CHAR, MPI_WCHAR, MPI_PACKED}) {
      add(handle, TypeGroup::text, text);
    }
  }

  std::vector<Entry> entries_;
};

/// The representation of a type by precision: its size tells it, except between the two formats of
/// 16 bytes.
std::optional<Representation> representation_by_precision(Family family, int size_bytes,
                                                          int decimal_digits) noexcept {
  // x86's format of 80 bits lies in 16 bytes too and serves up to 18 digits.
  constexpr bool kHasExtended = LDBL_MANT_DIG == 64;
  if (kHasExtended && decimal_digits <= LDBL_DIG) {
    if (family == Family::real && size_bytes == 16) return Representation::long_double;
    if (family == Family::complex && size_bytes == 32) return Representation::complex_long_double;
  }
  return representation_of(family, size_bytes);
}

/// Fortran's types by precision are not named, but they are MPI's own.
std::optional<PredefinedType> find_by_precision(MPI_Datatype type, int combiner) {
  int size_bytes = 0;
  if (MPI_Type_size(type, &size_bytes) != MPI_SUCCESS) return std::nullopt;
  const int digits = static_cast<int>(TypeContents(type).numbers()[0]);
  TypeGroup group = TypeGroup::fortran_integer;
  Family family = Family::signed_integer;
  if (combiner == MPI_COMBINER_F90_REAL) {
    group = TypeGroup::floating_point;
    family = Family::real;
  } else if (combiner == MPI_COMBINER_F90_COMPLEX) {
    group = TypeGroup::complex;
    family = Family::complex;
  }
  const auto representation = representation_by_precision(family, size_bytes, digits);
  if (!representation) return std::nullopt;
  return PredefinedType{group, *representation};
}

struct NamedOperator {
  MPI_Op handle;
  std::string_view name;
};

/// The predefined operators; those of Operator come first, in its order.
const std::array<NamedOperator, 14>& operators() noexcept {
  static const std::array<NamedOperator, 14> table = {{{MPI_SUM, "MPI_SUM"},
                                                       {MPI_PROD, "MPI_PROD"},
                                                       {MPI_MIN, "MPI_MIN"},
                                                       {MPI_MAX, "MPI_MAX"},
                                                       {MPI_LAND, "MPI_LAND"},
                                                       {MPI_LOR, "MPI_LOR"},
                                                       {MPI_LXOR, "MPI_LXOR"},
                                                       {MPI_BAND, "MPI_BAND"},
                                                       {MPI_BOR, "MPI_BOR"},
                                                       {MPI_BXOR, "MPI_BXOR"},
                                                       {MPI_MINLOC, "MPI_MINLOC"},
                                                       {MPI_MAXLOC, "MPI_MAXLOC"},
                                                       {MPI_REPLACE, "MPI_REPLACE"},
                                                       {MPI_NO_OP, "MPI_NO_OP"}}};
  return table;
}

/// The operator's place among the predefined ones, or their number.
std::size_t index_of(MPI_Op op) noexcept {
  const auto& table = operators();
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&](const NamedOperator& named) { return named.handle == op; });
  return static_cast<std::size_t>(found - table.begin());
}

}  // namespace

std::optional<PredefinedType> find_predefined(MPI_Datatype type) {
  if (type == MPI_DATATYPE_NULL) return std::nullopt;
  static const Immortal<Table> table;
  if (const PredefinedType* const found = table->find(type)) return *found;
  const int combiner = combiner_of(type);
  switch (combiner) {
    case MPI_COMBINER_NAMED:  // and unknown: of a later standard, or one that nobody can reduce
      return PredefinedType{TypeGroup::text, Representation::text};
    case MPI_COMBINER_F90_INTEGER:
    case MPI_COMBINER_F90_REAL:
    case MPI_COMBINER_F90_COMPLEX:
      return find_by_precision(type, combiner);
    default:
      return std::nullopt;
  }
}

std::optional<DataType> data_type_of(Representation representation) noexcept {
  if (static_cast<int>(representation) < kDataTypeCount) {
    return static_cast<DataType>(representation);
  }
  if (representation == Representation::boolean && sizeof(bool) == 1) return DataType::uint8;
  return std::nullopt;
}

MPI_Datatype mpi_type_of(DataType type) noexcept {
  switch (type) {
    case DataType::int8:
      return MPI_INT8_T;
    case DataType::int16:
      return MPI_INT16_T;
    case DataType::int32:
      return MPI_INT32_T;
    case DataType::int64:
      return MPI_INT64_T;
    case DataType::uint8:
      return MPI_UINT8_T;
    case DataType::uint16:
      return MPI_UINT16_T;
    case DataType::uint32:
      return MPI_UINT32_T;
    case DataType::uint64:
      return MPI_UINT64_T;
    case DataType::float32:
      return MPI_FLOAT;
    case DataType::float64:
      return MPI_DOUBLE;
  }
  return MPI_DATATYPE_NULL;
}

MPI_Op mpi_operator_of(Operator op) noexcept {
  return operators()[static_cast<std::size_t>(op)].handle;
}

std::optional<Operator> operator_of(MPI_Op op) noexcept {
  const std::size_t index = index_of(op);
  if (index >= kOperatorCount) return std::nullopt;
  return static_cast<Operator>(index);
}

bool is_predefined(MPI_Op op) noexcept {
  return op == MPI_OP_NULL || index_of(op) < operators().size();
}

bool is_allowed(MPI_Op op, TypeGroup group) noexcept {
  const bool is_integer = group == TypeGroup::c_integer || group == TypeGroup::fortran_integer ||
                          group == TypeGroup::multi_language;
  const bool is_pair = group == TypeGroup::pair;
  if (op == MPI_MINLOC || op == MPI_MAXLOC) return is_pair;
  const std::optional<Operator> known = operator_of(op);
  if (!known) return false;
  switch (*known) {
    case Operator::min:
    case Operator::max:
      return is_integer || group == TypeGroup::floating_point;
    case Operator::sum:
    case Operator::prod:
      return is_integer || group == TypeGroup::floating_point || group == TypeGroup::complex;
    case Operator::logical_and:
    case Operator::logical_or:
    case Operator::logical_xor:
      return group == TypeGroup::c_integer || group == TypeGroup::logical;
    case Operator::bit_and:
    case Operator::bit_or:
    case Operator::bit_xor:
      return is_integer || group == TypeGroup::byte;
  }
  return false;
}

bool is_allowed(MPI_Op op, MPI_Datatype type) {
  const std::optional<PredefinedType> known = find_predefined(type);
  return known && is_allowed(op, known->group);
}

std::string type_name(MPI_Datatype type) {
  if (type == MPI_DATATYPE_NULL) return "MPI_DATATYPE_NULL";
  std::array<char, MPI_MAX_OBJECT_NAME> name = {};
  int length = 0;
  const bool has_name = MPI_Type_get_name(type, name.data(), &length) == MPI_SUCCESS && length > 0;
  if (const auto known = find_predefined(type)) {
    return has_name ? std::string(name.data()) : "a Fortran type by precision";
  }
  return has_name ? fmt::format("derived datatype '{}'", name.data()) : "derived datatype";
}

std::string operator_name(MPI_Op op) {
  if (op == MPI_OP_NULL) return "MPI_OP_NULL";
  const std::size_t index = index_of(op);
  return index < operators().size() ? std::string(operators()[index].name)
                                    : "user-defined operator";
}

std::string thread_level_name(int level) {
  switch (level) {
    case MPI_THREAD_SINGLE:
      return "MPI_THREAD_SINGLE";
    case MPI_THREAD_FUNNELED:
      return "MPI_THREAD_FUNNELED";
    case MPI_THREAD_SERIALIZED:
      return "MPI_THREAD_SERIALIZED";
    case MPI_THREAD_MULTIPLE:
      return "MPI_THREAD_MULTIPLE";
    default:
      return fmt::format("{} (unknown)", level);
  }
}

}  // namespace hycoll
