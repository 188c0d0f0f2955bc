#ifndef HYCOLL_COLLECTIVES_ALGORITHMS_BUILDING_BLOCKS_RING_H_
#define HYCOLL_COLLECTIVES_ALGORITHMS_BUILDING_BLOCKS_RING_H_

#include <functional>
#include <optional>

#include "core/schedule/builder.h"

namespace hycoll {

/// What one node does with blocks on their way round a ring, in one lane. In every step each node
/// sends a block to the next one and receives one from the previous one; what it receives in a step
/// is what it sends in the next. A block is cut into segments, each of which goes on as soon as it
/// is there.
struct RingTrip {
  int lane;
  StrandId strand;  ///< The leader's.
  int previous_node;
  int next_node;
  int step_count;
  int segment_count = 1;
  /// Where a segment is received; nothing if the message is left out, by its sender too.
  std::function<std::optional<Span>(int step, int segment)> receive;
  /// Appends what is to be done with the segment that arrived in the step before, if any, and
  /// returns what is sent in this one. After the last step it is called once more, with the number
  /// of steps; what it returns then is not sent.
  std::function<std::optional<Span>(int step, int segment)> forward;
  /// Appends what follows forward() when the segment is on its way; may be null.
  std::function<void(int step, int segment)> on_forwarded = nullptr;
};

/// Appends the whole trip to the strand. The receives of a step are posted before the segments of
/// the step before are waited for.
void append_ring_trip(ScheduleBuilder& builder, const RingTrip& trip);

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ALGORITHMS_BUILDING_BLOCKS_RING_H_
