// MPI's types and operators as hycoll knows them, against the tables of the standard. Without
// communication: one process sees what many see.
#include <doctest/doctest.h>
#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <set>
#include <string>
#include <vector>

#include "threading/transport/mpi/mpi_types.h"

namespace {

using hycoll::DataType;
using hycoll::Operator;
using hycoll::PredefinedType;
using hycoll::Representation;
using hycoll::TypeGroup;

struct Named {
  const char* name;
  MPI_Datatype handle;
};
#define NAMED(handle) \
  Named { #handle, handle }

/// The rows of MPI 4.0, section 6.9.2, as they stand there.
const std::vector<Named> kCIntegers = {
    NAMED(MPI_INT),         NAMED(MPI_LONG),          NAMED(MPI_SHORT),
    NAMED(MPI_UNSIGNED),    NAMED(MPI_UNSIGNED_LONG), NAMED(MPI_UNSIGNED_SHORT),
    NAMED(MPI_SIGNED_CHAR), NAMED(MPI_UNSIGNED_CHAR), NAMED(MPI_LONG_LONG_INT),
    NAMED(MPI_LONG_LONG),   NAMED(MPI_INT8_T),        NAMED(MPI_UNSIGNED_LONG_LONG),
    NAMED(MPI_INT16_T),     NAMED(MPI_INT32_T),       NAMED(MPI_INT64_T),
    NAMED(MPI_UINT8_T),     NAMED(MPI_UINT16_T),      NAMED(MPI_UINT32_T),
    NAMED(MPI_UINT64_T)};
const std::vector<Named> kFortranIntegers = {NAMED(MPI_INTEGER), NAMED(MPI_INTEGER1),
                                             NAMED(MPI_INTEGER2), NAMED(MPI_INTEGER4),
                                             NAMED(MPI_INTEGER8)};
const std::vector<Named> kFloatingPoint = {
    NAMED(MPI_FLOAT), NAMED(MPI_DOUBLE), NAMED(MPI_REAL),   NAMED(MPI_DOUBLE_PRECISION),
    NAMED(MPI_REAL4), NAMED(MPI_REAL8),  NAMED(MPI_REAL16), NAMED(MPI_LONG_DOUBLE)};
const std::vector<Named> kLogical = {NAMED(MPI_LOGICAL), NAMED(MPI_C_BOOL), NAMED(MPI_CXX_BOOL)};
const std::vector<Named> kComplex = {NAMED(MPI_COMPLEX),
                                     NAMED(MPI_C_COMPLEX),
                                     NAMED(MPI_C_FLOAT_COMPLEX),
                                     NAMED(MPI_C_DOUBLE_COMPLEX),
                                     NAMED(MPI_C_LONG_DOUBLE_COMPLEX),
                                     NAMED(MPI_CXX_FLOAT_COMPLEX),
                                     NAMED(MPI_CXX_DOUBLE_COMPLEX),
                                     NAMED(MPI_CXX_LONG_DOUBLE_COMPLEX),
                                     NAMED(MPI_DOUBLE_COMPLEX),
                                     NAMED(MPI_COMPLEX8),
                                     NAMED(MPI_COMPLEX16),
                                     NAMED(MPI_COMPLEX32)};
const std::vector<Named> kByte = {NAMED(MPI_BYTE)};
const std::vector<Named> kMultiLanguage = {NAMED(MPI_AINT), NAMED(MPI_OFFSET), NAMED(MPI_COUNT)};
const std::vector<Named> kPairs = {
    NAMED(MPI_FLOAT_INT), NAMED(MPI_DOUBLE_INT),        NAMED(MPI_LONG_INT),
    NAMED(MPI_2INT),      NAMED(MPI_SHORT_INT),         NAMED(MPI_LONG_DOUBLE_INT),
    NAMED(MPI_2REAL),     NAMED(MPI_2DOUBLE_PRECISION), NAMED(MPI_2INTEGER)};
const std::vector<Named> kText = {NAMED(MPI_CHAR), NAMED(MPI_WCHAR), NAMED(MPI_CHARACTER),
                                  NAMED(MPI_PACKED)};

struct Row {
  TypeGroup group;
  const std::vector<Named>& types;
};
const std::array<Row, 9> kRows = {{{TypeGroup::c_integer, kCIntegers},
                                   {TypeGroup::fortran_integer, kFortranIntegers},
                                   {TypeGroup::floating_point, kFloatingPoint},
                                   {TypeGroup::logical, kLogical},
                                   {TypeGroup::complex, kComplex},
                                   {TypeGroup::byte, kByte},
                                   {TypeGroup::multi_language, kMultiLanguage},
                                   {TypeGroup::pair, kPairs},
                                   {TypeGroup::text, kText}}};

/// The second table of section 6.9.2, and 6.9.4.
struct Permission {
  const char* name;
  MPI_Op op;
  std::set<TypeGroup> groups;
};
std::vector<Permission> permissions() {
  using enum TypeGroup;
  const std::set<TypeGroup> ordered = {c_integer, fortran_integer, floating_point, multi_language};
  const std::set<TypeGroup> arithmetic = {c_integer, fortran_integer, floating_point, complex,
                                          multi_language};
  const std::set<TypeGroup> truth = {c_integer, logical};
  const std::set<TypeGroup> bits = {c_integer, fortran_integer, byte, multi_language};
  return {{"MPI_MAX", MPI_MAX, ordered},      {"MPI_MIN", MPI_MIN, ordered},
          {"MPI_SUM", MPI_SUM, arithmetic},   {"MPI_PROD", MPI_PROD, arithmetic},
          {"MPI_LAND", MPI_LAND, truth},      {"MPI_LOR", MPI_LOR, truth},
          {"MPI_LXOR", MPI_LXOR, truth},      {"MPI_BAND", MPI_BAND, bits},
          {"MPI_BOR", MPI_BOR, bits},         {"MPI_BXOR", MPI_BXOR, bits},
          {"MPI_MINLOC", MPI_MINLOC, {pair}}, {"MPI_MAXLOC", MPI_MAXLOC, {pair}},
          {"MPI_REPLACE", MPI_REPLACE, {}},   {"MPI_NO_OP", MPI_NO_OP, {}},
          {"MPI_OP_NULL", MPI_OP_NULL, {}}};
}

/// Calls `action` with every type that the library has.
template <class Action>
void for_each_type(const Action& action) {
  for (const Row& row : kRows) {
    for (const Named& type : row.types) {
      if (type.handle == MPI_DATATYPE_NULL) continue;
      CAPTURE(type.name);
      action(row.group, type);
    }
  }
}

TEST_CASE("MPI's types are in the groups that the standard puts them in") {
  std::size_t count = 0;
  for_each_type([&](TypeGroup group, const Named& type) {
    const auto known = hycoll::find_predefined(type.handle);
    REQUIRE(known.has_value());
    CHECK(known->group == group);
    ++count;
  });
  CHECK(count >= 55);  // both libraries have nearly all of them
}

TEST_CASE("representations have the size and the kind of C's types") {
  const auto representation = [](MPI_Datatype type) {
    return hycoll::find_predefined(type).value().representation;
  };
  CHECK(representation(MPI_SIGNED_CHAR) == Representation::int8);
  CHECK(representation(MPI_INT) == Representation::int32);
  CHECK(representation(MPI_LONG) == (sizeof(long) == 8 ? Representation::int64  //
                                                       : Representation::int32));
  CHECK(representation(MPI_UNSIGNED_SHORT) == Representation::uint16);
  CHECK(representation(MPI_UNSIGNED_LONG_LONG) == Representation::uint64);
  CHECK(representation(MPI_BYTE) == Representation::uint8);
  CHECK(representation(MPI_AINT) ==
        (sizeof(MPI_Aint) == 8 ? Representation::int64 : Representation::int32));
  CHECK(representation(MPI_COUNT) == Representation::int64);
  CHECK(representation(MPI_INTEGER2) == Representation::int16);
  CHECK(representation(MPI_REAL4) == Representation::float32);
  CHECK(representation(MPI_DOUBLE_PRECISION) == Representation::float64);
  CHECK(representation(MPI_LONG_DOUBLE) == Representation::long_double);
  CHECK(representation(MPI_REAL16) == Representation::float128);
  CHECK(representation(MPI_COMPLEX8) == Representation::complex_float32);
  CHECK(representation(MPI_CXX_DOUBLE_COMPLEX) == Representation::complex_float64);
  CHECK(representation(MPI_C_LONG_DOUBLE_COMPLEX) == Representation::complex_long_double);
  CHECK(representation(MPI_2INT) == Representation::pair_2int);
  CHECK(representation(MPI_CHAR) == Representation::text);
}

TEST_CASE("types of one of hycoll's own have the size of that one") {
  for_each_type([&](TypeGroup, const Named& type) {
    const auto known = hycoll::find_predefined(type.handle).value();
    const auto data_type = hycoll::data_type_of(known.representation);
    if (!data_type) return;
    int size_bytes = 0;
    MPI_Type_size(type.handle, &size_bytes);
    CHECK(hycoll::size_of(*data_type) == static_cast<std::size_t>(size_bytes));
  });
  CHECK_FALSE(hycoll::data_type_of(Representation::long_double).has_value());
  CHECK_FALSE(hycoll::data_type_of(Representation::logical).has_value());
  CHECK_FALSE(hycoll::data_type_of(Representation::text).has_value());
  CHECK(hycoll::data_type_of(Representation::boolean) == DataType::uint8);
}

TEST_CASE("hycoll's types and operators go to MPI and back") {
  for (int index = 0; index < hycoll::kDataTypeCount; ++index) {
    const auto type = static_cast<DataType>(index);
    CAPTURE(hycoll::name_of(type));
    const auto known = hycoll::find_predefined(hycoll::mpi_type_of(type));
    REQUIRE(known.has_value());
    CHECK(hycoll::data_type_of(known->representation) == type);
    for (int number = 0; number < hycoll::kOperatorCount; ++number) {
      const auto op = static_cast<Operator>(number);
      CHECK(hycoll::operator_of(hycoll::mpi_operator_of(op)) == op);
      CHECK(hycoll::is_allowed(hycoll::mpi_operator_of(op), hycoll::mpi_type_of(type)) ==
            hycoll::is_defined_for(op, type));
    }
  }
  CHECK(hycoll::mpi_operator_of(Operator::sum) == MPI_SUM);
  CHECK(hycoll::mpi_operator_of(Operator::bit_xor) == MPI_BXOR);
  CHECK_FALSE(hycoll::operator_of(MPI_MAXLOC).has_value());
  CHECK_FALSE(hycoll::operator_of(MPI_OP_NULL).has_value());
}

TEST_CASE("operators are allowed on the types that the standard allows") {
  for (const Permission& permission : permissions()) {
    CAPTURE(permission.name);
    CHECK(hycoll::is_predefined(permission.op));
    CHECK(hycoll::operator_name(permission.op) == permission.name);
    for_each_type([&](TypeGroup group, const Named& type) {
      CHECK(hycoll::is_allowed(permission.op, type.handle) == permission.groups.contains(group));
    });
    CHECK_FALSE(hycoll::is_allowed(permission.op, MPI_DATATYPE_NULL));
  }
}

TEST_CASE("Fortran's types by precision are types like others") {
  struct Expected {
    int digits;
    Representation representation;
  };
  MPI_Datatype type = MPI_DATATYPE_NULL;
  for (const Expected& expected : std::initializer_list<Expected>{{2, Representation::int8},
                                                                  {4, Representation::int16},
                                                                  {9, Representation::int32},
                                                                  {18, Representation::int64}}) {
    CAPTURE(expected.digits);
    REQUIRE(MPI_Type_create_f90_integer(expected.digits, &type) == MPI_SUCCESS);
    const PredefinedType integer{TypeGroup::fortran_integer, expected.representation};
    CHECK(hycoll::find_predefined(type) == integer);
    CHECK(hycoll::is_allowed(MPI_BXOR, type));
    CHECK_FALSE(hycoll::is_allowed(MPI_LXOR, type));
  }
  REQUIRE(MPI_Type_create_f90_real(6, MPI_UNDEFINED, &type) == MPI_SUCCESS);
  const PredefinedType real{TypeGroup::floating_point, Representation::float32};
  CHECK(hycoll::find_predefined(type) == real);
  REQUIRE(MPI_Type_create_f90_complex(15, MPI_UNDEFINED, &type) == MPI_SUCCESS);
  const PredefinedType complex{TypeGroup::complex, Representation::complex_float64};
  CHECK(hycoll::find_predefined(type) == complex);
}

TEST_CASE("derived types are not predefined, whatever they are made of") {
  std::array<MPI_Datatype, 3> types = {};
  MPI_Type_dup(MPI_DOUBLE, &types[0]);
  MPI_Type_contiguous(3, MPI_INT, &types[1]);
  MPI_Type_create_resized(MPI_BYTE, -1, 3, &types[2]);
  for (MPI_Datatype& type : types) {
    CHECK_FALSE(hycoll::find_predefined(type).has_value());
    for (const Permission& permission : permissions()) {
      CHECK_FALSE(hycoll::is_allowed(permission.op, type));
    }
    MPI_Type_free(&type);
  }
  CHECK_FALSE(hycoll::find_predefined(MPI_DATATYPE_NULL).has_value());
}

void last_one_wins(void*, void*, int*, MPI_Datatype*) {}

TEST_CASE("names are those that users know") {
  CHECK(hycoll::type_name(MPI_DOUBLE) == "MPI_DOUBLE");
  CHECK(hycoll::type_name(MPI_DATATYPE_NULL) == "MPI_DATATYPE_NULL");
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(4, MPI_INT, &type);
  MPI_Type_set_name(type, "matrix");
  CHECK(hycoll::type_name(type) == "derived datatype 'matrix'");
  MPI_Type_free(&type);
  MPI_Type_create_f90_real(6, MPI_UNDEFINED, &type);
  CHECK_FALSE(hycoll::type_name(type).empty());
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(last_one_wins, 0, &op);
  CHECK_FALSE(hycoll::is_predefined(op));
  CHECK_FALSE(hycoll::is_allowed(op, MPI_INT));
  CHECK(hycoll::operator_name(op) == "user-defined operator");
  MPI_Op_free(&op);
}

}  // namespace
