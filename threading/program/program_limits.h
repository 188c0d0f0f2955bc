#ifndef HYCOLL_THREADING_PROGRAM_PROGRAM_LIMITS_H_
#define HYCOLL_THREADING_PROGRAM_PROGRAM_LIMITS_H_

#include <cstddef>
#include <vector>

#include "core/base/partition.h"
#include "core/schedule/schedule.h"

namespace hycoll {

/// What a schedule is bound to, as far as the executor's limits depend on it.
struct LimitsQuery {
  const Schedule& schedule;
  const Partition& partition;
  std::size_t element_bytes = 1;
  int tag_count = 0;      ///< As BindingOptions has it.
  bool has_gaps = false;  ///< Between the slices of neighbouring blocks.
};

/// Throws Error (unsupported) if the schedule needs more of anything than the executor has, on any
/// of its nodes: so all nodes refuse it, or none. Every count that is kept in fewer bits than the
/// schedule has it in is bounded here.
void require_within_limits(const LimitsQuery& query);

/// For each flag, whether it is raised once, by a member's owner as its very first step. It says no
/// more then than that the owner has entered, which the executor announces anyway.
std::vector<bool> arrival_flags(const Schedule& schedule);

/// Whether a member's buffer of this role holds the blocks of all members, which are not contiguous
/// when a run works on a slice of each.
bool holds_all_blocks(const CollectiveTraits& collective, BufferRole role);

/// Whether a step touches chunks of several blocks in such a buffer. Requires a collective with
/// blocks.
bool touches_several_blocks(const Schedule& schedule, const Step& step);

/// Whether a step touches lines or streams. Such steps stay even if they are empty: what they write
/// or read is a signal.
bool touches_signals(const Schedule& schedule, const Step& step);

}  // namespace hycoll

#endif  // HYCOLL_THREADING_PROGRAM_PROGRAM_LIMITS_H_
