#include "threading/program/staging_slices.h"

#include <fmt/format.h>

#include <algorithm>

#include "threading/memory/node_memory.h"

namespace hycoll {

std::vector<int> staging_workers(const Schedule& schedule) {
  std::vector<int> workers;
  for (const Buffer& buffer : schedule.buffers) {
    const bool is_staging = buffer.role == BufferRole::staging;
    workers.push_back(is_staging ? schedule.shape.first_worker(buffer.owner) : -1);
  }
  std::vector<bool> is_written(schedule.buffers.size(), false);
  for (const Strand& strand : schedule.strands) {
    for (const Step& step : strand.steps) {
      for (const Span& span : schedule.destinations(step)) {
        const auto id = static_cast<std::size_t>(span.buffer);
        if (workers[id] < 0 || is_written[id]) continue;
        is_written[id] = true;
        workers[id] = strand.worker;
      }
    }
  }
  return workers;
}

std::size_t padded_bytes(const Buffer& buffer, const Partition& partition,
                         std::size_t element_bytes) {
  return padded_to_lines(partition.range(buffer.first_chunk, buffer.chunk_count).size() *
                         element_bytes);
}

StagingUse::StagingUse(const Schedule& schedule)
    : chunking_(schedule), algorithm_(schedule.algorithm) {
  add(schedule);
}

void StagingUse::add(const Schedule& part) {
  const std::vector<int> workers = staging_workers(part);
  std::vector<std::vector<ChunkRange>> used(static_cast<std::size_t>(part.part.workers.count));
  for (std::size_t id = 0; id < workers.size(); ++id) {
    if (workers[id] < 0) continue;
    const Buffer& buffer = part.buffers[id];
    used[static_cast<std::size_t>(workers[id] - part.part.workers.first)].push_back(
        {.first = buffer.first_chunk, .count = buffer.chunk_count});
  }
  const auto by_chunk = [](const ChunkRange& a, const ChunkRange& b) {
    return std::pair(a.first, a.count) < std::pair(b.first, b.count);
  };
  const auto includes = [&](const std::vector<ChunkRange>& all,
                            const std::vector<ChunkRange>& some) {
    return std::ranges::includes(all, some, by_chunk);
  };
  for (std::vector<ChunkRange>& ranges : used) {
    std::ranges::sort(ranges, by_chunk);
    // Of two workers one of whom keeps all that the other does the other needs no more.
    const auto keeps_all = [&](const auto& known) { return includes(known, ranges); };
    if (ranges.empty() || std::ranges::any_of(workers_, keeps_all)) continue;
    std::erase_if(workers_, [&](const auto& known) { return includes(ranges, known); });
    workers_.push_back(std::move(ranges));
  }
}

std::size_t StagingUse::bytes(const VectorExtent& extent, std::size_t element_bytes) const {
  const Partition partition = partition_for(chunking_, extent, element_bytes);
  std::size_t most = 0;
  for (const std::vector<ChunkRange>& ranges : workers_) {
    std::size_t used = 0;
    for (const ChunkRange& range : ranges) {
      used += padded_to_lines(partition.range(range.first, range.count).size() * element_bytes);
    }
    most = std::max(most, used);
  }
  return most;
}

std::size_t staging_bytes(const Schedule& schedule, const VectorExtent& extent,
                          std::size_t element_bytes) {
  return StagingUse(schedule).bytes(extent, element_bytes);
}

std::size_t slice_limit(const StagingUse& use, const VectorExtent& extent,
                        std::size_t element_bytes, std::size_t capacity_bytes) {
  const std::size_t granule = std::max<std::size_t>(1, kCacheLineBytes / element_bytes);
  const std::size_t all = std::max<std::size_t>(longest_block(extent), 1);
  std::size_t limit = all;
  for (std::size_t runs = 1;;) {
    VectorExtent slice = extent;
    slice.limit = limit;
    const std::size_t used = use.bytes(slice, element_bytes);
    if (used <= capacity_bytes) return limit;
    if (limit <= granule) {
      throw StagingTooSmall(fmt::format(
          "algorithm '{}' needs {} bytes of staging for each worker to work on {} elements, there "
          "are {}; allow more staging (twice that is Options::staging_kib, HYCOLL_STAGING_KIB), or "
          "choose another algorithm or fewer segments",
          use.algorithm(), used, limit, capacity_bytes));
    }
    runs = std::max(runs + 1, runs * (used / std::max<std::size_t>(capacity_bytes, 1)));
    limit = ((all + runs - 1) / runs + granule - 1) / granule * granule;
  }
}

std::size_t slice_limit(const Schedule& schedule, const VectorExtent& extent,
                        std::size_t element_bytes, std::size_t capacity_bytes) {
  return slice_limit(StagingUse(schedule), extent, element_bytes, capacity_bytes);
}

Slices::Slices(const VectorExtent& extent, std::size_t limit) noexcept : slice_(extent) {
  const std::size_t all = std::max<std::size_t>(longest_block(extent), 1);
  slice_.limit = std::min(limit, all);
  run_count_ = (all + slice_.limit - 1) / slice_.limit;
}

std::size_t Slices::program_count() const noexcept {
  return slice_.block_counts.empty() ? std::min<std::size_t>(run_count_, 2) : run_count_;
}

const VectorExtent& Slices::slice(std::size_t program) noexcept {
  const bool is_last = program + 1 == program_count();
  slice_.first = (is_last ? run_count_ - 1 : program) * slice_.limit;
  return slice_;
}

}  // namespace hycoll
