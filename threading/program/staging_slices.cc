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
  const std::size_t size_bytes =
      partition.range(buffer.first_chunk, buffer.chunk_count).size() * element_bytes;
  return (size_bytes + kCacheLineBytes - 1) / kCacheLineBytes * kCacheLineBytes;
}

std::size_t staging_bytes(const Schedule& schedule, const VectorExtent& extent,
                          std::size_t element_bytes) {
  const Partition partition = partition_for(schedule, extent, element_bytes);
  const std::vector<int> workers = staging_workers(schedule);
  const NumberRange all = schedule.part.workers;
  std::vector<std::size_t> used(static_cast<std::size_t>(all.count), 0);
  for (std::size_t id = 0; id < workers.size(); ++id) {
    if (workers[id] < 0) continue;
    used[static_cast<std::size_t>(workers[id] - all.first)] +=
        padded_bytes(schedule.buffers[id], partition, element_bytes);
  }
  return *std::ranges::max_element(used);
}

std::size_t longest_block(const VectorExtent& extent) {
  return extent.block_counts.empty() ? extent.count
                                     : *std::ranges::max_element(extent.block_counts);
}

std::size_t slice_limit(const Schedule& schedule, const VectorExtent& extent,
                        std::size_t element_bytes, std::size_t capacity_bytes) {
  const std::size_t granule = std::max<std::size_t>(1, kCacheLineBytes / element_bytes);
  const std::size_t all = std::max<std::size_t>(longest_block(extent), 1);
  std::size_t limit = all;
  for (std::size_t runs = 1;;) {
    VectorExtent slice = extent;
    slice.limit = limit;
    const std::size_t used = staging_bytes(schedule, slice, element_bytes);
    if (used <= capacity_bytes) return limit;
    if (limit <= granule) {
      throw StagingTooSmall(fmt::format(
          "algorithm '{}' needs {} bytes of staging for each worker to work on {} elements, there "
          "are {}; allow more staging (twice that is Options::staging_kib, HYCOLL_STAGING_KIB), or "
          "choose another algorithm or fewer segments",
          schedule.algorithm, used, limit, capacity_bytes));
    }
    runs = std::max(runs + 1, runs * (used / std::max<std::size_t>(capacity_bytes, 1)));
    limit = ((all + runs - 1) / runs + granule - 1) / granule * granule;
  }
}

SlicedPrograms bind_slices(const Schedule& schedule, int node, const VectorExtent& extent,
                           const BindingOptions& options, std::size_t limit) {
  const std::size_t all = std::max<std::size_t>(longest_block(extent), 1);
  VectorExtent slice = extent;
  slice.limit = std::min(limit, all);
  SlicedPrograms sliced{.run_count = (all + slice.limit - 1) / slice.limit,
                        .displacement_bytes = slice.limit * options.element_bytes,
                        .staging_bytes = staging_bytes(schedule, slice, options.element_bytes),
                        .programs = {}};
  for (std::size_t run = 0; run < sliced.run_count; ++run) {
    const bool is_repetition = extent.block_counts.empty() && run > 0 && run + 1 < sliced.run_count;
    if (is_repetition) continue;
    slice.first = run * slice.limit;
    sliced.programs.push_back(bind_schedule(schedule, node, slice, options));
  }
  return sliced;
}

}  // namespace hycoll
