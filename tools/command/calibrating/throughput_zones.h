#ifndef HYCOLL_TOOLS_COMMAND_CALIBRATING_THROUGHPUT_ZONES_H_
#define HYCOLL_TOOLS_COMMAND_CALIBRATING_THROUGHPUT_ZONES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "tools/command/calibrating/calibration.h"

namespace hycoll::command {

/// The zones of message sizes of DPML (section 4.1, figure 1): in zone A the throughput grows with
/// the pairs, in zone C several pairs have no more than one, and zone B is what lies between.
struct ThroughputZones {
  std::size_t last_of_a = 0;          ///< The longest size of zone A; 0: there is none.
  std::size_t first_of_c = SIZE_MAX;  ///< The shortest size of zone C; SIZE_MAX: there is none.

  char zone_of(std::size_t size_bytes) const noexcept {
    return size_bytes <= last_of_a ? 'A' : size_bytes >= first_of_c ? 'C' : 'B';
  }
  friend bool operator==(const ThroughputZones&, const ThroughputZones&) = default;
};

/// By the throughput of most pairs: zone A has the sizes, from the shortest on, of which they have
/// at least three quarters of what one pair has times their number; zone C those, from the longest
/// down, of which they have at most 1.25 times as much as one. Nothing if there is one pair only,
/// or if a point is not told. Pure.
std::optional<ThroughputZones> find_zones(const MessageCosts& costs);

/// "zone A up to 1Ki, zone C from 64Ki".
std::string to_text(const ThroughputZones& zones);

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_CALIBRATING_THROUGHPUT_ZONES_H_
