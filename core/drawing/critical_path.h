#ifndef HYCOLL_CORE_DRAWING_CRITICAL_PATH_H_
#define HYCOLL_CORE_DRAWING_CRITICAL_PATH_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/drawing/schedule_price.h"

namespace hycoll {

/// What the end of a call waits for, for a while.
struct Stretch {
  enum class Kind : std::uint8_t {
    message,  ///< Waits for its endpoint, is on its way, and is taken in.
    reduce,
    copy,
    signal,  ///< A flag or a line is on its way to who waits for it.
    issue,   ///< A worker looks at flags, or issues messages.
  };

  Kind kind;
  int step;         ///< That ends it; of a message the receive.
  int from_worker;  ///< Of a message and a signal: another one perhaps.
  int worker;
  double begin_us;
  double end_us;

  double length_us() const noexcept { return end_us - begin_us; }
};
inline constexpr std::size_t kStretchKindCount = 5;

/// "message", "reduce", ...
std::string_view name_of(Stretch::Kind kind) noexcept;

/// From the beginning of a call to its end: each stretch had to end for the next one to begin.
/// Stretches of no length are left out. Requires the record of a walk through the schedule.
std::vector<Stretch> critical_path(const PricedSchedule& schedule, const WalkRecord& record);

}  // namespace hycoll

#endif  // HYCOLL_CORE_DRAWING_CRITICAL_PATH_H_
