// Elements with gaps, from users' buffers to slots and back, against lists of the bytes that they
// consist of. Without communication.
#include <doctest/doctest.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "collectives/elements/typed_staging.h"

namespace {

using hycoll::element_layout;
using hycoll::ElementLayout;
using hycoll::TypedStaging;
using Form = hycoll::ElementLayout::Form;

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
        {"packed column", matrix_column(kColumns), 8,
         bytes_at({0, kRow, 2 * kRow, 3 * kRow, 4 * kRow}, 8)},
        {"interleaved", resized(ints_at({0, 12}), 0, 8), 8, bytes_at({0, 12}, 4)},
        {"struct", char_double_int(), 24, char_double_int_bytes()},
        {"negative lower bound", resized(ints_at({-20, -16, -12, -4, 0, 4}), -20, 28), 28,
         bytes_at({-20, -16, -12, -4, 0, 4}, 4)},
        {"data far above", resized(ints_at({1004, 1008, 1012, 1016}), 0, 1020), 1020,
         bytes_at({1004, 1008, 1012, 1016}, 4)},
        {"packed below", resized(ints_at({-20, 4}), -20, 28), 28, bytes_at({-20, 4}, 4)},
        {"packed above", resized(ints_at({1004, 1012}), 0, 1016), 1016, bytes_at({1004, 1012}, 4)},
        {"packed downwards", resized(ints_at({0, 20}), 0, -28), -28, bytes_at({0, 20}, 4)},
        {"packed, long extent", resized(ints_at({0}), 0, 512), 512, bytes_at({0}, 4)},
        {"downwards", resized(ints_at({0, 8}), 0, -16), -16, bytes_at({0, 8}, 4)},
        {"other order", resized(ints_at({8, 0}), 0, 12), 12, bytes_at({0, 8}, 4)},
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
/// the user's buffer and in hycoll's vector.
template <class Action>
void for_each_byte(const Shape& shape, const ElementLayout& layout, std::size_t first,
                   std::size_t count, const Action& action) {
  for (std::size_t element = first; element < first + count; ++element) {
    const std::ptrdiff_t in_user = static_cast<std::ptrdiff_t>(element) * shape.extent_bytes;
    const std::size_t slot = element * layout.slot_bytes;
    for (std::size_t number = 0; number < shape.data_bytes.size(); ++number) {
      const std::ptrdiff_t byte = shape.data_bytes[number];
      const std::size_t in_slot = layout.form == Form::packed
                                      ? number
                                      : static_cast<std::size_t>(layout.origin_bytes + byte);
      action(in_user + byte, slot + in_slot);
    }
  }
}

struct Part {
  std::size_t first;
  std::size_t count;
};

void check_copy_in(const Shape& shape, const TypedStaging& staging, UserBuffer& user,
                   std::size_t total, Part part) {
  const ElementLayout& layout = staging.layout();
  std::vector<std::byte> slots(total * layout.slot_bytes + 64, kPoison);
  const std::vector<std::byte> original = user.memory();
  std::vector<std::byte> expected = slots;
  for_each_byte(shape, layout, part.first, part.count,
                [&](std::ptrdiff_t in_user, std::size_t in_slots) {
                  expected.at(in_slots) = original[user.index_of(in_user)];
                });
  staging.copy_in(user.address(), slots.data(), part.first, part.count);
  CHECK(slots == expected);
  CHECK(user.memory() == original);
}

void check_copy_out(const Shape& shape, const TypedStaging& staging, std::size_t total, Part part) {
  const ElementLayout& layout = staging.layout();
  std::vector<std::byte> slots(total * layout.slot_bytes);
  fill_distinct(slots, total);
  UserBuffer user(shape, total);
  std::vector<std::byte> expected = user.memory();
  for_each_byte(shape, layout, part.first, part.count,
                [&](std::ptrdiff_t in_user, std::size_t in_slots) {
                  expected[user.index_of(in_user)] = slots[in_slots];
                });
  staging.copy_out(slots.data(), user.address(), part.first, part.count);
  CHECK(user.memory() == expected);
}

TEST_CASE("elements are copied to slots of their own and back, and nothing else is") {
  for (const Shape& shape : Shapes()) {
    CAPTURE(shape.name);
    const TypedStaging staging(shape.type);
    // Blocks have 64 KiB of packed data.
    const std::size_t block = 64 * 1024 / shape.data_bytes.size();
    for (const std::size_t total :
         {std::size_t{1}, std::size_t{7}, block - 1, block, block + 1, 2 * block + 3}) {
      // A matrix has so many columns; and megabytes of gaps show nothing that one such vector does
      // not.
      if (shape.data_bytes.size() == 40 && total > 41) continue;
      if (shape.extent_bytes > 256 && total > 7 && total != block + 1) continue;
      CAPTURE(total);
      UserBuffer user(shape, total);
      user.randomise(total);
      for (const Part part :
           {Part{0, total}, Part{0, 0}, Part{total / 3, total - total / 3}, Part{total / 2, 1}}) {
        check_copy_in(shape, staging, user, total, part);
        check_copy_out(shape, staging, total, part);
      }
    }
  }
}

TEST_CASE("slots hold the data of one element, as aligned as in the user's buffer") {
  for (const Shape& shape : Shapes()) {
    CAPTURE(shape.name);
    const ElementLayout layout = element_layout(shape.type);
    const auto [lowest, highest] =
        std::minmax_element(shape.data_bytes.begin(), shape.data_bytes.end());
    CHECK(layout.slot_bytes <= 2 * shape.data_bytes.size());
    CHECK((layout.form == Form::packed) == std::string(shape.name).starts_with("packed"));
    if (layout.form == Form::packed) {
      CHECK(layout.slot_bytes == shape.data_bytes.size());
      continue;
    }
    CHECK(layout.origin_bytes % 16 == 0);
    CHECK(layout.origin_bytes + *lowest >= 0);
    CHECK(layout.origin_bytes + *lowest < 16);
    CHECK(layout.origin_bytes + *highest < static_cast<std::ptrdiff_t>(layout.slot_bytes));
    const auto slot_bytes = static_cast<std::ptrdiff_t>(layout.slot_bytes);
    CHECK((layout.form == Form::spaced) == (slot_bytes == shape.extent_bytes));
    CHECK((layout.form == Form::spaced || slot_bytes % 16 == 0));
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
      for_each_byte(shape, staging.layout(), 0, count, [&](std::ptrdiff_t in_user, std::size_t) {
        lowest = std::min(lowest, span.origin_bytes + in_user);
        highest = std::max(highest, span.origin_bytes + in_user);
      });
      CHECK(lowest >= 0);
      CHECK(lowest < 16);
      CHECK(highest + 1 == static_cast<std::ptrdiff_t>(span.size_bytes));
    }
  }
}

TEST_CASE("the form follows from how much memory the gaps would take") {
  const auto form = [](MPI_Datatype type) {
    const ElementLayout layout = element_layout(type);
    MPI_Type_free(&type);
    return layout.form;
  };
  CHECK(form(char_double_int()) == Form::spaced);
  CHECK(form(resized(ints_at({0, 8}), 0, 12)) == Form::spaced);
  CHECK(form(resized(ints_at({0, 8}), 0, 512)) == Form::slots);
  CHECK(form(resized(ints_at({0}), 0, 8)) == Form::spaced);
  CHECK(form(resized(ints_at({0}), 0, 12)) == Form::packed);
  CHECK(form(matrix_column(3)) == Form::packed);
}

TEST_CASE("types without gaps are contiguous, and so are all predefined ones") {
  for (const MPI_Datatype type : {MPI_INT, MPI_BYTE, MPI_LONG_DOUBLE, MPI_C_DOUBLE_COMPLEX,
                                  MPI_DOUBLE_INT, MPI_SHORT_INT, MPI_LONG_DOUBLE_INT, MPI_2INT}) {
    const ElementLayout layout = element_layout(type);
    MPI_Aint lower_bound = 0;
    MPI_Aint extent = 0;
    MPI_Type_get_extent(type, &lower_bound, &extent);
    CHECK(layout.form == Form::direct);
    CHECK(layout.slot_bytes == static_cast<std::size_t>(extent));
    CHECK(layout.origin_bytes == 0);
  }
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(6, MPI_SHORT, &type);
  MPI_Type_commit(&type);
  CHECK(element_layout(type).form == Form::direct);
  CHECK(element_layout(type).slot_bytes == 12);
  MPI_Type_free(&type);
  type = resized(ints_at({4, 0}), 0, 8);  // any order, but every byte
  CHECK(element_layout(type).form == Form::direct);
  CHECK(element_layout(type).slot_bytes == 8);
  MPI_Type_free(&type);
}

TEST_CASE("elements without data have slots, and nothing is copied") {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(0, MPI_INT, &type);
  MPI_Type_commit(&type);
  const TypedStaging staging(type);
  CHECK(staging.layout().form == Form::slots);
  CHECK(staging.layout().slot_bytes >= 1);
  std::vector<std::byte> user(64, kPoison);
  std::vector<std::byte> slots(4 * staging.layout().slot_bytes, kPoison);
  const std::vector<std::byte> expected = slots;
  staging.copy_in(user.data(), slots.data(), 0, 4);
  CHECK(slots == expected);
  staging.copy_out(slots.data(), user.data(), 0, 4);
  CHECK(user == std::vector<std::byte>(64, kPoison));
  MPI_Type_free(&type);
}

TEST_CASE("a staging outlives the user's handle") {
  MPI_Datatype type = char_double_int();
  const Shape shape{"struct", type, 24, char_double_int_bytes()};
  const TypedStaging staging(type);
  MPI_Type_free(&type);
  UserBuffer user(shape, 9);
  user.randomise(9);
  check_copy_in(shape, staging, user, 9, {0, 9});
  check_copy_out(shape, staging, 9, {0, 9});
}

}  // namespace
