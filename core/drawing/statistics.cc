#include "core/drawing/statistics.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "core/base/errors.h"
#include "core/drawing/statistics_timeline.h"
#include "core/schedule/packs.h"

namespace hycoll {
namespace {

/// A field of NodeStatistics, all of which are counted alike.
constexpr std::array kFields = {
    &NodeStatistics::send_count,     &NodeStatistics::native_count, &NodeStatistics::sent,
    &NodeStatistics::received,       &NodeStatistics::native,       &NodeStatistics::reduce_read,
    &NodeStatistics::reduce_written, &NodeStatistics::copy_read,    &NodeStatistics::copy_written,
    &NodeStatistics::staging,        &NodeStatistics::scratch,      &NodeStatistics::lines,
};

/// Gives the volume of a range of chunks.
class VolumeOfChunks {
 public:
  VolumeOfChunks() = default;                                            // in chunks
  VolumeOfChunks(const Partition& partition, std::size_t element_bytes)  // in bytes
      : partition_(&partition), element_bytes_(element_bytes) {}

  Volume operator()(int first_chunk, int chunk_count) const {
    return partition_ == nullptr
               ? static_cast<Volume>(chunk_count)
               : partition_->range(first_chunk, chunk_count).size() * element_bytes_;
  }

 private:
  const Partition* partition_ = nullptr;
  std::size_t element_bytes_ = 1;
};

void count_step(const Schedule& schedule, const Step& step, const VolumeOfChunks& volume_of,
                NodeStatistics& node) {
  const auto volume = [&](std::span<const Span> spans) {
    Volume sum = 0;
    for (const Span& span : spans) sum += volume_of(span.first_chunk, span.chunk_count);
    return sum;
  };
  const Volume written = volume(schedule.destinations(step));
  const Volume read = volume(schedule.sources(step));
  switch (step.kind) {
    case StepKind::send:
      ++node.send_count;
      node.sent += read;
      return;
    case StepKind::recv:
      node.received += written;
      return;
    case StepKind::native:
      ++node.native_count;
      node.native += read;
      return;
    case StepKind::reduce:
      node.reduce_read += read;
      node.reduce_written += written;
      return;
    case StepKind::copy:
      node.copy_read += read;
      node.copy_written += written;
      return;
    case StepKind::signal:
    case StepKind::wait:
      return;
  }
}

/// `places`: the volumes, by number, of places in scratch that several share.
void count_buffer(const Buffer& buffer, const VolumeOfChunks& volume_of, NodeStatistics& node,
                  std::map<int, Volume>& places) {
  Volume size = volume_of(buffer.first_chunk, buffer.chunk_count);
  if (buffer.shares_with >= 0) {
    Volume& place = places[buffer.shares_with];
    const Volume before = place;
    place = std::max(place, size);
    size = place - before;
  }
  if (buffer.role == BufferRole::staging) node.staging += size;
  if (buffer.role == BufferRole::scratch) node.scratch += size;
  if (buffer.role == BufferRole::lines) node.lines += size;
}

ScheduleStatistics count_steps(const Schedule& schedule, const VolumeOfChunks& volume_of) {
  ScheduleStatistics result;
  const NumberRange& nodes = schedule.part.nodes;
  result.nodes.resize(static_cast<std::size_t>(nodes.count));
  const auto counts_of = [&](int node) -> NodeStatistics& {
    return result.nodes[static_cast<std::size_t>(node - nodes.first)];
  };
  std::map<int, Volume> places;
  for (const Buffer& buffer : schedule.buffers) {
    count_buffer(buffer, volume_of, counts_of(verifier::node_of_buffer(schedule.shape, buffer)),
                 places);
  }
  for (const Strand& strand : schedule.strands) {
    NodeStatistics& node = counts_of(schedule.shape.node_of_worker(strand.worker));
    for (const Step& step : strand.steps) {
      ++result.step_counts[static_cast<std::size_t>(step.kind)];
      count_step(schedule, step, volume_of, node);
    }
  }
  for (const NodeStatistics& node : result.nodes) {
    result.message_count += node.send_count;
    for (const auto field : kFields) {
      result.maximum.*field = std::max(result.maximum.*field, node.*field);
    }
  }
  return result;
}

void add_critical_path(const Schedule& schedule, ScheduleStatistics& result) {
  const ScheduleWalk walk(schedule);
  const auto messages_only = [](const Step& step) {
    return StepCost{.busy = 0, .transfer = is_asynchronous(step.kind) ? 1.0 : 0.0};
  };
  const auto every_step = [](const Step& step) {
    return StepCost{.busy = 1, .transfer = step.kind == StepKind::send ? 1.0 : 0.0};
  };
  result.critical_message_count =
      static_cast<std::size_t>(compute_timeline(walk, messages_only).end);
  result.critical_step_count = static_cast<std::size_t>(compute_timeline(walk, every_step).end);
}

ScheduleStatistics count(const Schedule& schedule, const VolumeOfChunks& volume_of) {
  ScheduleStatistics result = count_steps(schedule, volume_of);
  if (schedule.is_whole()) add_critical_path(schedule, result);
  return result;
}

}  // namespace

std::size_t ScheduleStatistics::step_count() const noexcept {
  return std::accumulate(step_counts.begin(), step_counts.end(), std::size_t{0});
}

ScheduleStatistics statistics(const Schedule& schedule) {
  return count(schedule, VolumeOfChunks());
}

ScheduleStatistics statistics(const Schedule& schedule, const Partition& partition,
                              std::size_t element_size_bytes) {
  HYCOLL_ASSERT(partition.chunk_count() == number_count(schedule),
                "the partition must have the schedule's chunks");
  return count(schedule, VolumeOfChunks(partition, element_size_bytes));
}

}  // namespace hycoll
