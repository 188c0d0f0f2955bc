// Type maps, decoded and probed, against MPI_Pack and MPI_Unpack. Without communication.
#include <doctest/doctest.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "collectives/elements/type_decoding.h"
#include "tests/collectives/elements/random_datatypes.h"
#include "tests/support/seed.h"

namespace type_map_mpi_test {

using hycoll::TypeMap;
using random_datatypes::Memory;

constexpr std::byte kPoison{0xd3};

void fill_random(std::vector<std::byte>& bytes, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
}

/// The packed bytes in pieces that begin and end anywhere.
std::vector<std::byte> packed_in_pieces(const TypeMap& map, Memory& memory, std::size_t size_bytes,
                                        std::size_t piece_bytes) {
  std::vector<std::byte> packed(size_bytes, kPoison);
  for (std::size_t begin = 0; begin < size_bytes; begin += piece_bytes) {
    const std::size_t end = std::min(begin + piece_bytes, size_bytes);
    map.pack(memory.origin(), begin, end, packed.data() + begin);
  }
  return packed;
}

void check_map(const TypeMap& map, MPI_Datatype type, int count, std::uint64_t seed) {
  CAPTURE(count);
  Memory memory(type, count, kPoison);
  fill_random(memory.bytes(), seed);
  const std::vector<std::byte> expected = random_datatypes::packed(type, count, memory);
  REQUIRE(map.size_bytes() * static_cast<std::size_t>(count) == expected.size());
  for (const std::size_t piece_bytes : {expected.size() + 1, std::size_t{7}, std::size_t{24}}) {
    CAPTURE(piece_bytes);
    CHECK(packed_in_pieces(map, memory, expected.size(), piece_bytes) == expected);
    if (random_datatypes::overlaps(type, count)) continue;
    Memory unpacked(type, count, kPoison);
    Memory wanted(type, count, kPoison);
    random_datatypes::unpack(expected, type, count, wanted);
    for (std::size_t begin = 0; begin < expected.size(); begin += piece_bytes) {
      const std::size_t end = std::min(begin + piece_bytes, expected.size());
      map.unpack(expected.data() + begin, begin, end, unpacked.origin());
    }
    CHECK(unpacked.bytes() == wanted.bytes());
  }
  // Two elements show whether the extent is that of the data.
  const bool lies_as_packed =
      memory.bytes() == expected && memory.origin() == memory.bytes().data();
  if (count > 1) CHECK(map.is_plain() == lies_as_packed);
}

TEST_CASE("random datatypes are packed and unpacked, at any byte, as MPI does") {
  // Not MPI_CHAR: Open MPI 4.1.4 takes a stride of -1 byte for one of 1.
  for (const MPI_Datatype base : {MPI_SHORT, MPI_DOUBLE, MPI_SHORT_INT}) {
    for (std::uint64_t draw = 1; draw <= 400; ++draw) {
      const std::uint64_t seed = hycoll::tests::seed_offset() + draw;
      CAPTURE(seed);
      random_datatypes::Generator generator(seed, base);
      MPI_Datatype type = generator.draw();
      const TypeMap decoded = hycoll::decode_type(type);
      const TypeMap probed = hycoll::probe_type(type);
      for (const int count : {1, 2, 5}) {
        check_map(decoded, type, count, seed);
        check_map(probed, type, count, seed);
      }
      CHECK(decoded.size_bytes() == random_datatypes::size_of(type));
      CHECK(decoded.extent_bytes() == probed.extent_bytes());
      MPI_Type_free(&type);
    }
  }
}

/// Whether elements of this type, which is freed, may be used where they are.
bool is_plain(MPI_Datatype type) {
  MPI_Type_commit(&type);
  const bool plain = hycoll::type_map_of(type)->is_plain();
  MPI_Type_free(&type);
  return plain;
}

MPI_Datatype ints_at(std::array<int, 2> places) {
  const std::array<int, 2> lengths = {1, 1};
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_indexed(2, lengths.data(), places.data(), MPI_INT, &type);
  return type;
}

TEST_CASE("data that lie in another order than that of the type map are not plain memory") {
  CHECK(is_plain(ints_at({0, 1})));
  CHECK_FALSE(is_plain(ints_at({1, 0})));
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_vector(4, 1, -1, MPI_INT, &type);
  CHECK_FALSE(is_plain(type));
  // The transpose of a matrix of 3 rows and 2 columns.
  MPI_Datatype column = MPI_DATATYPE_NULL;
  MPI_Type_vector(3, 1, 2, MPI_INT, &column);
  MPI_Type_create_hvector(2, 1, sizeof(int), column, &type);
  CHECK_FALSE(is_plain(type));
  MPI_Type_free(&column);
  // One integer twice, and one left out.
  const std::array<int, 3> lengths = {1, 1, 1};
  const std::array<int, 3> places = {0, 0, 2};
  MPI_Type_indexed(3, lengths.data(), places.data(), MPI_INT, &type);
  CHECK_FALSE(is_plain(type));
}

#if MPI_VERSION >= 4
TEST_CASE("types that were made with large counts are decoded as others are") {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous_c(6, MPI_INT, &type);
  CHECK(is_plain(type));
  const std::array<MPI_Count, 2> sizes = {4, 6};
  const std::array<MPI_Count, 2> parts = {2, 3};
  const std::array<MPI_Count, 2> starts = {1, 2};
  MPI_Type_create_subarray_c(2, sizes.data(), parts.data(), starts.data(), MPI_ORDER_C, MPI_INT,
                             &type);
  MPI_Type_commit(&type);
  check_map(hycoll::decode_type(type), type, 2, 1);
  MPI_Type_free(&type);
  const std::array<MPI_Count, 2> lengths = {1, 2};
  const std::array<MPI_Count, 2> displacements = {12, 0};
  const std::array<MPI_Datatype, 2> types = {MPI_INT, MPI_SHORT};
  MPI_Type_create_struct_c(2, lengths.data(), displacements.data(), types.data(), &type);
  MPI_Type_commit(&type);
  check_map(hycoll::decode_type(type), type, 2, 2);
  MPI_Type_free(&type);
}
#endif

TEST_CASE("a handle that MPI uses again means the new type") {
  for (int round = 0; round < 4; ++round) {
    MPI_Datatype type = ints_at({round % 2, 1 - round % 2});
    MPI_Type_commit(&type);
    CHECK(hycoll::type_map_of(type)->is_plain() == (round % 2 == 0));
    CHECK(hycoll::type_map_of(type) == hycoll::type_map_of(type));
    MPI_Type_free(&type);
  }
}

}  // namespace type_map_mpi_test
