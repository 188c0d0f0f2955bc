// Elements with gaps, from users' buffers to vectors and back, against lists of the bytes that they
// consist of. Without communication.
#include <doctest/doctest.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "collectives/elements/typed_staging.h"
#include "collectives/elements/vector_elements.h"

namespace typed_staging_mpi_test {

using hycoll::elements_of;
using hycoll::ElementType;
using hycoll::TypedStaging;
using hycoll::VectorElements;

/// A datatype, and where its data lie by the definition of how it was made.
struct Shape {
  const char* name;
  MPI_Datatype type;
  std::ptrdiff_t extent_bytes;
  std::vector<std::ptrdiff_t> data_bytes;
};

/// Adds `size_bytes` bytes at each of the displacements.
std::vector<std::ptrdiff_t> bytes_at(std::vector<std::ptrdiff_t> displacements, int size_bytes) {
  std::vector<std::ptrdiff_t> bytes;
  for (const std::ptrdiff_t displacement : displacements) {
    for (int byte = 0; byte < size_bytes; ++byte) bytes.push_back(displacement + byte);
  }
  return bytes;
}

MPI_Datatype resized(MPI_Datatype type, MPI_Aint lower_bound, MPI_Aint extent) {
  MPI_Datatype result = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(type, lower_bound, extent, &result);
  MPI_Type_commit(&result);
  MPI_Type_free(&type);
  return result;
}

MPI_Datatype ints_at(std::vector<MPI_Aint> displacements) {
  MPI_Datatype result = MPI_DATATYPE_NULL;
  MPI_Type_create_hindexed_block(static_cast<int>(displacements.size()), 1, displacements.data(),
                                 MPI_INT, &result);
  return result;
}

/// A column of a matrix of doubles with `columns` columns and 5 rows; neighbours interleave.
MPI_Datatype matrix_column(int columns) {
  MPI_Datatype column = MPI_DATATYPE_NULL;
  MPI_Type_vector(5, 1, columns, MPI_DOUBLE, &column);
  return resized(column, 0, sizeof(double));
}

MPI_Datatype char_double_int() {
  const std::array<int, 3> lengths = {1, 1, 1};
  const std::array<MPI_Aint, 3> displacements = {0, 8, 16};
  const std::array<MPI_Datatype, 3> types = {MPI_CHAR, MPI_DOUBLE, MPI_INT};
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_struct(3, lengths.data(), displacements.data(), types.data(), &type);
  return resized(type, 0, 24);
}

std::vector<std::ptrdiff_t> char_double_int_bytes() {
  std::vector<std::ptrdiff_t> bytes = {0};
  for (const std::ptrdiff_t byte : bytes_at({8}, 8)) bytes.push_back(byte);
  for (const std::ptrdiff_t byte : bytes_at({16}, 4)) bytes.push_back(byte);
  return bytes;
}

class Shapes {
 public:
  Shapes() {
    constexpr int kColumns = 41;
    constexpr std::ptrdiff_t kRow = kColumns * sizeof(double);
    shapes_ = {
        {"column", matrix_column(kColumns), 8,
         bytes_at({0, kRow, 2 * kRow, 3 * kRow, 4 * kRow}, 8)},
        {"interleaved", resized(ints_at({0, 12}), 0, 8), 8, bytes_at({0, 12}, 4)},
        {"struct", char_double_int(), 24, char_double_int_bytes()},
        {"negative lower bound", resized(ints_at({-20, -16, -12, -4, 0, 4}), -20, 28), 28,
         bytes_at({-20, -16, -12, -4, 0, 4}, 4)},
        {"data far above", resized(ints_at({1004, 1008, 1012, 1016}), 0, 1020), 1020,
         bytes_at({1004, 1008, 1012, 1016}, 4)},
        {"gap below", resized(ints_at({-20, 4}), -20, 28), 28, bytes_at({-20, 4}, 4)},
        {"gap above", resized(ints_at({1004, 1012}), 0, 1016), 1016, bytes_at({1004, 1012}, 4)},
        {"gap downwards", resized(ints_at({0, 20}), 0, -28), -28, bytes_at({0, 20}, 4)},
        {"long extent", resized(ints_at({0}), 0, 512), 512, bytes_at({0}, 4)},
        {"downwards", resized(ints_at({0, 8}), 0, -16), -16, bytes_at({0, 8}, 4)},
        {"other order", resized(ints_at({8, 0}), 0, 12), 12, bytes_at({8, 0}, 4)},
        {"lower bound only", resized(ints_at({4, 8}), 4, 8), 8, bytes_at({4, 8}, 4)},
    };
  }
  ~Shapes() {
    for (Shape& shape : shapes_) MPI_Type_free(&shape.type);
  }
  Shapes(const Shapes&) = delete;
  Shapes& operator=(const Shapes&) = delete;

  auto begin() const { return shapes_.begin(); }
  auto end() const { return shapes_.end(); }

 private:
  std::vector<Shape> shapes_;
};

constexpr std::byte kPoison{0xd3};

/// Bytes that differ from those a few elements away; quickly, for buffers of megabytes.
void fill_distinct(std::vector<std::byte>& bytes, std::uint64_t seed) {
  std::uint64_t state = seed;
  for (std::byte& byte : bytes) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    byte = static_cast<std::byte>(state >> 56);
  }
}

/// The memory of `count` elements of a shape, with room for what lies below and above.
class UserBuffer {
 public:
  UserBuffer(const Shape& shape, std::size_t count) {
    const auto last = static_cast<std::ptrdiff_t>(count) * shape.extent_bytes;
    const auto [lowest, highest] =
        std::minmax_element(shape.data_bytes.begin(), shape.data_bytes.end());
    const std::ptrdiff_t below =
        std::min<std::ptrdiff_t>(last, 0) + std::min<std::ptrdiff_t>(*lowest, 0);
    const std::ptrdiff_t above = std::max<std::ptrdiff_t>(last, 0) + *highest + 1;
    origin_ = 64 - below;
    memory_.assign(static_cast<std::size_t>(origin_ + above + 64), kPoison);
  }
  void randomise(std::uint64_t seed) { fill_distinct(memory_, seed); }
  std::byte* address() { return memory_.data() + origin_; }
  std::size_t index_of(std::ptrdiff_t offset) const {
    return static_cast<std::size_t>(origin_ + offset);
  }
  std::vector<std::byte>& memory() { return memory_; }

 private:
  std::ptrdiff_t origin_ = 0;
  std::vector<std::byte> memory_;
};

/// Calls `action` with the place of every byte of data of the elements [first, first + count) in
/// the user's buffer and in hycoll's vector, where their data follow one another.
template <class Action>
void for_each_byte(const Shape& shape, std::size_t first, std::size_t count, const Action& action) {
  std::size_t in_vector = first * shape.data_bytes.size();
  for (std::size_t element = first; element < first + count; ++element) {
    const std::ptrdiff_t in_user = static_cast<std::ptrdiff_t>(element) * shape.extent_bytes;
    for (const std::ptrdiff_t byte : shape.data_bytes) action(in_user + byte, in_vector++);
  }
}

struct Part {
  std::size_t first;
  std::size_t count;

  std::size_t begin(const Shape& shape) const { return first * shape.data_bytes.size(); }
  std::size_t end(const Shape& shape) const { return (first + count) * shape.data_bytes.size(); }
};

void check_pack(const Shape& shape, const TypedStaging& staging, UserBuffer& user,
                std::size_t total, Part part) {
  std::vector<std::byte> packed(total * shape.data_bytes.size() + 64, kPoison);
  const std::vector<std::byte> original = user.memory();
  std::vector<std::byte> expected = packed;
  for_each_byte(shape, part.first, part.count, [&](std::ptrdiff_t in_user, std::size_t in_vector) {
    expected.at(in_vector) = original[user.index_of(in_user)];
  });
  staging.pack(user.address(), part.begin(shape), part.end(shape),
               packed.data() + part.begin(shape));
  CHECK(packed == expected);
  CHECK(user.memory() == original);
}

void check_unpack(const Shape& shape, const TypedStaging& staging, std::size_t total, Part part) {
  std::vector<std::byte> packed(total * shape.data_bytes.size());
  fill_distinct(packed, total);
  UserBuffer user(shape, total);
  std::vector<std::byte> expected = user.memory();
  for_each_byte(shape, part.first, part.count, [&](std::ptrdiff_t in_user, std::size_t in_vector) {
    expected[user.index_of(in_user)] = packed[in_vector];
  });
  staging.unpack(packed.data() + part.begin(shape), part.begin(shape), part.end(shape),
                 user.address());
  CHECK(user.memory() == expected);
}

TEST_CASE("elements' data are packed and unpacked, and nothing else is touched") {
  for (const Shape& shape : Shapes()) {
    CAPTURE(shape.name);
    const TypedStaging staging(shape.type);
    CHECK(staging.extent_bytes() == shape.extent_bytes);
    const std::size_t block = 64 * 1024 / shape.data_bytes.size();
    for (const std::size_t total : {std::size_t{1}, std::size_t{7}, block + 1}) {
      // A matrix has so many columns.
      if (shape.data_bytes.size() == 40 && total > 41) continue;
      CAPTURE(total);
      UserBuffer user(shape, total);
      user.randomise(total);
      for (const Part part :
           {Part{0, total}, Part{0, 0}, Part{total / 3, total - total / 3}, Part{total / 2, 1}}) {
        check_pack(shape, staging, user, total, part);
        check_unpack(shape, staging, total, part);
      }
    }
  }
}

TEST_CASE("what a user's layout takes has room for every byte, at an aligned origin") {
  for (const Shape& shape : Shapes()) {
    CAPTURE(shape.name);
    const TypedStaging staging(shape.type);
    for (const std::size_t count : {std::size_t{1}, std::size_t{2}, std::size_t{100}}) {
      CAPTURE(count);
      const TypedStaging::UserSpan span = staging.user_span(count);
      CHECK(span.origin_bytes % 16 == 0);
      std::ptrdiff_t lowest = PTRDIFF_MAX;
      std::ptrdiff_t highest = PTRDIFF_MIN;
      for_each_byte(shape, 0, count, [&](std::ptrdiff_t in_user, std::size_t) {
        lowest = std::min(lowest, span.origin_bytes + in_user);
        highest = std::max(highest, span.origin_bytes + in_user);
      });
      CHECK(lowest >= 0);
      CHECK(lowest < 16);
      CHECK(highest + 1 == static_cast<std::ptrdiff_t>(span.size_bytes));
    }
  }
}

TEST_CASE("a vector has the elements' data and nothing else, whatever lies between these") {
  for (const Shape& shape : Shapes()) {
    CAPTURE(shape.name);
    const VectorElements elements = elements_of(ElementType(shape.type), "test");
    CHECK(elements.staging != nullptr);
    CHECK(elements.element_bytes == shape.data_bytes.size());
    CHECK(elements.extent_bytes() == shape.extent_bytes);
  }
}

TEST_CASE("elements are staged unless they lie in memory as they are packed") {
  struct Sample {
    MPI_Datatype type;
    std::size_t size_bytes;
    bool is_staged;
  };
  MPI_Datatype shorts = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(6, MPI_SHORT, &shorts);
  MPI_Datatype swapped = resized(ints_at({4, 0}), 0, 8);
  MPI_Datatype absolute = resized(ints_at({4096, 4100}), 0, 8);
  for (const Sample& sample : std::initializer_list<Sample>{{MPI_INT, 4, false},
                                                            {MPI_BYTE, 1, false},
                                                            {MPI_LONG_DOUBLE, 16, false},
                                                            {MPI_C_DOUBLE_COMPLEX, 16, false},
                                                            {MPI_2INT, 8, false},
                                                            {MPI_FLOAT_INT, 8, false},
                                                            {MPI_SHORT_INT, 6, true},
                                                            {MPI_DOUBLE_INT, 12, true},
                                                            {MPI_LONG_INT, 12, true},
                                                            {MPI_LONG_DOUBLE_INT, 20, true},
                                                            {shorts, 12, false},
                                                            {swapped, 8, true},
                                                            {absolute, 8, true}}) {
    const ElementType type(sample.type);
    CAPTURE(type.name());
    const VectorElements elements = elements_of(type, "test");
    CHECK(elements.element_bytes == sample.size_bytes);
    CHECK((elements.staging != nullptr) == sample.is_staged);
    CHECK(type.slot_bytes() == sample.size_bytes);
    CHECK(type.is_contiguous() != sample.is_staged);
  }
  for (MPI_Datatype* const type : {&shorts, &swapped, &absolute}) MPI_Type_free(type);
}

TEST_CASE("of elements without data nothing is copied") {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(0, MPI_INT, &type);
  MPI_Type_commit(&type);
  const TypedStaging staging(type);
  std::vector<std::byte> user(64, kPoison);
  std::vector<std::byte> packed(64, std::byte{1});
  const std::vector<std::byte> expected = packed;
  staging.pack(user.data(), 0, 4, packed.data());
  CHECK(packed == expected);
  staging.unpack(packed.data(), 0, 4, user.data());
  CHECK(user == std::vector<std::byte>(64, kPoison));
  CHECK(staging.user_span(3).origin_bytes == 0);
  MPI_Type_free(&type);
}

TEST_CASE("a staging outlives the user's handle") {
  MPI_Datatype type = char_double_int();
  const Shape shape{"struct", type, 24, char_double_int_bytes()};
  const TypedStaging staging(type);
  MPI_Type_free(&type);
  UserBuffer user(shape, 9);
  user.randomise(9);
  check_pack(shape, staging, user, 9, {0, 9});
  check_unpack(shape, staging, 9, {0, 9});
}

}  // namespace typed_staging_mpi_test
