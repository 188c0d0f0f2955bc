// User-defined operators and custom ones, on derived datatypes too. Without communication.
#include <doctest/doctest.h>
#include <mpi.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "collectives/api/operation.h"
#include "collectives/elements/reduction.h"
#include "collectives/elements/typed_staging.h"
#include "core/base/errors.h"
#include "tests/collectives/elements/reduction_trial.h"
#include "tests/support/error_kind.h"

namespace operation_mpi_test {

using hycoll::Commutativity;
using hycoll::Concurrency;
using hycoll::DataType;
using hycoll::ElementType;
using hycoll::Error;
using hycoll::ErrorKind;
using hycoll::Operation;
using hycoll::Reduction;
using hycoll::resolve_reduction;
using hycoll::testing::all_arrangements;
using hycoll::testing::check_arrangements;
using hycoll::testing::counts_around_a_block;
using hycoll::testing::ReductionOp;
using hycoll::testing::ReductionSubject;

/// 2 x 2, multiplied modulo 2^32: associative and not commutative.
struct Matrix {
  std::array<std::uint32_t, 4> values;
  bool operator==(const Matrix&) const = default;
};

Matrix product(const Matrix& left, const Matrix& right) {
  const auto& a = left.values;
  const auto& b = right.values;
  return {{a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3],  //
           a[2] * b[0] + a[3] * b[2], a[2] * b[1] + a[3] * b[3]}};
}

void multiply(const void* left, void* right_and_result, std::size_t count) {
  for (std::size_t index = 0; index < count; ++index) {
    auto& right = static_cast<Matrix*>(right_and_result)[index];
    right = product(static_cast<const Matrix*>(left)[index], right);
  }
}

MPI_Datatype matrix_type = MPI_DATATYPE_NULL;  // for mpi_multiply to compare with
std::atomic<bool> saw_another_type{false};

void mpi_multiply(void* left, void* right_and_result, int* count, MPI_Datatype* type) {
  if (*type != matrix_type) saw_another_type = true;
  multiply(left, right_and_result, static_cast<std::size_t>(*count));
}

ReductionSubject matrices() {
  const auto load = [](const std::byte* address) {
    Matrix matrix;
    std::memcpy(&matrix, address, sizeof(Matrix));
    return matrix;
  };
  return {.name = "matrices",
          .handle = matrix_type,
          .allowed = {},
          .size_bytes = sizeof(Matrix),
          .fill =
              [](std::byte* elements, std::size_t count, std::uint64_t seed) {
                std::mt19937 bits(static_cast<std::uint32_t>(seed));
                for (std::size_t index = 0; index < count; ++index) {
                  const Matrix matrix{
                      {static_cast<std::uint32_t>(bits()), static_cast<std::uint32_t>(bits()),
                       static_cast<std::uint32_t>(bits()), static_cast<std::uint32_t>(bits())}};
                  std::memcpy(elements + index * sizeof(Matrix), &matrix, sizeof(Matrix));
                }
              },
          .fold_into_left =
              [load](ReductionOp, const std::byte* right, std::byte* left, std::size_t count) {
                for (std::size_t index = 0; index < count; ++index) {
                  const std::size_t offset = index * sizeof(Matrix);
                  const Matrix result = product(load(left + offset), load(right + offset));
                  std::memcpy(left + offset, &result, sizeof(Matrix));
                }
              },
          .is_equal = [load](const std::byte* left,
                             const std::byte* right) { return load(left) == load(right); }};
}

/// The type of Matrix and its product, while in scope.
class MatrixHandles {
 public:
  MatrixHandles() {
    MPI_Type_contiguous(4, MPI_UINT32_T, &matrix_type);
    MPI_Type_commit(&matrix_type);
    MPI_Op_create(mpi_multiply, 0, &op);
  }
  ~MatrixHandles() {
    MPI_Op_free(&op);
    MPI_Type_free(&matrix_type);
  }
  MatrixHandles(const MatrixHandles&) = delete;
  MatrixHandles& operator=(const MatrixHandles&) = delete;

  MPI_Op op = MPI_OP_NULL;
};

using hycoll::tests::kind_of_error;

TEST_CASE("an operator of MPI_Op_create that does not commute keeps its operands' order") {
  const MatrixHandles handles;
  const Reduction reduction =
      resolve_reduction(ElementType(matrix_type), Operation(handles.op), "allreduce");
  CHECK_FALSE(reduction.is_commutative);
  CHECK(reduction.staging == nullptr);
  CHECK(reduction.element_bytes == sizeof(Matrix));
  check_arrangements(matrices(), ReductionOp::prod, reduction.reducer, all_arrangements(),
                     counts_around_a_block(sizeof(Matrix)));
  CHECK_FALSE(saw_another_type);
}

TEST_CASE("a custom operator that does not commute keeps its operands' order") {
  const MatrixHandles handles;
  for (const Concurrency concurrency : {Concurrency::one_thread, Concurrency::any_thread}) {
    const Operation operation =
        Operation::custom(multiply, Commutativity::non_commutative, concurrency);
    const Reduction reduction = resolve_reduction(ElementType(matrix_type), operation, "allreduce");
    CHECK_FALSE(reduction.is_commutative);
    check_arrangements(matrices(), ReductionOp::prod, reduction.reducer, all_arrangements(),
                       counts_around_a_block(sizeof(Matrix)));
  }
}

TEST_CASE("elements larger than a block are folded one by one") {
  constexpr std::size_t kSize = 5000;  // ints, 20,000 bytes
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(kSize, MPI_INT, &type);
  MPI_Type_commit(&type);
  const Operation operation = Operation::custom(
      [](const void* left, void* right_and_result, std::size_t count) {
        // 2 left + right does not commute, nor does it associate: folds from the left only.
        for (std::size_t index = 0; index < count * kSize; ++index) {
          static_cast<int*>(right_and_result)[index] += 2 * static_cast<const int*>(left)[index];
        }
      },
      Commutativity::non_commutative);
  const Reduction reduction = resolve_reduction(ElementType(type), operation, "allreduce");
  CHECK(reduction.element_bytes == kSize * sizeof(int));
  constexpr std::size_t kCount = 3;
  std::vector<std::vector<int>> inputs(4, std::vector<int>(kCount * kSize));
  for (std::size_t input = 0; input < inputs.size(); ++input) {
    for (std::size_t index = 0; index < kCount * kSize; ++index) {
      inputs[input][index] = static_cast<int>(1000 * input + index);
    }
  }
  std::vector<int> expected = inputs[0];
  for (std::size_t input = 1; input < inputs.size(); ++input) {
    for (std::size_t index = 0; index < expected.size(); ++index) {
      expected[index] = 2 * expected[index] + inputs[input][index];
    }
  }
  std::vector<int> output(kCount * kSize, -1);
  const std::array<const void*, 4> sources = {inputs[0].data(), inputs[1].data(), inputs[2].data(),
                                              inputs[3].data()};
  const std::array<void*, 1> destinations = {output.data()};
  reduction.reducer(destinations, sources, kCount, hycoll::Stores::cached);
  CHECK(output == expected);
  MPI_Type_free(&type);
}

/// A weight below an element's origin and sums above it, with gaps.
struct GappedType {
  GappedType(int sums, std::ptrdiff_t extent) : sum_count(sums), extent_bytes(extent) {
    const std::array<int, 2> lengths = {1, sum_count};
    const std::array<MPI_Aint, 2> displacements = {-8, kSumsOffset};
    const std::array<MPI_Datatype, 2> types = {MPI_DOUBLE, MPI_INT};
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_create_struct(2, lengths.data(), displacements.data(), types.data(), &type);
    MPI_Type_create_resized(type, -8, extent_bytes, &handle);
    MPI_Type_commit(&handle);
    MPI_Type_free(&type);
  }
  ~GappedType() { MPI_Type_free(&handle); }
  GappedType(const GappedType&) = delete;
  GappedType& operator=(const GappedType&) = delete;

  static constexpr std::ptrdiff_t kSumsOffset = 12;
  int sum_count;
  std::ptrdiff_t extent_bytes;
  MPI_Datatype handle = MPI_DATATYPE_NULL;
};

/// What mpi_combine is called for; MPI gives a user's function nothing but the handle.
const GappedType* gapped_type = nullptr;

/// Multiplies the weights and adds right.weight * left.sum to the sums, which does not commute.
void combine(const void* left, void* right_and_result, std::size_t count) {
  for (std::size_t index = 0; index < count; ++index) {
    const std::ptrdiff_t offset = static_cast<std::ptrdiff_t>(index) * gapped_type->extent_bytes;
    const auto* const left_origin = static_cast<const std::byte*>(left) + offset;
    auto* const right_origin = static_cast<std::byte*>(right_and_result) + offset;
    auto& right_weight = *reinterpret_cast<double*>(right_origin - 8);
    for (int number = 0; number < gapped_type->sum_count; ++number) {
      const std::ptrdiff_t place = GappedType::kSumsOffset + 4 * number;
      *reinterpret_cast<int*>(right_origin + place) +=
          static_cast<int>(right_weight) * *reinterpret_cast<const int*>(left_origin + place);
    }
    right_weight *= *reinterpret_cast<const double*>(left_origin - 8);
  }
}

void mpi_combine(void* left, void* right_and_result, int* count, MPI_Datatype* type) {
  if (*type != gapped_type->handle) saw_another_type = true;
  combine(left, right_and_result, static_cast<std::size_t>(*count));
}

/// `count` elements as a user lays them out, from extents that may be negative.
class GappedVector {
 public:
  GappedVector(const GappedType& type, std::size_t count)
      : type_(type),
        origin_(type.extent_bytes < 0 ? 64 - static_cast<std::ptrdiff_t>(count) * type.extent_bytes
                                      : 64),
        memory_(count * static_cast<std::size_t>(std::abs(type.extent_bytes)) + 512,
                std::byte{0x5a}) {}
  std::byte* address() { return memory_.data() + origin_; }
  double weight(std::size_t index) { return load<double>(element(index) - 8); }
  int sum(std::size_t index, int number) {
    return load<int>(element(index) + GappedType::kSumsOffset + 4 * number);
  }
  void set(std::size_t index, double weight, int first_sum) {
    std::memcpy(element(index) - 8, &weight, sizeof(weight));
    for (int number = 0; number < type_.sum_count; ++number) {
      const int sum = first_sum + number;
      std::memcpy(element(index) + GappedType::kSumsOffset + 4 * number, &sum, sizeof(sum));
    }
  }

 private:
  template <class T>
  static T load(const std::byte* place) {
    T value;
    std::memcpy(&value, place, sizeof(value));
    return value;
  }
  std::byte* element(std::size_t index) {
    return address() + static_cast<std::ptrdiff_t>(index) * type_.extent_bytes;
  }

  const GappedType& type_;
  std::ptrdiff_t origin_;
  std::vector<std::byte> memory_;
};

/// Reduces three vectors of gapped elements by way of hycoll's own.
void check_gapped(const GappedType& type, const Operation& operation) {
  constexpr std::size_t kCount = 2500;
  const Reduction reduction = resolve_reduction(ElementType(type.handle), operation, "reduce");
  REQUIRE(reduction.staging != nullptr);
  std::vector<std::vector<std::byte>> vectors;
  for (int input = 0; input < 3; ++input) {
    GappedVector user(type, kCount);
    for (std::size_t index = 0; index < kCount; ++index) {
      user.set(index, static_cast<double>(index % 5) + input,
               static_cast<int>(100 * index) + input);
    }
    vectors.emplace_back(kCount * reduction.element_bytes);
    reduction.pack(user.address(), vectors.back().size(), vectors.back().data());
  }
  const std::array<const void*, 3> sources = {vectors[0].data(), vectors[1].data(),
                                              vectors[2].data()};
  const std::array<void*, 2> destinations = {vectors[1].data(), vectors[0].data()};
  reduction.reducer(destinations, sources, kCount, hycoll::Stores::cached);
  for (const auto& result : {vectors[0], vectors[1]}) {
    GappedVector user(type, kCount);
    reduction.unpack(result.data(), result.size(), user.address());
    for (std::size_t index = 0; index < kCount; ++index) {
      const int weight = static_cast<int>(index % 5);
      REQUIRE(user.weight(index) == weight * (weight + 1) * (weight + 2));
      for (int number = 0; number < type.sum_count; ++number) {
        const int sum = static_cast<int>(100 * index) + number;
        REQUIRE(user.sum(index, number) ==
                (sum + 2) + (weight + 2) * ((sum + 1) + (weight + 1) * sum));
      }
    }
  }
}

TEST_CASE(
    "derived datatypes with gaps are reduced, by operators of MPI_Op_create and custom ones") {
  struct Sample {
    int sum_count;
    std::ptrdiff_t extent_bytes;
  };
  saw_another_type = false;
  for (const Sample& sample :
       std::initializer_list<Sample>{{4, 48}, {4, 400}, {4, -48}, {1, 40}, {1, 400}, {1, -40}}) {
    CAPTURE(sample.sum_count);
    CAPTURE(sample.extent_bytes);
    const GappedType type(sample.sum_count, sample.extent_bytes);
    gapped_type = &type;
    MPI_Op op = MPI_OP_NULL;
    MPI_Op_create(mpi_combine, 0, &op);
    check_gapped(type, Operation(op));
    MPI_Op_free(&op);
    check_gapped(type, Operation::custom(combine, Commutativity::non_commutative));
  }
  CHECK_FALSE(saw_another_type);
}

TEST_CASE("what a custom operator throws becomes an error with its message") {
  struct Expected {
    std::function<void()> thrower;
    std::string message;
  };
  for (const Expected& expected : std::initializer_list<Expected>{
           {[] { throw std::runtime_error("7 apples and 3 pears"); }, "7 apples and 3 pears"},
           {[] { throw 42; }, "no std::exception"}}) {
    const Operation operation = Operation::custom(
        [&](const void*, void*, std::size_t) { expected.thrower(); }, Commutativity::commutative);
    const Reduction reduction = resolve_reduction(DataType::float64, operation, "allreduce");
    std::array<double, 2> values = {1, 2};
    const std::array<const void*, 2> sources = {&values[0], &values[1]};
    const std::array<void*, 1> destinations = {&values[0]};
    std::string message;
    for (int repetition = 0; repetition < 2; ++repetition) {  // the lock is free again
      CHECK(kind_of_error(
                [&] { reduction.reducer(destinations, sources, 1, hycoll::Stores::cached); },
                &message) == ErrorKind::user_operator);
      CHECK(message.find(expected.message) != std::string::npos);
    }
  }
}

/// How many threads are in an operator at once.
class Occupancy {
 public:
  /// Stays a while, or until `wanted` threads are there.
  void visit(int wanted, std::chrono::milliseconds patience) {
    const int inside = ++inside_;
    int highest = highest_;
    while (highest < inside && !highest_.compare_exchange_weak(highest, inside)) {
    }
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (highest_ < wanted && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::yield();
    }
    --inside_;
  }
  int highest() const { return highest_; }

 private:
  std::atomic<int> inside_{0};
  std::atomic<int> highest_{0};
};

Occupancy* mpi_occupancy = nullptr;

void mpi_visit(void*, void*, int*, MPI_Datatype*) {
  mpi_occupancy->visit(2, std::chrono::milliseconds(20));
}

/// Two threads reduce at once, each by an operation of its own.
void reduce_in_two_threads(const std::array<Operation, 2>& operations) {
  const auto body = [&](std::size_t number) {
    const Reduction reduction =
        resolve_reduction(ElementType(MPI_INT), operations[number], "allreduce");
    std::array<int, 2> values = {1, 2};
    const std::array<const void*, 2> sources = {&values[0], &values[1]};
    const std::array<void*, 1> destinations = {&values[1]};
    for (int repetition = 0; repetition < 5; ++repetition) {
      reduction.reducer(destinations, sources, 1, hycoll::Stores::cached);
    }
  };
  std::thread other(body, 1);
  body(0);
  other.join();
}

TEST_CASE("one thread of the process at a time calls a user's function, unless he says otherwise") {
  Occupancy occupancy;
  mpi_occupancy = &occupancy;
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(mpi_visit, 1, &op);
  const auto custom = [&](Concurrency concurrency, std::chrono::milliseconds patience) {
    return Operation::custom(
        [&occupancy, patience](const void*, void*, std::size_t) { occupancy.visit(2, patience); },
        Commutativity::commutative, concurrency);
  };
  using std::chrono::milliseconds;
  SUBCASE("MPI's") {
    reduce_in_two_threads({Operation(op), Operation(op)});
    CHECK(occupancy.highest() == 1);
  }
  SUBCASE("custom ones") {
    reduce_in_two_threads({custom(Concurrency::one_thread, milliseconds(20)),
                           custom(Concurrency::one_thread, milliseconds(20))});
    CHECK(occupancy.highest() == 1);
  }
  SUBCASE("both") {
    reduce_in_two_threads({Operation(op), custom(Concurrency::one_thread, milliseconds(20))});
    CHECK(occupancy.highest() == 1);
  }
  SUBCASE("any number") {
    // Waits for the other thread, however late it is.
    reduce_in_two_threads({custom(Concurrency::any_thread, milliseconds(60000)),
                           custom(Concurrency::any_thread, milliseconds(60000))});
    CHECK(occupancy.highest() == 2);
  }
  MPI_Op_free(&op);
}

}  // namespace operation_mpi_test
