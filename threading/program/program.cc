#include "threading/program/program.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <utility>

#include "core/base/collective_traits.h"
#include "core/base/lifetime.h"
#include "core/schedule/packs.h"
#include "core/schedule/pairs.h"

namespace hycoll {

std::size_t slice_of(std::size_t count, const VectorExtent& extent) noexcept {
  return count <= extent.first ? 0 : std::min(extent.limit, count - extent.first);
}

std::size_t block_count(const VectorExtent& extent, int member) noexcept {
  return extent.block_counts.empty() ? extent.count
                                     : extent.block_counts[static_cast<std::size_t>(member)];
}

std::size_t longest_block(const VectorExtent& extent) noexcept {
  return extent.block_counts.empty() ? extent.count
                                     : *std::ranges::max_element(extent.block_counts);
}

bool is_whole(const VectorExtent& extent) noexcept {
  return extent.first == 0 && extent.limit >= longest_block(extent);
}

Chunking::Chunking(const Schedule& schedule)
    : block_count(has_blocks(schedule.collective) ? schedule.shape.member_count() : 0),
      chunk_count(number_count(schedule)),
      has_pairs(hycoll::has_pairs(schedule.collective)) {}

Partition partition_for(const Chunking& chunking, const VectorExtent& extent,
                        std::size_t element_bytes) {
  const std::size_t granule = std::max<std::size_t>(1, kCacheLineBytes / element_bytes);
  if (chunking.block_count == 0) {
    return Partition::balanced(slice_of(extent.count, extent), chunking.chunk_count, granule);
  }
  if (chunking.has_pairs) {
    return Partition::uniform(slice_of(extent.count, extent), chunking.chunk_count);
  }
  std::vector<std::size_t> offsets;
  offsets.reserve(static_cast<std::size_t>(chunking.chunk_count) + 1);
  offsets.push_back(0);
  for (int member = 0; member < chunking.block_count; ++member) {
    const std::size_t block = slice_of(block_count(extent, member), extent);
    const Partition chunks = Partition::balanced(block, chunking.chunks_per_block(), granule);
    const std::size_t begin = offsets.back();
    for (int chunk = 0; chunk < chunking.chunks_per_block(); ++chunk) {
      offsets.push_back(begin + chunks.range(chunk).end);
    }
  }
  return Partition::explicit_offsets(std::move(offsets));
}

Partition partition_for(const Schedule& schedule, const VectorExtent& extent,
                        std::size_t element_bytes) {
  return partition_for(Chunking(schedule), extent, element_bytes);
}

void add_gaps(const Chunking& chunking, const VectorExtent& extent,
              std::vector<std::size_t>& gaps) {
  std::size_t gap = 0;
  for (int member = 0; member < chunking.block_count; ++member) {
    gaps.push_back(gap);
    const std::size_t block = block_count(extent, member);
    gap += block - slice_of(block, extent);
  }
  if (gap == 0) gaps.clear();
}

std::size_t briefly_staged_bytes(const Shape& shape, const VectorExtent& extent,
                                 const BindingOptions& options) noexcept {
  return shape.node_count() == 1 && is_whole(extent) ? options.short_staging_bytes : 0;
}

std::uint64_t take_program_numbers(std::uint64_t count) noexcept {
  static std::atomic<std::uint64_t> next{1};
  return next.fetch_add(count, std::memory_order_relaxed);  // numbers that nobody else has
}

const char* kept_algorithm_name(const std::string& name) {
  static constinit std::mutex mutex;
  static Immortal<std::set<std::string>> names;  // a set's elements stay where they are
  const std::lock_guard lock(mutex);
  return names->insert(name).first->c_str();
}

}  // namespace hycoll
