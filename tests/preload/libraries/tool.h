#ifndef HYCOLL_TESTS_PRELOAD_LIBRARIES_TOOL_H_
#define HYCOLL_TESTS_PRELOAD_LIBRARIES_TOOL_H_

#include <cstddef>

/// The functions whose calls the tool counts.
enum class ToolCounter {
  allreduce,
  isend,
  irecv,
  iprobe,
  test,
  wait,
  comm_split,
  comm_dup_with_info,
  comm_free,
  comm_set_errhandler,
};
inline constexpr std::size_t kToolCounters = 10;

/// How often the tool has seen a function. Weak: null where no tool is preloaded.
extern "C" __attribute__((weak)) long tool_calls(ToolCounter counter);

#endif  // HYCOLL_TESTS_PRELOAD_LIBRARIES_TOOL_H_
