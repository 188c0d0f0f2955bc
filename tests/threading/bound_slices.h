#ifndef HYCOLL_TESTS_THREADING_BOUND_SLICES_H_
#define HYCOLL_TESTS_THREADING_BOUND_SLICES_H_

#include <cstddef>

#include "threading/program/schedule_binding.h"
#include "threading/program/staging_slices.h"

namespace hycoll::tests {

/// bind_slices() of a schedule that is bound once.
inline SlicedPrograms bound_slices(const Schedule& schedule, int node, const VectorExtent& extent,
                                   const BindingOptions& options, std::size_t limit) {
  BindingMemory memory;
  SlicedPrograms sliced;
  bind_slices(ScheduleBinding(schedule, node, options), extent, options.element_bytes, limit, {},
              memory, sliced);
  return sliced;
}

}  // namespace hycoll::tests

#endif  // HYCOLL_TESTS_THREADING_BOUND_SLICES_H_
