#include "collectives/elements/wide_reducer.h"

#include <cstddef>
#include <cstring>
#include <span>

namespace hycoll {
namespace {

#if defined(__SIZEOF_INT128__) && (defined(__SIZEOF_FLOAT128__) || __LDBL_MANT_DIG__ == 113)
#define HYCOLL_HAS_WIDE_TYPES

#ifdef __SIZEOF_FLOAT128__
using Float = __float128;
#else  // ARM processors
using Float = long double;
#endif
using Integer = __int128;
using UnsignedInteger = unsigned __int128;

struct Complex {
  Float real;
  Float imaginary;
};

struct Sum {
  static Float apply(Float left, Float right) { return left + right; }
  static Complex apply(const Complex& left, const Complex& right) {
    return {left.real + right.real, left.imaginary + right.imaginary};
  }
  // Wraps around, as the kernels do.
  static Integer apply(Integer left, Integer right) {
    return static_cast<Integer>(static_cast<UnsignedInteger>(left) +
                                static_cast<UnsignedInteger>(right));
  }
};

struct Product {
  static Float apply(Float left, Float right) { return left * right; }
  static Complex apply(const Complex& left, const Complex& right) {
    return {left.real * right.real - left.imaginary * right.imaginary,
            left.real * right.imaginary + left.imaginary * right.real};
  }
  static Integer apply(Integer left, Integer right) {
    return static_cast<Integer>(static_cast<UnsignedInteger>(left) *
                                static_cast<UnsignedInteger>(right));
  }
};

// NaN if either is, and of equal values the first, as the kernels have it.
struct Minimum {
  template <class T>
  static T apply(T left, T right) {
    return right < left || right != right ? right : left;
  }
};

struct Maximum {
  template <class T>
  static T apply(T left, T right) {
    return left < right || right != right ? right : left;
  }
};

struct BitAnd {
  static Integer apply(Integer left, Integer right) { return left & right; }
};
struct BitOr {
  static Integer apply(Integer left, Integer right) { return left | right; }
};
struct BitXor {
  static Integer apply(Integer left, Integer right) { return left ^ right; }
};

// Fortran's common blocks align these types to 8 bytes only.
template <class T>
T load(const void* address, std::size_t index) {
  T value;
  std::memcpy(&value, static_cast<const std::byte*>(address) + index * sizeof(T), sizeof(T));
  return value;
}

template <class T>
void store(void* address, std::size_t index, const T& value) {
  std::memcpy(static_cast<std::byte*>(address) + index * sizeof(T), &value, sizeof(T));
}

template <class T, class Op>
class ElementwiseReducer final : public ForeignReducer {
 public:
  bool runs_anywhere() const noexcept override { return true; }

  void reduce(std::span<void* const> destinations, std::span<const void* const> sources,
              std::size_t count) const override {
    for (std::size_t index = 0; index < count; ++index) {
      T result = load<T>(sources[0], index);
      for (const void* const source : sources.subspan(1)) {
        result = Op::apply(result, load<T>(source, index));
      }
      for (void* const destination : destinations) store(destination, index, result);
    }
  }
};

template <class T, class Op>
std::shared_ptr<const ForeignReducer> make() {
  return std::make_shared<ElementwiseReducer<T, Op>>();
}

std::shared_ptr<const ForeignReducer> make_float_reducer(Operator op) {
  switch (op) {
    case Operator::sum:
      return make<Float, Sum>();
    case Operator::prod:
      return make<Float, Product>();
    case Operator::min:
      return make<Float, Minimum>();
    case Operator::max:
      return make<Float, Maximum>();
    default:
      return nullptr;
  }
}

std::shared_ptr<const ForeignReducer> make_complex_reducer(Operator op) {
  switch (op) {
    case Operator::sum:
      return make<Complex, Sum>();
    case Operator::prod:
      return make<Complex, Product>();
    default:
      return nullptr;
  }
}

std::shared_ptr<const ForeignReducer> make_integer_reducer(Operator op) {
  switch (op) {
    case Operator::sum:
      return make<Integer, Sum>();
    case Operator::prod:
      return make<Integer, Product>();
    case Operator::min:
      return make<Integer, Minimum>();
    case Operator::max:
      return make<Integer, Maximum>();
    case Operator::bit_and:
      return make<Integer, BitAnd>();
    case Operator::bit_or:
      return make<Integer, BitOr>();
    case Operator::bit_xor:
      return make<Integer, BitXor>();
    default:
      return nullptr;
  }
}

#endif

}  // namespace

std::shared_ptr<const ForeignReducer> make_wide_reducer([[maybe_unused]] Operator op,
                                                        Representation representation) {
  switch (representation) {
#ifdef HYCOLL_HAS_WIDE_TYPES
    case Representation::float128:
      return make_float_reducer(op);
    case Representation::complex_float128:
      return make_complex_reducer(op);
    case Representation::int128:
      return make_integer_reducer(op);
#endif
    default:
      return nullptr;
  }
}

}  // namespace hycoll
