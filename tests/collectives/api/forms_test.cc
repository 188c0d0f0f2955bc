// Which calls the interface takes, and which mistakes do not compile. Every refusal stands beside a
// call that differs in one thing only, and is taken.

#include <doctest/doctest.h>
#include <hycoll/hycoll.h>
#include <mpi.h>

#include <array>
#include <concepts>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace hycoll::tests {
namespace {

using Vector = std::vector<double>;
using View = std::span<double>;
using Constants = std::span<const double>;
using Counts = std::vector<std::size_t>;

// Whether a form takes these arguments: `T&` stands for a variable, `T` for a temporary.
#define HYCOLL_TAKES(form)                                               \
  template <class Caller, class... Arguments>                            \
  concept form##_takes = requires(Caller & caller, Arguments && ... a) { \
    caller.form(std::forward<Arguments>(a)...);                          \
  }
HYCOLL_TAKES(allreduce);
HYCOLL_TAKES(iallreduce);
HYCOLL_TAKES(allreduce_init);
HYCOLL_TAKES(reduce);
HYCOLL_TAKES(reduce_scatter);
HYCOLL_TAKES(ireduce_scatter);
HYCOLL_TAKES(reduce_scatter_init);
HYCOLL_TAKES(broadcast);
HYCOLL_TAKES(ibroadcast);
#undef HYCOLL_TAKES

template <class... Arguments>
concept call_takes = requires(Arguments&&... a) {
  calls::allreduce(std::forward<Arguments>(a)...);
};

template <class Caller>
constexpr bool numbers_are_no_operators() {
  // Under MPICH, MPI_Op is int: a root in the wrong place would be an operator.
  static_assert(reduce_takes<Caller, Vector&, Vector&, Operator, int>);
  static_assert(reduce_takes<Caller, Vector&, Vector&, Operation, int>);
  static_assert(!reduce_takes<Caller, Vector&, Vector&, int>);
  static_assert(!reduce_takes<Caller, Vector&, Vector&, MPI_Op>);
  static_assert(allreduce_takes<Caller, int, Operator>);
  static_assert(!allreduce_takes<Caller, int, int>);
  static_assert(broadcast_takes<Caller, void*, int, DataType, int>);
  static_assert(broadcast_takes<Caller, void*, int, ElementType, int>);
  static_assert(!broadcast_takes<Caller, void*, int, int, int>);
  static_assert(!broadcast_takes<Caller, void*, int, MPI_Datatype, int>);
  return true;
}

template <class Caller>
constexpr bool temporaries_are_inputs_of_blocking_calls_only() {
  static_assert(allreduce_takes<Caller, Vector&, Vector&>);
  static_assert(allreduce_takes<Caller, Vector, Vector&>);
  static_assert(allreduce_takes<Caller, std::array<double, 3>, Vector&, Operator>);
  static_assert(!allreduce_takes<Caller, Vector&, Vector>);
  static_assert(allreduce_takes<Caller, Vector&>);
  static_assert(!allreduce_takes<Caller, Vector>);
  static_assert(broadcast_takes<Caller, View>);
  static_assert(!broadcast_takes<Caller, Vector>);

  static_assert(iallreduce_takes<Caller, Vector&, Vector&>);
  static_assert(iallreduce_takes<Caller, const Vector&, View>);
  static_assert(iallreduce_takes<Caller, Constants, View>);
  static_assert(!iallreduce_takes<Caller, Vector, Vector&>);
  static_assert(!iallreduce_takes<Caller, Vector&, Vector>);
  static_assert(!iallreduce_takes<Caller, Vector>);
  static_assert(ibroadcast_takes<Caller, View, int>);
  static_assert(!ibroadcast_takes<Caller, Vector, int>);
  static_assert(allreduce_init_takes<Caller, Vector&, Vector&>);
  static_assert(!allreduce_init_takes<Caller, Vector, Vector&>);

  static_assert(reduce_scatter_takes<Caller, Vector&, Vector&, Counts&>);
  static_assert(reduce_scatter_takes<Caller, Vector&, Vector&, Counts>);
  static_assert(ireduce_scatter_takes<Caller, Vector&, Vector&, Counts&>);
  static_assert(!ireduce_scatter_takes<Caller, Vector&, Vector&, Counts>);
  static_assert(reduce_scatter_init_takes<Caller, Vector&, Vector&, Counts&>);
  static_assert(!reduce_scatter_init_takes<Caller, Vector&, Vector&, Counts>);
  return true;
}

static_assert(numbers_are_no_operators<Communicator>() && numbers_are_no_operators<Member>());
static_assert(temporaries_are_inputs_of_blocking_calls_only<Communicator>());
static_assert(temporaries_are_inputs_of_blocking_calls_only<Member>());

// A Call is a value that may be made later.
static_assert(call_takes<Vector&, Vector&> && call_takes<Constants, View>);
static_assert(!call_takes<Vector, Vector&> && !call_takes<Vector&, Vector>);

// Constants are no outputs, and both containers have elements of one type.
static_assert(!call_takes<Vector&, const Vector&> && !call_takes<Vector&, Constants>);
static_assert(!call_takes<Vector&, std::vector<float>&>);

static_assert(std::convertible_to<Operator, Operation> && !std::convertible_to<MPI_Op, Operation>);
static_assert(std::constructible_from<Operation, MPI_Op>);
static_assert(std::convertible_to<DataType, ElementType>);
static_assert(!std::convertible_to<MPI_Datatype, ElementType>);
static_assert(std::constructible_from<ElementType, MPI_Datatype>);

static_assert(HYCOLL_VERSION >= HYCOLL_VERSION_NUMBER(0, 1, 0));
static_assert(HYCOLL_VERSION < HYCOLL_VERSION_NUMBER(HYCOLL_VERSION_MAJOR, 99, 0));
static_assert(HYCOLL_VERSION_NUMBER(1, 0, 0) > HYCOLL_VERSION_NUMBER(0, 99, 99));

TEST_CASE("calls of containers carry the sizes that they must be compared with") {
  Vector input(6);
  Vector output(2);
  const Call blocks = calls::reduce_scatter_block(input, output);
  CHECK(blocks.count == 2);
  CHECK(blocks.input_size == 6);
  CHECK(blocks.output_size == 2);
  const Counts counts = {2, 4};
  const Call scattered = calls::reduce_scatter(input, output, counts);
  CHECK(scattered.input_size == 6);
  CHECK(scattered.output_size == 2);
  const Call gathered = calls::allgather(output, input);
  CHECK(gathered.count == 2);
  CHECK(gathered.output_size == 6);
  const Call to_root = calls::gather(output, input, 1);
  CHECK(to_root.count == 2);
  CHECK(to_root.output_size == 6);
  CHECK(to_root.root == 1);
  const Call from_root = calls::scatter(input, output, 1);
  CHECK(from_root.count == 2);
  CHECK(from_root.input_size == 6);
  CHECK(from_root.root == 1);
  CHECK(calls::reduce(input, View()).output_size == 0);
  CHECK_THROWS_WITH_AS(calls::reduce(input, output), doctest::Contains("must have the same size"),
                       Error);
}

}  // namespace
}  // namespace hycoll::tests
