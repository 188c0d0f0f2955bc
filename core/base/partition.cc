#include "core/base/partition.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "core/base/errors.h"

namespace hycoll {

Partition::Partition(std::size_t element_count, int chunk_count, std::size_t granule,
                     std::vector<std::size_t> offsets)
    : element_count_(element_count),
      chunk_count_(chunk_count),
      granule_(granule),
      granules_(element_count / granule + (element_count % granule != 0 ? 1 : 0)),
      granules_per_chunk_(granules_ / static_cast<std::size_t>(chunk_count)),
      longer_(granules_ % static_cast<std::size_t>(chunk_count)),
      offsets_(std::move(offsets)) {}

Partition Partition::balanced(std::size_t element_count, int chunk_count, std::size_t granule) {
  HYCOLL_ASSERT(chunk_count >= 1 && granule >= 1, "a partition needs a chunk and a granule");
  return Partition(element_count, chunk_count, granule, {});
}

Partition Partition::uniform(std::size_t chunk_size, int chunk_count) {
  HYCOLL_ASSERT(chunk_count >= 1, "a partition needs a chunk");
  // Equal chunks are the balanced partition whose granule is the chunk.
  return Partition(chunk_size * static_cast<std::size_t>(chunk_count), chunk_count,
                   std::max<std::size_t>(chunk_size, 1), {});
}

Partition Partition::explicit_offsets(std::vector<std::size_t> offsets) {
  if (offsets.size() < 2) {
    throw Error(
        ErrorKind::invalid_argument,
        fmt::format("partition: {} offsets; give one more than there are chunks, at least 2",
                    offsets.size()));
  }
  if (offsets.front() != 0) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("partition: the first offset is {}; the chunks start at element 0",
                            offsets.front()));
  }
  const auto drop = std::adjacent_find(offsets.begin(), offsets.end(), std::greater<>());
  if (drop != offsets.end()) {
    throw Error(
        ErrorKind::invalid_argument,
        fmt::format("partition: offset {} of chunk {} is followed by the smaller {}; offsets "
                    "must never decrease",
                    *drop, drop - offsets.begin(), *(drop + 1)));
  }
  const std::size_t element_count = offsets.back();
  const int chunk_count = static_cast<int>(offsets.size()) - 1;
  return Partition(element_count, chunk_count, 1, std::move(offsets));
}

}  // namespace hycoll
