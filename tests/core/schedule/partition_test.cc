#include "core/base/partition.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "core/base/errors.h"

namespace hycoll {
namespace partition_test {

/// Chunks follow one another without gaps and cover the vector.
void check_covers(const Partition& partition, std::size_t element_count) {
  std::size_t next = 0;
  for (int chunk = 0; chunk < partition.chunk_count(); ++chunk) {
    const ElementRange range = partition.range(chunk);
    CHECK(range.begin == next);
    CHECK(range.end >= range.begin);
    next = range.end;
  }
  CHECK(next == element_count);
  CHECK(partition.element_count() == element_count);
}

TEST_CASE("balanced: covers the vector, sizes differ by one granule at most") {
  for (const std::size_t granule : {1, 2, 3, 8, 64}) {
    for (int chunks = 1; chunks <= 13; ++chunks) {
      for (std::size_t elements = 0; elements <= 200; ++elements) {
        CAPTURE(granule);
        CAPTURE(chunks);
        CAPTURE(elements);
        const Partition partition = Partition::balanced(elements, chunks, granule);
        REQUIRE(partition.chunk_count() == chunks);
        check_covers(partition, elements);
        std::size_t fewest = SIZE_MAX;
        std::size_t most = 0;
        for (int chunk = 0; chunk < chunks; ++chunk) {
          const ElementRange range = partition.range(chunk);
          CHECK((range.begin % granule == 0 || range.begin == elements));
          const std::size_t granules = (range.size() + granule - 1) / granule;
          fewest = std::min(fewest, granules);
          most = std::max(most, granules);
        }
        CHECK(most - fewest <= 1);
      }
    }
  }
}

TEST_CASE("balanced: the largest vectors do not overflow") {
  for (const std::size_t elements : {SIZE_MAX, SIZE_MAX - 1, SIZE_MAX / 2 + 3}) {
    for (const std::size_t granule : {std::size_t{1}, std::size_t{64}, SIZE_MAX / 4, SIZE_MAX}) {
      for (const int chunks : {1, 2, 7, 1000}) {
        const Partition partition = Partition::balanced(elements, chunks, granule);
        std::size_t next = 0;
        for (int chunk = 0; chunk < chunks; ++chunk) {
          REQUIRE(partition.range(chunk).begin == next);
          REQUIRE(partition.range(chunk).end >= next);
          next = partition.range(chunk).end;
        }
        CHECK(next == elements);
      }
    }
  }
}

TEST_CASE("uniform: every chunk has the same size") {
  for (const std::size_t size : {0, 1, 2, 7, 64}) {
    for (int chunks = 1; chunks <= 9; ++chunks) {
      const Partition partition = Partition::uniform(size, chunks);
      check_covers(partition, size * static_cast<std::size_t>(chunks));
      for (int chunk = 0; chunk < chunks; ++chunk) CHECK(partition.range(chunk).size() == size);
    }
  }
}

TEST_CASE("explicit offsets are kept") {
  const std::vector<std::size_t> offsets = {0, 3, 3, 10, 11};
  const Partition partition = Partition::explicit_offsets(offsets);
  REQUIRE(partition.chunk_count() == 4);
  check_covers(partition, 11);
  for (int chunk = 0; chunk < 4; ++chunk) {
    const auto c = static_cast<std::size_t>(chunk);
    CHECK(partition.range(chunk) == ElementRange{offsets[c], offsets[c + 1]});
  }
  check_covers(Partition::explicit_offsets({0, 0}), 0);
}

TEST_CASE("a range of chunks reaches from the first one's begin to the last one's end") {
  const Partition partitions[] = {Partition::balanced(101, 7, 4), Partition::uniform(5, 7),
                                  Partition::explicit_offsets({0, 0, 1, 9, 9, 9, 20, 21})};
  for (const Partition& partition : partitions) {
    for (int first = 0; first < 7; ++first) {
      for (int count = 0; first + count <= 7; ++count) {
        const ElementRange range = partition.range(first, count);
        CHECK(range.begin == partition.range(first).begin);
        std::size_t size = 0;
        for (int chunk = first; chunk < first + count; ++chunk) {
          size += partition.range(chunk).size();
        }
        CHECK(range.size() == size);
      }
    }
  }
}

TEST_CASE("what is wrong with offsets is named") {
  const auto error_of = [](std::vector<std::size_t> offsets) -> std::string {
    try {
      Partition::explicit_offsets(std::move(offsets));
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::invalid_argument);
      return error.what();
    }
    return "no error";
  };
  CHECK(error_of({}) == "partition: 0 offsets; give one more than there are chunks, at least 2");
  CHECK(error_of({0}) == "partition: 1 offsets; give one more than there are chunks, at least 2");
  CHECK(error_of({2, 5}) == "partition: the first offset is 2; the chunks start at element 0");
  CHECK(error_of({0, 4, 3}) ==
        "partition: offset 4 of chunk 1 is followed by the smaller 3; offsets must never decrease");
}

}  // namespace partition_test
}  // namespace hycoll
