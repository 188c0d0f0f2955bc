// How element types and operations are named and resolved. Without communication.
#include <doctest/doctest.h>
#include <mpi.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "collectives/api/element_type.h"
#include "collectives/api/operation.h"
#include "collectives/elements/reduction.h"
#include "core/base/errors.h"
#include "core/kernels/kernels.h"
#include "tests/collectives/elements/reduction_subjects.h"
#include "tests/support/error_kind.h"

namespace reduction_mpi_test {

using hycoll::Commutativity;
using hycoll::DataType;
using hycoll::ElementType;
using hycoll::Error;
using hycoll::ErrorKind;
using hycoll::Operation;
using hycoll::Operator;
using hycoll::RecentReductions;
using hycoll::Reduction;
using hycoll::resolve_reduction;

void keep_right(const void*, void*, std::size_t) {}
void mpi_keep_right(void*, void*, int*, MPI_Datatype*) {}

/// An operator of the user's that does not commute.
struct UserOperator {
  UserOperator() { MPI_Op_create(mpi_keep_right, 0, &handle); }
  ~UserOperator() { MPI_Op_free(&handle); }
  UserOperator(const UserOperator&) = delete;
  UserOperator& operator=(const UserOperator&) = delete;

  MPI_Op handle = MPI_OP_NULL;
};

/// An int in front of a gap.
struct GappedInt {
  GappedInt() {
    MPI_Type_create_resized(MPI_INT, 0, 12, &handle);
    MPI_Type_commit(&handle);
  }
  ~GappedInt() { MPI_Type_free(&handle); }
  GappedInt(const GappedInt&) = delete;
  GappedInt& operator=(const GappedInt&) = delete;

  MPI_Datatype handle = MPI_DATATYPE_NULL;
};

using hycoll::tests::kind_of_error;

TEST_CASE("element types tell what they are, whichever way they were named") {
  CHECK(ElementType(DataType::int32).handle() == MPI_INT32_T);
  CHECK(ElementType(MPI_INT).handle() == MPI_INT);
  CHECK(ElementType(MPI_INT).data_type() == DataType::int32);
  CHECK_FALSE(ElementType(MPI_INT).given_data_type().has_value());
  CHECK(ElementType(DataType::int32).given_data_type() == DataType::int32);
  CHECK(ElementType(MPI_INT).code() == ElementType(DataType::int32).code());
  CHECK(ElementType(MPI_INTEGER).code() == ElementType(DataType::int32).code());
  CHECK(ElementType(MPI_INT).code() != ElementType(MPI_UNSIGNED).code());
  CHECK_FALSE(ElementType(MPI_INT) == ElementType(DataType::int32));
  CHECK(ElementType(MPI_INT) == ElementType(MPI_INT));
  CHECK(ElementType(MPI_DOUBLE_INT).slot_bytes() == sizeof(double) + sizeof(int));
  CHECK_FALSE(ElementType(MPI_DOUBLE_INT).is_contiguous());
  CHECK(ElementType(MPI_2INT).is_contiguous());
  CHECK_FALSE(ElementType(MPI_LONG_DOUBLE).data_type().has_value());
  CHECK(ElementType(DataType::float32).name() == "float");
  CHECK(ElementType(MPI_FLOAT).name() == "MPI_FLOAT");
  const GappedInt gapped;
  CHECK(ElementType(gapped.handle).code() == 63);
  CHECK_FALSE(ElementType(gapped.handle).is_contiguous());
  for (const auto& subject : hycoll::testing::all_subjects()) {
    CHECK(ElementType(subject.handle).code() < 63);
    if (!subject.allowed.empty()) {
      CHECK(ElementType(subject.handle).slot_bytes() ==
            hycoll::elements_of(ElementType(subject.handle), "test").element_bytes);
    }
  }
}

TEST_CASE("operations tell what they are, whichever way they were named") {
  CHECK(Operation(MPI_SUM).built_in() == Operator::sum);
  CHECK(Operation(Operator::sum).handle() == MPI_SUM);
  CHECK(Operation(MPI_SUM).code() == Operation(Operator::sum).code());
  CHECK(Operation(MPI_MINLOC).code() != Operation(MPI_MAXLOC).code());
  CHECK(Operation(MPI_MINLOC).is_commutative());
  CHECK_FALSE(Operation(MPI_MINLOC).is_user_defined());
  CHECK(Operation(Operator::bit_and).name() == "band");
  CHECK(Operation(MPI_BAND).name() == "MPI_BAND");
  const UserOperator keep;
  const Operation user(keep.handle);
  CHECK(user.is_user_defined());
  CHECK_FALSE(user.is_commutative());
  CHECK_FALSE(user.is_custom());
  CHECK(user.handle() == keep.handle);
  const Operation custom = Operation::custom(keep_right, Commutativity::non_commutative);
  CHECK(custom.is_user_defined());
  CHECK(custom.is_custom());
  CHECK_FALSE(custom.is_commutative());
  CHECK_FALSE(custom.built_in().has_value());
  CHECK(custom.code() == user.code());
  CHECK(custom.code() != Operation::custom(keep_right, Commutativity::commutative).code());
  CHECK(custom.code() < 16);
  const Operation copy = custom;  // NOLINT(performance-unnecessary-copy-initialization)
  CHECK(copy == custom);
  CHECK_FALSE(custom == Operation::custom(keep_right, Commutativity::non_commutative));
}

TEST_CASE("arguments that make no sense are errors with a remedy") {
  const GappedInt gapped;
  std::string message;
  const auto kind = [&](const ElementType& type, const Operation& operation) {
    return kind_of_error([&] { resolve_reduction(type, operation, "scan"); }, &message);
  };
  CHECK(kind(ElementType(gapped.handle), Operation(MPI_SUM)) == ErrorKind::invalid_argument);
  CHECK(message.find("derived datatype") != std::string::npos);
  CHECK(message.find("MPI_Op_create") != std::string::npos);
  CHECK(kind(ElementType(MPI_DATATYPE_NULL), Operation(MPI_SUM)) == ErrorKind::invalid_argument);
  CHECK(message.find("MPI_DATATYPE_NULL") != std::string::npos);
  CHECK(kind(ElementType(MPI_INT), Operation(MPI_OP_NULL)) == ErrorKind::invalid_argument);
  CHECK(message.find("MPI_OP_NULL") != std::string::npos);
  CHECK(kind(ElementType(MPI_INT), Operation(MPI_REPLACE)) == ErrorKind::invalid_argument);
  CHECK(message.find("MPI_REPLACE") != std::string::npos);
  CHECK(kind(ElementType(MPI_CHAR), Operation(MPI_MAX)) == ErrorKind::invalid_argument);
  CHECK(message.find("MPI_SIGNED_CHAR") != std::string::npos);
  CHECK(kind(DataType::float64, Operator::bit_or) == ErrorKind::invalid_argument);
  CHECK(message.starts_with("scan: operator bor is not defined for type double"));
  CHECK(kind_of_error([] { Operation::custom(nullptr, Commutativity::commutative); }) ==
        ErrorKind::invalid_argument);
}

TEST_CASE("reductions are found again, and errors leave nothing behind") {
  RecentReductions reductions;
  const auto kernel = [&](const ElementType& type, const Operation& operation) {
    return reductions.find(type, operation, "reduce").reducer.kernel;
  };
  const Reduction* const first =
      &reductions.find(ElementType(MPI_DOUBLE), Operation(MPI_SUM), "reduce");
  CHECK(&reductions.find(ElementType(MPI_DOUBLE), Operation(MPI_SUM), "reduce") == first);
  CHECK(first->data_type == DataType::float64);
  CHECK(first->op == Operator::sum);
  for (int round = 0; round < 3; ++round) {
    for (int type = 0; type < hycoll::kDataTypeCount; ++type) {
      for (int op = 0; op < hycoll::kOperatorCount; ++op) {
        const auto data_type = static_cast<DataType>(type);
        const auto operation = static_cast<Operator>(op);
        if (!is_defined_for(operation, data_type)) {
          CHECK_THROWS_AS(kernel(data_type, operation), Error);
          continue;
        }
        CHECK((kernel(data_type, operation) == reduce_kernel(operation, data_type)));
      }
    }
  }
  CHECK((kernel(ElementType(MPI_LONG_DOUBLE), Operation(MPI_SUM)) == nullptr));
}

TEST_CASE("handles that are freed and used again mean what they mean now") {
  RecentReductions reductions;
  const Operation operation = Operation::custom(keep_right, Commutativity::non_commutative);
  for (int round = 0; round < 4; ++round) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(round + 1, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Op op = MPI_OP_NULL;
    MPI_Op_create(mpi_keep_right, round % 2, &op);
    const Reduction& custom = reductions.find(ElementType(type), operation, "reduce");
    CHECK(custom.element_bytes == static_cast<std::size_t>(round + 1) * sizeof(int));
    const Reduction& user = reductions.find(ElementType(type), Operation(op), "reduce");
    CHECK(user.element_bytes == static_cast<std::size_t>(round + 1) * sizeof(int));
    CHECK(user.is_commutative == (round % 2 == 1));
    MPI_Op_free(&op);
    MPI_Type_free(&type);
  }
}

TEST_CASE("a copied reduction keeps its reducer and its staging") {
  const GappedInt gapped;
  RecentReductions reductions;
  std::weak_ptr<const hycoll::ForeignReducer> reducer;
  {
    const Reduction copy =
        reductions.find(ElementType(gapped.handle),
                        Operation::custom(keep_right, Commutativity::commutative), "reduce");
    reducer = copy.foreign_owner;
    reductions.find(ElementType(MPI_INT), Operation::custom(keep_right, Commutativity::commutative),
                    "reduce");
    CHECK(copy.element_bytes == sizeof(int));
    CHECK(copy.staging->extent_bytes() == 12);
    CHECK(reducer.lock().get() == copy.reducer.foreign);
  }
  CHECK(reducer.expired());
}

}  // namespace reduction_mpi_test
