#ifndef HYCOLL_CORE_DRAWING_SCHEDULE_PRICE_H_
#define HYCOLL_CORE_DRAWING_SCHEDULE_PRICE_H_

#include "core/base/machine_prices.h"
#include "core/schedule/schedule.h"

namespace hycoll {

/// What the lanes of a schedule stand for. All lanes of a collective do the same at the same time,
/// so that one with a part of the card is priced like many.
struct LaneScale {
  int lanes_per_lane = 1;   ///< Lanes that share the cards, for each lane of the schedule.
  int last_node_lanes = 1;  ///< Of these, as many as a worker of the last node drives.
};

/// The time in microseconds of one call on a vector of `size_bytes`: the schedule is walked through
/// with a clock for every worker, who issues one step at a time and waits as the schedule says, and
/// one for either direction of each node's network card, which carries one message after the other.
/// A message is there alpha after it has been issued, its bytes' time later, and not before the
/// card; its receiver takes in one per message_us. All members begin at once.
///
/// The chunks are taken as equal parts of the vector, of fractions of bytes if need be, so that no
/// message is left out for being empty. Left out, too: that bytes of one node are shared by caches
/// or memory channels, handshakes and headers of messages, what lies between the cards, noise, and
/// what staging costs unless the schedule is a staged one. A native call costs nothing, for what
/// the MPI library does is not known: ask has_price().
///
/// Requires a whole schedule that verify() accepts. Pure.
double price_us(const Schedule& schedule, double size_bytes, const MachinePrices& prices,
                const LaneScale& scale = {});

/// Whether all that the schedule does has a price.
bool has_price(const Schedule& schedule);

}  // namespace hycoll

#endif  // HYCOLL_CORE_DRAWING_SCHEDULE_PRICE_H_
