#ifndef HYCOLL_COLLECTIVES_API_VALUES_H_
#define HYCOLL_COLLECTIVES_API_VALUES_H_

#include <mpi.h>

#include <complex>
#include <concepts>
#include <type_traits>

#include "hycoll/element_type.h"
#include "hycoll/half.h"
#include "hycoll/types.h"

namespace hycoll {

/// A value and where it is, for Operation::min_location() and max_location(): the pairs of MPI's
/// MPI_MINLOC.
///
/// Example: the largest error of all processes, and whose it is.
///
///     hycoll::Communicator communicator(MPI_COMM_WORLD);
///     const double error = 0.5 + communicator.rank();
///     const auto largest = communicator.allreduce(hycoll::ValueIndex{error, communicator.rank()},
///                                                 hycoll::Operation::max_location());
///     check(largest.index == communicator.size() - 1 && largest.value == 0.5 + largest.index);
template <class T>
struct ValueIndex {
  T value;    ///< What is compared.
  int index;  ///< Of equal values the least one is taken.
  /// Whether both are equal.
  friend bool operator==(const ValueIndex&, const ValueIndex&) = default;
};
/// `ValueIndex{value, index}` has the type of its value.
template <class T>
ValueIndex(T, int) -> ValueIndex<T>;

namespace internal {

/// MPI's type of a C++ type that has no DataType: a function `handle()`; none of other types.
template <class T>
struct TypeOfMpi {};

#define HYCOLL_TYPE_OF_MPI(type, mpi_type)                                  \
  template <>                                                               \
  struct TypeOfMpi<type> {                                                  \
    static MPI_Datatype handle() noexcept { return mpi_type; } /* NOLINT */ \
  };
HYCOLL_TYPE_OF_MPI(bool, MPI_C_BOOL)
HYCOLL_TYPE_OF_MPI(long double, MPI_LONG_DOUBLE)
HYCOLL_TYPE_OF_MPI(std::complex<float>, MPI_C_FLOAT_COMPLEX)
HYCOLL_TYPE_OF_MPI(std::complex<double>, MPI_C_DOUBLE_COMPLEX)
HYCOLL_TYPE_OF_MPI(std::complex<long double>, MPI_C_LONG_DOUBLE_COMPLEX)
HYCOLL_TYPE_OF_MPI(ValueIndex<short>, MPI_SHORT_INT)  // NOLINT(google-runtime-int): MPI's
HYCOLL_TYPE_OF_MPI(ValueIndex<int>, MPI_2INT)
HYCOLL_TYPE_OF_MPI(ValueIndex<long>, MPI_LONG_INT)  // NOLINT(google-runtime-int): MPI's
HYCOLL_TYPE_OF_MPI(ValueIndex<float>, MPI_FLOAT_INT)
HYCOLL_TYPE_OF_MPI(ValueIndex<double>, MPI_DOUBLE_INT)
HYCOLL_TYPE_OF_MPI(ValueIndex<long double>, MPI_LONG_DOUBLE_INT)
#undef HYCOLL_TYPE_OF_MPI

}  // namespace internal

/// A C++ type whose values collectives take: by containers, views, or one value at a time. Those of
/// Element, bool, long double, std::complex, float16, bfloat16, and ValueIndex of short, int, long,
/// float, double and long double. Others go by an ElementType.
template <class T>
concept Value = Element<T> || std::same_as<std::remove_cv_t<T>, float16> ||
    std::same_as<std::remove_cv_t<T>, bfloat16> || requires {
  internal::TypeOfMpi<std::remove_cv_t<T>>::handle();
};

/// Its element type.
template <Value T>
ElementType element_type_of() noexcept {
  using Plain = std::remove_cv_t<T>;
  if constexpr (Element<T>) {
    return data_type_of<T>();
  } else if constexpr (std::same_as<Plain, float16>) {
    return HalfType::float16;
  } else if constexpr (std::same_as<Plain, bfloat16>) {
    return HalfType::bfloat16;
  } else {
    return ElementType(internal::TypeOfMpi<Plain>::handle());
  }
}

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_API_VALUES_H_
