#include "collectives/algorithms/parts/ring.h"

namespace hycoll {

void append_ring_trip(ScheduleBuilder& builder, const RingTrip& trip) {
  const auto count = static_cast<int>(trip.nodes.size());
  const auto node_at = [&](int position) {
    return trip.nodes[static_cast<std::size_t>((position + count) % count)];
  };
  for (int position = 0; position < count; ++position) {
    const StrandId strand = trip.strands[static_cast<std::size_t>(node_at(position))];
    for (int step = 0; step <= trip.step_count; ++step) {
      const bool is_sent = step < trip.step_count;
      for (int s = 0; is_sent && s < trip.segment_count; ++s) {
        if (const auto place = trip.receive(position, step, s)) {
          builder.recv(strand, trip.lane, node_at(position - 1), *place);
        }
      }
      for (int s = 0; s < trip.segment_count; ++s) {
        const auto block = trip.forward(position, step, s);
        if (is_sent && block) builder.send(strand, trip.lane, node_at(position + 1), *block);
        if (trip.on_forwarded) trip.on_forwarded(position, step, s);
      }
    }
  }
}

}  // namespace hycoll
