#ifndef HYCOLL_THREADING_TRACING_TRACE_EVENTS_H_
#define HYCOLL_THREADING_TRACING_TRACE_EVENTS_H_

#include <cstdint>

namespace hycoll {

/// What a worker has been seen to do.
struct TraceEvent {
  enum class Kind : std::uint8_t { none, run_begins, run_ends, run_fails, step, message };

  Kind kind = Kind::none;
  std::uint32_t worker = 0;  ///< hycoll_observed_run::worker.
  std::uint64_t ticks = 0;   ///< When it began (run_begins), or ended.

  /// Of runs that begin.
  struct Run {
    std::uint64_t call = 0;
    std::uint64_t bytes = 0;
    std::uint32_t communicator = 0;
    std::int32_t rank = 0;
    std::uint16_t index = 0;
    bool has_member = false;
    const char* collective = "";
    const char* algorithm = "";
    const void* call_site = nullptr;
  };
  Run run;

  /// Of steps and messages.
  struct Step {
    std::uint8_t kind = 0;    ///< HYCOLL_STEP_...
    std::uint8_t strand = 0;  ///< Modulo 256.
    std::int32_t peer = -1;
    std::uint64_t bytes = 0;
    std::uint64_t waiting_ticks = 0;
    std::uint64_t working_ticks = 0;
  };
  Step step;
};

}  // namespace hycoll

#endif  // HYCOLL_THREADING_TRACING_TRACE_EVENTS_H_
