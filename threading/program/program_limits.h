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

/// The block of a reduce_scatter that a chunk lies in.
int block_of(const Schedule& schedule, int chunk);

/// Whether a step reads chunks of several blocks from an input.
bool reads_several_blocks(const Schedule& schedule, const Step& step);

/// Whether a step touches lines or streams. Such steps stay even if they are empty: what they write
/// or read is a signal.
bool touches_signals(const Schedule& schedule, const Step& step);

}  // namespace hycoll

#endif  // HYCOLL_THREADING_PROGRAM_PROGRAM_LIMITS_H_
