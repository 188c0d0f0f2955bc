#ifndef HYCOLL_CORE_SCHEDULE_WITHOUT_STEPS_H_
#define HYCOLL_CORE_SCHEDULE_WITHOUT_STEPS_H_

#include "core/schedule/schedule.h"

namespace hycoll {

/// The schedule without strands, and without what only their steps name.
inline Schedule without_steps(const Schedule& schedule) {
  return {.collective = schedule.collective,
          .algorithm = schedule.algorithm,
          .shape = schedule.shape,
          .chunk_count = schedule.chunk_count,
          .root = schedule.root,
          .part = schedule.part,
          .buffers = schedule.buffers,
          .flags = schedule.flags,
          .strands = {},
          .spans = {},
          .packed = schedule.packed,
          .dependencies = {}};
}

}  // namespace hycoll

#endif  // HYCOLL_CORE_SCHEDULE_WITHOUT_STEPS_H_
