#ifndef HYCOLL_CORE_DRAWING_STATISTICS_H_
#define HYCOLL_CORE_DRAWING_STATISTICS_H_

#include <array>
#include <cstddef>
#include <vector>

#include "core/base/partition.h"
#include "core/schedule/schedule.h"

namespace hycoll {

/// An amount of data: chunks or bytes, as the function says that returns it.
using Volume = std::size_t;

/// What one node does and needs.
struct NodeStatistics {
  std::size_t send_count = 0;
  std::size_t native_count = 0;  ///< Calls of the MPI library's own allreduce.
  Volume sent = 0;
  Volume received = 0;
  Volume native = 0;          ///< The vectors of the native calls.
  Volume reduce_read = 0;     ///< Memory that reduces read, each source counted.
  Volume reduce_written = 0;  ///< Memory that reduces write, each destination counted.
  Volume copy_read = 0;
  Volume copy_written = 0;
  Volume staging = 0;
  Volume scratch = 0;
  Volume lines = 0;  ///< One of the two sets.
};

/// Of all nodes of a schedule, or of those of a part.
struct ScheduleStatistics {
  std::array<std::size_t, 7> step_counts{};  ///< By StepKind.
  std::size_t message_count = 0;             ///< Sends of all nodes.
  std::vector<NodeStatistics> nodes;
  NodeStatistics maximum;  ///< Over the nodes, each field by itself.

  /// The longest chains of steps that follow one another by the order of a strand, a dependency, a
  /// message, a flag or lines: the messages in a chain (a native call counts as one), and the
  /// steps. 0 for a part, which does not know what its peers do.
  std::size_t critical_message_count = 0;
  std::size_t critical_step_count = 0;

  std::size_t step_count() const noexcept;
  std::size_t count_of(StepKind kind) const noexcept {
    return step_counts[static_cast<std::size_t>(kind)];
  }
};

/// Counts what a schedule does, volumes in chunks. Requires a schedule that verify() accepts, or a
/// part of one. Pure.
ScheduleStatistics statistics(const Schedule& schedule);

/// The same with volumes in bytes. Requires a partition of number_count()
/// chunks (packs.h).
ScheduleStatistics statistics(const Schedule& schedule, const Partition& partition,
                              std::size_t element_size_bytes);

}  // namespace hycoll

#endif  // HYCOLL_CORE_DRAWING_STATISTICS_H_
