#ifndef HYCOLL_COLLECTIVES_API_OPERATION_H_
#define HYCOLL_COLLECTIVES_API_OPERATION_H_

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "hycoll/types.h"

namespace hycoll {

/// Whether operands may change places. The operands of a non-commutative operator are taken in
/// rank order, and hycoll is free in the placement of parentheses only.
enum class Commutativity : std::uint8_t { commutative, non_commutative };

/// Which threads may run a user's function, and how many at once.
enum class Concurrency : std::uint8_t {
  one_thread,  ///< The thread that makes the call or, where several work on it, those: the further
               ///< workers of a Communicator, a thread in the background of a nonblocking call. One
               ///< thread of the process at a time, over all such operators.
  any_thread,  ///< Any, hycoll's helpers included, and any number; the function has no state, or
               ///< guards it.
};

/// What a reduction does with two elements: one of hycoll's operators, MPI's, or the user's.
/// Functions that take an Operation accept an Operator in its place. An MPI_Op is to be named one,
/// Operation(MPI_SUM): with some MPI libraries it is an int, which a root or a count is, too.
///
/// Example: the largest absolute value, by an operator in C++.
///
///     const auto larger = hycoll::Operation::custom(
///         [](const void* left, void* right_and_result, std::size_t count) {
///           const auto* a = static_cast<const double*>(left);
///           auto* b = static_cast<double*>(right_and_result);
///           for (std::size_t i = 0; i < count; ++i) {
///             b[i] = std::max(std::abs(a[i]), std::abs(b[i]));
///           }
///         },
///         hycoll::Commutativity::commutative);
///     hycoll::Communicator communicator(MPI_COMM_WORLD);
///     double value = -3.0;
///     communicator.allreduce(&value, &value, 1, hycoll::DataType::float64, larger);
///     check(std::abs(value) == 3.0);
///
/// Cheap to copy; copies of a custom operation share the function. An MPI_Op must not be freed
/// before the last call that uses it has completed. All functions may be called by any thread while
/// MPI is initialised.
class Operation {
 public:
  /// Sets right_and_result[i] = left[i] op right_and_result[i] for `count` elements, which lie as
  /// in a user's buffer. The operator must be associative. Called with parts of a vector, of which
  /// the function must touch nothing else; by threads that hycoll chooses. It must not call hycoll.
  using Function = std::function<void(const void* left, void* right_and_result, std::size_t count)>;

  /// One of hycoll's own operators.
  Operation(Operator op) noexcept  // NOLINT(google-explicit-constructor)
      : operator_(static_cast<std::uint8_t>(op)) {}

  /// A predefined operator, or one of MPI_Op_create, which is called as Concurrency::one_thread
  /// says: whatever the thread level, MPI does not ask functions to be safe in several threads.
  explicit Operation(MPI_Op op) noexcept : handle_(op) {}

  /// An operator in C++, on elements of any type. What the function throws ends the call with an
  /// Error (user_operator) that carries the message. Throws Error (invalid_argument) if the
  /// function is empty.
  static Operation custom(Function function, Commutativity commutativity,
                          Concurrency concurrency = Concurrency::one_thread);

  /// The least value of all members, and where it is: on elements of ValueIndex, or of MPI's pairs.
  static Operation min_location() noexcept { return Operation(MPI_MINLOC); }
  /// The same of the largest value.
  static Operation max_location() noexcept { return Operation(MPI_MAXLOC); }

  /// Whether the order of operands makes no difference. Those of hycoll are commutative.
  bool is_commutative() const;

  /// Whether it was made by MPI_Op_create or custom().
  bool is_user_defined() const;

  /// Whether it was made by custom(), so that MPI cannot apply it.
  bool is_custom() const noexcept { return custom_ != nullptr; }

  /// Whether it was made by custom() for any thread.
  bool is_concurrent() const noexcept;

  /// hycoll's own operator, if it is one of those, whichever way it was named.
  std::optional<Operator> built_in() const noexcept;

  /// MPI's handle; MPI_OP_NULL for custom ones.
  MPI_Op handle() const noexcept;

  /// Calls the function of a custom operation as Concurrency demands. Throws Error (user_operator)
  /// if it throws. Requires is_custom().
  void apply(const void* left, void* right_and_result, std::size_t count) const;

  /// For messages: hycoll's or MPI's name, or what it is.
  std::string name() const;

  /// Four bits for the comparison of calls: the operator, or whether a user's one is commutative.
  std::uint8_t code() const;

  /// Whether both stand for the same operator, handle, or function of one call of custom().
  friend bool operator==(const Operation&, const Operation&) = default;

 private:
  struct Custom;
  static constexpr std::uint8_t kNoOperator = 255;

  MPI_Op handle_{};
  std::uint8_t operator_ = kNoOperator;
  std::shared_ptr<const Custom> custom_;
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_API_OPERATION_H_
