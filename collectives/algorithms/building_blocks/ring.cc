#include "collectives/algorithms/building_blocks/ring.h"

namespace hycoll {

void append_ring_trip(ScheduleBuilder& builder, const RingTrip& trip) {
  for (int step = 0; step <= trip.step_count; ++step) {
    const bool is_sent = step < trip.step_count;
    for (int s = 0; is_sent && s < trip.segment_count; ++s) {
      if (const auto place = trip.receive(step, s)) {
        builder.recv(trip.strand, trip.lane, trip.previous_node, *place);
      }
    }
    for (int s = 0; s < trip.segment_count; ++s) {
      const auto block = trip.forward(step, s);
      if (is_sent && block) builder.send(trip.strand, trip.lane, trip.next_node, *block);
      if (trip.on_forwarded) trip.on_forwarded(step, s);
    }
  }
}

}  // namespace hycoll
