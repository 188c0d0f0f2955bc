#ifndef HYCOLL_TESTS_SUPPORT_LINES_LIMIT_H_
#define HYCOLL_TESTS_SUPPORT_LINES_LIMIT_H_

#include <algorithm>
#include <cstddef>

#include "core/schedule/schedule.h"
#include "threading/memory/node_memory.h"

namespace hycoll::tests {

/// Whether the executor refuses the schedule because its lines cannot hold such inputs.
inline bool too_long_for_lines(const Schedule& schedule, std::size_t input_bytes) {
  return input_bytes > kMaximumLinesBytes &&
         std::any_of(schedule.buffers.begin(), schedule.buffers.end(),
                     [](const Buffer& buffer) { return buffer.role == BufferRole::lines; });
}

}  // namespace hycoll::tests

#endif  // HYCOLL_TESTS_SUPPORT_LINES_LIMIT_H_
