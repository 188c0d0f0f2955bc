// Every predefined type with every operator: those that MPI allows together against arithmetic of
// the tests' own, the others against the error. Without communication.
#include <doctest/doctest.h>
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "collectives/elements/reduction.h"
#include "core/base/errors.h"
#include "tests/collectives/elements/reduction_subjects.h"
#include "tests/collectives/elements/reduction_trial.h"

namespace mpi_reducer_mpi_test {

using hycoll::ElementType;
using hycoll::Error;
using hycoll::ErrorKind;
using hycoll::Operation;
using hycoll::Reduction;
using hycoll::resolve_reduction;
using hycoll::testing::all_arrangements;
using hycoll::testing::all_operators;
using hycoll::testing::all_subjects;
using hycoll::testing::Arrangement;
using hycoll::testing::check_arrangements;
using hycoll::testing::counts_around_a_block;
using hycoll::testing::NamedOp;
using hycoll::testing::try_reducer;
using Op = hycoll::testing::ReductionOp;
using Subject = hycoll::testing::ReductionSubject;

int size_of(MPI_Datatype type) {
  int size_bytes = 0;
  MPI_Type_size(type, &size_bytes);
  return size_bytes;
}

/// Reduces vectors that lie as the program lays them out by a reducer of hycoll's vectors.
class Unstaged final : public hycoll::ForeignReducer {
 public:
  explicit Unstaged(const Reduction& reduction) : reduction_(reduction) {}

  bool runs_anywhere() const noexcept override { return reduction_.reducer.runs_anywhere(); }

  void reduce(std::span<void* const> destinations, std::span<const void* const> sources,
              std::size_t count) const override {
    const std::size_t size_bytes = count * reduction_.element_bytes;
    std::map<const void*, std::vector<std::byte>> vectors;  // one for each address
    std::vector<const void*> from;
    for (const void* const source : sources) {
      std::vector<std::byte>& packed = vectors[source];
      packed.resize(size_bytes);
      reduction_.pack(source, size_bytes, packed.data());
      from.push_back(packed.data());
    }
    std::vector<void*> to;
    for (const void* const destination : destinations) {
      std::vector<std::byte>& packed = vectors[destination];
      packed.resize(size_bytes);
      to.push_back(packed.data());
    }
    reduction_.reducer(to, from, count, hycoll::Stores::cached);
    for (void* const destination : destinations) {
      reduction_.unpack(vectors[destination].data(), size_bytes, destination);
    }
  }

 private:
  const Reduction& reduction_;
};

void check_refused(const Subject& subject, const NamedOp& op) {
  try {
    resolve_reduction(ElementType(subject.handle), Operation(op.handle), "allreduce");
    FAIL_CHECK("not refused");
  } catch (const Error& error) {
    const std::string message = error.what();
    CAPTURE(message);
    CHECK(error.kind() == ErrorKind::invalid_argument);
    CHECK(message.starts_with("allreduce: "));
    CHECK(message.find(op.name) != std::string::npos);
    CHECK(message.find(ElementType(subject.handle).name()) != std::string::npos);
  }
}

TEST_CASE("every operator that MPI allows on a type is right, and every other one is refused") {
  const std::vector<Arrangement> arrangements = {
      {1, 2, -1, -1}, {2, 1, -1, -1}, {2, 2, 0, -1}, {3, 2, 2, 0}, {5, 3, 1, 4}};
  std::size_t allowed_count = 0;
  std::size_t refused_count = 0;
  for (const Subject& subject : all_subjects()) {
    CAPTURE(subject.name);
    for (const NamedOp& op : all_operators()) {
      CAPTURE(op.name);
      if (std::find(subject.allowed.begin(), subject.allowed.end(), op.op) ==
          subject.allowed.end()) {
        check_refused(subject, op);
        ++refused_count;
        continue;
      }
      const Reduction reduction =
          resolve_reduction(ElementType(subject.handle), Operation(op.handle), "allreduce");
      REQUIRE(reduction.element_bytes == static_cast<std::size_t>(size_of(subject.handle)));
      CHECK(reduction.is_commutative);
      CHECK((reduction.staging == nullptr) == (reduction.element_bytes == subject.size_bytes));
      const Unstaged unstaged(reduction);
      check_arrangements(subject, op.op, {.foreign = &unstaged}, arrangements,
                         {1, 8192 / subject.size_bytes + 1});
      ++allowed_count;
    }
  }
  // 18 C integers with 10 operators, 9 Fortran and multi-language ones with 7, ...
  CHECK(allowed_count >= 18 * 10 + 9 * 7 + 3 + 9 * 4 + 13 * 2 + 3 * 3 + 9 * 2);
  CHECK(refused_count > allowed_count);
}

TEST_CASE("foreign reducers keep order, aliases and neighbours for any number of operands") {
  struct Sample {
    MPI_Datatype type;
    NamedOp op;
  };
  const std::vector<Sample> samples = {
      {MPI_LONG_DOUBLE, {Op::sum, MPI_SUM, "MPI_SUM"}},
      {MPI_SHORT_INT, {Op::maxloc, MPI_MAXLOC, "MPI_MAXLOC"}},
      {MPI_LOGICAL, {Op::lxor, MPI_LXOR, "MPI_LXOR"}},
      {MPI_C_FLOAT_COMPLEX, {Op::sum, MPI_SUM, "MPI_SUM"}},
      {MPI_REAL16, {Op::sum, MPI_SUM, "MPI_SUM"}},
  };
  const std::vector<Arrangement> arrangements = all_arrangements();
  const std::vector<Subject> subjects = all_subjects();
  for (const Sample& sample : samples) {
    const auto subject = std::find_if(subjects.begin(), subjects.end(), [&](const Subject& other) {
      return other.handle == sample.type;
    });
    REQUIRE(subject != subjects.end());
    CAPTURE(subject->name);
    const Reduction reduction =
        resolve_reduction(ElementType(sample.type), Operation(sample.op.handle), "reduce");
    CHECK_FALSE(reduction.data_type.has_value());
    CHECK(reduction.reducer.foreign == reduction.foreign_owner.get());
    const Unstaged unstaged(reduction);
    check_arrangements(*subject, sample.op.op, {.foreign = &unstaged}, arrangements,
                       counts_around_a_block(reduction.element_bytes));
  }
}

/// Whether any thread may reduce so.
bool runs_anywhere(const hycoll::ElementType& type, const hycoll::Operation& operation) {
  return resolve_reduction(ElementType(type), Operation(operation), "allreduce")
      .reducer.runs_anywhere();
}

TEST_CASE("operators of the program's run anywhere only if it says so, MPI where it may") {
  int provided = MPI_THREAD_SINGLE;
  MPI_Query_thread(&provided);
  CHECK(runs_anywhere(ElementType(MPI_INT), Operation(MPI_SUM)));
  CHECK(runs_anywhere(ElementType(MPI_C_FLOAT_COMPLEX), Operation(MPI_SUM)));
  CHECK(runs_anywhere(ElementType(MPI_SHORT_INT), Operation(MPI_MAXLOC)) ==
        (provided == MPI_THREAD_MULTIPLE));
  MPI_Op user = MPI_OP_NULL;
  MPI_Op_create([](void*, void*, int*, MPI_Datatype*) {}, 1, &user);
  CHECK_FALSE(runs_anywhere(ElementType(MPI_INT), Operation(user)));
  MPI_Op_free(&user);
  const auto nothing = [](const void*, void*, std::size_t) {};
  const auto custom = [&](hycoll::Concurrency concurrency) {
    return hycoll::Operation::custom(nothing, hycoll::Commutativity::commutative, concurrency);
  };
  CHECK_FALSE(runs_anywhere(ElementType(MPI_INT), custom(hycoll::Concurrency::one_thread)));
  CHECK(runs_anywhere(ElementType(MPI_INT), custom(hycoll::Concurrency::any_thread)));
}

TEST_CASE("the expectations of this test can fail") {
  const std::vector<Subject> subjects = all_subjects();
  const auto subject = std::find_if(subjects.begin(), subjects.end(), [](const Subject& other) {
    return other.handle == MPI_LONG_DOUBLE;
  });
  REQUIRE(subject != subjects.end());
  const Reduction maximum =
      resolve_reduction(ElementType(MPI_LONG_DOUBLE), Operation(MPI_MAX), "allreduce");
  CHECK_FALSE(try_reducer(*subject, Op::sum, maximum.reducer, {3, 1, -1, -1}, 100).empty());
}

}  // namespace mpi_reducer_mpi_test
