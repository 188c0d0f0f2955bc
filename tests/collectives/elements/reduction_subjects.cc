#include "tests/collectives/elements/reduction_subjects.h"

#include <cstring>
#include <random>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace hycoll::testing {
namespace {

/// Fortran's REAL(16).
#ifdef __SIZEOF_FLOAT128__
using Float128 = __float128;
#else  // ARM processors
using Float128 = long double;
#endif

// The arithmetic of one element. Kinds of elements differ in the operators that they have, in what
// values to try, and in what makes two of them equal (padding does not).

template <class T>
struct IntegerElement {
  T value;

  static IntegerElement random(std::mt19937_64& bits) {
    // Zeros often, for the logical operators.
    return {static_cast<T>(bits() % 4 == 0 ? 0 : bits())};
  }
  static IntegerElement apply(ReductionOp op, IntegerElement left, IntegerElement right) {
    using Wide = unsigned __int128;
    const T a = left.value;
    const T b = right.value;
    switch (op) {
      case ReductionOp::max:
        return {a > b ? a : b};
      case ReductionOp::min:
        return {a < b ? a : b};
      case ReductionOp::sum:
        return {static_cast<T>(static_cast<Wide>(a) + static_cast<Wide>(b))};
      case ReductionOp::prod:
        return {static_cast<T>(static_cast<Wide>(a) * static_cast<Wide>(b))};
      case ReductionOp::land:
        return {static_cast<T>(a != 0 && b != 0 ? 1 : 0)};
      case ReductionOp::lor:
        return {static_cast<T>(a != 0 || b != 0 ? 1 : 0)};
      case ReductionOp::lxor:
        return {static_cast<T>((a != 0) != (b != 0) ? 1 : 0)};
      case ReductionOp::band:
        return {static_cast<T>(a & b)};
      case ReductionOp::bor:
        return {static_cast<T>(a | b)};
      case ReductionOp::bxor:
        return {static_cast<T>(a ^ b)};
      default:
        throw std::logic_error("no such operator on integers");
    }
  }
  bool operator==(const IntegerElement&) const = default;
};

template <class T>
struct FloatElement {
  T value;

  // Sums round, so that the order of additions shows.
  static FloatElement random(std::mt19937_64& bits) {
    const int numerator = static_cast<int>(bits() % 2001) - 1000;
    const int denominator = static_cast<int>(bits() % 997) + 1;
    return {static_cast<T>(numerator) / static_cast<T>(denominator)};
  }
  static FloatElement apply(ReductionOp op, FloatElement left, FloatElement right) {
    const T a = left.value;
    const T b = right.value;
    switch (op) {
      case ReductionOp::max:
        return {a > b ? a : b};
      case ReductionOp::min:
        return {a < b ? a : b};
      case ReductionOp::sum:
        return {a + b};
      case ReductionOp::prod:
        return {a * b};
      default:
        throw std::logic_error("no such operator on floating-point numbers");
    }
  }
  bool operator==(const FloatElement&) const = default;
};

template <class T>
struct ComplexElement {
  T real;
  T imaginary;

  // Products of a few such factors are exact, whether a compiler fuses operations or not.
  static ComplexElement random(std::mt19937_64& bits) {
    const auto part = [&] { return static_cast<T>(static_cast<int>(bits() % 7) - 3); };
    return {part(), part()};
  }
  static ComplexElement apply(ReductionOp op, ComplexElement left, ComplexElement right) {
    switch (op) {
      case ReductionOp::sum:
        return {left.real + right.real, left.imaginary + right.imaginary};
      case ReductionOp::prod:
        return {left.real * right.real - left.imaginary * right.imaginary,
                left.real * right.imaginary + left.imaginary * right.real};
      default:
        throw std::logic_error("no such operator on complex numbers");
    }
  }
  bool operator==(const ComplexElement&) const = default;
};

/// T holds 0 or 1.
template <class T>
struct LogicalElement {
  T value;

  static LogicalElement random(std::mt19937_64& bits) { return {static_cast<T>(bits() % 2)}; }
  static LogicalElement apply(ReductionOp op, LogicalElement left, LogicalElement right) {
    const bool a = left.value != 0;
    const bool b = right.value != 0;
    switch (op) {
      case ReductionOp::land:
        return {static_cast<T>(a && b)};
      case ReductionOp::lor:
        return {static_cast<T>(a || b)};
      case ReductionOp::lxor:
        return {static_cast<T>(a != b)};
      default:
        throw std::logic_error("no such operator on truth values");
    }
  }
  bool operator==(const LogicalElement&) const = default;
};

template <class Value, class Index>
struct PairElement {
  Value value;
  Index index;

  // Equal values are frequent: then the index decides.
  static PairElement random(std::mt19937_64& bits) {
    PairElement result{};
    result.value = static_cast<Value>(static_cast<int>(bits() % 5) - 2);
    result.index = static_cast<Index>(bits() % 100);
    return result;
  }
  static PairElement apply(ReductionOp op, PairElement left, PairElement right) {
    if (left.value == right.value) return left.index < right.index ? left : right;
    const bool is_left =
        op == ReductionOp::maxloc ? left.value > right.value : left.value < right.value;
    return is_left ? left : right;
  }
  bool operator==(const PairElement&) const = default;
};

template <class Element>
ReductionSubject make_subject(const char* name, MPI_Datatype handle,
                              std::vector<ReductionOp> allowed) {
  static_assert(std::is_trivially_copyable_v<Element>);
  const auto load = [](const std::byte* address) {
    Element element;
    std::memcpy(&element, address, sizeof(Element));
    return element;
  };
  return {.name = name,
          .handle = handle,
          .allowed = std::move(allowed),
          .size_bytes = sizeof(Element),
          .fill =
              [](std::byte* buffer, std::size_t count, std::uint64_t seed) {
                std::mt19937_64 bits(seed);
                for (std::size_t index = 0; index < count; ++index) {
                  const Element element = Element::random(bits);
                  std::memcpy(buffer + index * sizeof(Element), &element, sizeof(Element));
                }
              },
          .fold_into_left =
              [load](ReductionOp op, const std::byte* right, std::byte* left, std::size_t count) {
                for (std::size_t index = 0; index < count; ++index) {
                  const std::size_t offset = index * sizeof(Element);
                  const Element result =
                      Element::apply(op, load(left + offset), load(right + offset));
                  std::memcpy(left + offset, &result, sizeof(Element));
                }
              },
          .is_equal = [load](const std::byte* left,
                             const std::byte* right) { return load(left) == load(right); }};
}

const std::vector<ReductionOp> kFloat = {ReductionOp::max, ReductionOp::min, ReductionOp::sum,
                                         ReductionOp::prod};
const std::vector<ReductionOp> kComplex = {ReductionOp::sum, ReductionOp::prod};
const std::vector<ReductionOp> kTruth = {ReductionOp::land, ReductionOp::lor, ReductionOp::lxor};
const std::vector<ReductionOp> kBits = {ReductionOp::band, ReductionOp::bor, ReductionOp::bxor};
const std::vector<ReductionOp> kPair = {ReductionOp::maxloc, ReductionOp::minloc};
const std::vector<ReductionOp> kFortranInteger = {
    ReductionOp::max,  ReductionOp::min, ReductionOp::sum, ReductionOp::prod,
    ReductionOp::band, ReductionOp::bor, ReductionOp::bxor};
const std::vector<ReductionOp> kCInteger = {
    ReductionOp::max,  ReductionOp::min, ReductionOp::sum, ReductionOp::prod, ReductionOp::land,
    ReductionOp::band, ReductionOp::lor, ReductionOp::bor, ReductionOp::lxor, ReductionOp::bxor};

#define SUBJECT(Element, handle, allowed) make_subject<Element>(#handle, handle, allowed)
#define INTEGER(T, handle) SUBJECT(IntegerElement<T>, handle, kCInteger)
#define FORTRAN(T, handle) SUBJECT(IntegerElement<T>, handle, kFortranInteger)
#define PAIR(Value, Index, handle) make_subject<PairElement<Value, Index>>(#handle, handle, kPair)

void add_integers(std::vector<ReductionSubject>& subjects) {
  subjects.insert(subjects.end(), {INTEGER(signed char, MPI_SIGNED_CHAR),
                                   INTEGER(short, MPI_SHORT),
                                   INTEGER(int, MPI_INT),
                                   INTEGER(long, MPI_LONG),
                                   INTEGER(long long, MPI_LONG_LONG),
                                   INTEGER(unsigned char, MPI_UNSIGNED_CHAR),
                                   INTEGER(unsigned short, MPI_UNSIGNED_SHORT),
                                   INTEGER(unsigned, MPI_UNSIGNED),
                                   INTEGER(unsigned long, MPI_UNSIGNED_LONG),
                                   INTEGER(unsigned long long, MPI_UNSIGNED_LONG_LONG),
                                   INTEGER(std::int8_t, MPI_INT8_T),
                                   INTEGER(std::int16_t, MPI_INT16_T),
                                   INTEGER(std::int32_t, MPI_INT32_T),
                                   INTEGER(std::int64_t, MPI_INT64_T),
                                   INTEGER(std::uint8_t, MPI_UINT8_T),
                                   INTEGER(std::uint16_t, MPI_UINT16_T),
                                   INTEGER(std::uint32_t, MPI_UINT32_T),
                                   INTEGER(std::uint64_t, MPI_UINT64_T),
                                   FORTRAN(std::int32_t, MPI_INTEGER),
                                   FORTRAN(std::int8_t, MPI_INTEGER1),
                                   FORTRAN(std::int16_t, MPI_INTEGER2),
                                   FORTRAN(std::int32_t, MPI_INTEGER4),
                                   FORTRAN(std::int64_t, MPI_INTEGER8),
                                   FORTRAN(MPI_Aint, MPI_AINT),
                                   FORTRAN(MPI_Offset, MPI_OFFSET),
                                   FORTRAN(MPI_Count, MPI_COUNT),
                                   SUBJECT(IntegerElement<std::uint8_t>, MPI_BYTE, kBits)});
#ifdef MPI_INTEGER16
  subjects.push_back(FORTRAN(__int128, MPI_INTEGER16));
#endif
  MPI_Datatype by_precision = MPI_DATATYPE_NULL;
  MPI_Type_create_f90_integer(9, &by_precision);
  subjects.push_back(FORTRAN(std::int32_t, by_precision));
}

void add_floating_point(std::vector<ReductionSubject>& subjects) {
  subjects.insert(subjects.end(), {SUBJECT(FloatElement<float>, MPI_FLOAT, kFloat),
                                   SUBJECT(FloatElement<double>, MPI_DOUBLE, kFloat),
                                   SUBJECT(FloatElement<long double>, MPI_LONG_DOUBLE, kFloat),
                                   SUBJECT(FloatElement<float>, MPI_REAL, kFloat),
                                   SUBJECT(FloatElement<double>, MPI_DOUBLE_PRECISION, kFloat),
                                   SUBJECT(FloatElement<float>, MPI_REAL4, kFloat),
                                   SUBJECT(FloatElement<double>, MPI_REAL8, kFloat),
                                   SUBJECT(FloatElement<Float128>, MPI_REAL16, kFloat)});
  MPI_Datatype by_precision = MPI_DATATYPE_NULL;
  MPI_Type_create_f90_real(15, MPI_UNDEFINED, &by_precision);
  subjects.push_back(SUBJECT(FloatElement<double>, by_precision, kFloat));
}

void add_complex(std::vector<ReductionSubject>& subjects) {
  subjects.insert(subjects.end(),
                  {SUBJECT(ComplexElement<float>, MPI_COMPLEX, kComplex),
                   SUBJECT(ComplexElement<double>, MPI_DOUBLE_COMPLEX, kComplex),
                   SUBJECT(ComplexElement<float>, MPI_COMPLEX8, kComplex),
                   SUBJECT(ComplexElement<double>, MPI_COMPLEX16, kComplex),
                   SUBJECT(ComplexElement<Float128>, MPI_COMPLEX32, kComplex),
                   SUBJECT(ComplexElement<float>, MPI_C_COMPLEX, kComplex),
                   SUBJECT(ComplexElement<float>, MPI_C_FLOAT_COMPLEX, kComplex),
                   SUBJECT(ComplexElement<double>, MPI_C_DOUBLE_COMPLEX, kComplex),
                   SUBJECT(ComplexElement<long double>, MPI_C_LONG_DOUBLE_COMPLEX, kComplex),
                   SUBJECT(ComplexElement<float>, MPI_CXX_FLOAT_COMPLEX, kComplex),
                   SUBJECT(ComplexElement<double>, MPI_CXX_DOUBLE_COMPLEX, kComplex),
                   SUBJECT(ComplexElement<long double>, MPI_CXX_LONG_DOUBLE_COMPLEX, kComplex)});
  MPI_Datatype by_precision = MPI_DATATYPE_NULL;
  MPI_Type_create_f90_complex(15, MPI_UNDEFINED, &by_precision);
  subjects.push_back(SUBJECT(ComplexElement<double>, by_precision, kComplex));
}

void add_logical_and_pairs(std::vector<ReductionSubject>& subjects) {
  subjects.insert(
      subjects.end(),
      {SUBJECT(LogicalElement<std::int32_t>, MPI_LOGICAL, kTruth),
       SUBJECT(LogicalElement<bool>, MPI_C_BOOL, kTruth),
       SUBJECT(LogicalElement<bool>, MPI_CXX_BOOL, kTruth), PAIR(float, int, MPI_FLOAT_INT),
       PAIR(double, int, MPI_DOUBLE_INT), PAIR(long, int, MPI_LONG_INT), PAIR(int, int, MPI_2INT),
       PAIR(short, int, MPI_SHORT_INT), PAIR(long double, int, MPI_LONG_DOUBLE_INT),
       PAIR(float, float, MPI_2REAL), PAIR(double, double, MPI_2DOUBLE_PRECISION),
       PAIR(int, int, MPI_2INTEGER)});
#ifdef MPI_LOGICAL1
  subjects.push_back(SUBJECT(LogicalElement<std::int8_t>, MPI_LOGICAL1, kTruth));
#endif
#ifdef MPI_LOGICAL2
  subjects.push_back(SUBJECT(LogicalElement<std::int16_t>, MPI_LOGICAL2, kTruth));
#endif
#ifdef MPI_LOGICAL4
  subjects.push_back(SUBJECT(LogicalElement<std::int32_t>, MPI_LOGICAL4, kTruth));
#endif
#ifdef MPI_LOGICAL8
  subjects.push_back(SUBJECT(LogicalElement<std::int64_t>, MPI_LOGICAL8, kTruth));
#endif
}

}  // namespace

std::vector<NamedOp> all_operators() {
  return {{ReductionOp::max, MPI_MAX, "MPI_MAX"},
          {ReductionOp::min, MPI_MIN, "MPI_MIN"},
          {ReductionOp::sum, MPI_SUM, "MPI_SUM"},
          {ReductionOp::prod, MPI_PROD, "MPI_PROD"},
          {ReductionOp::land, MPI_LAND, "MPI_LAND"},
          {ReductionOp::band, MPI_BAND, "MPI_BAND"},
          {ReductionOp::lor, MPI_LOR, "MPI_LOR"},
          {ReductionOp::bor, MPI_BOR, "MPI_BOR"},
          {ReductionOp::lxor, MPI_LXOR, "MPI_LXOR"},
          {ReductionOp::bxor, MPI_BXOR, "MPI_BXOR"},
          {ReductionOp::maxloc, MPI_MAXLOC, "MPI_MAXLOC"},
          {ReductionOp::minloc, MPI_MINLOC, "MPI_MINLOC"}};
}

std::vector<ReductionSubject> all_subjects() {
  std::vector<ReductionSubject> subjects;
  add_integers(subjects);
  add_floating_point(subjects);
  add_complex(subjects);
  add_logical_and_pairs(subjects);
  std::erase_if(subjects, [](const ReductionSubject& subject) {
    return subject.handle == MPI_DATATYPE_NULL;
  });
  for (const auto& [name, handle] : {std::pair{"MPI_CHAR", MPI_CHAR},
                                     {"MPI_PACKED", MPI_PACKED},
                                     {"MPI_CHARACTER", MPI_CHARACTER}}) {
    subjects.push_back(make_subject<IntegerElement<std::int8_t>>(name, handle, {}));
  }
  static_assert(sizeof(wchar_t) == sizeof(std::int32_t));
  subjects.push_back(make_subject<IntegerElement<std::int32_t>>("MPI_WCHAR", MPI_WCHAR, {}));
  return subjects;
}

}  // namespace hycoll::testing
