#ifndef HYCOLL_THREADING_TRACING_TRACE_RING_H_
#define HYCOLL_THREADING_TRACING_TRACE_RING_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "threading/observing/observer.h"
#include "threading/tracing/trace_events.h"

namespace hycoll {

/// The latest events of one thread, in memory of a fixed size: those that come write over the
/// oldest ones. One thread writes; any may read meanwhile.
class TraceRing {
 public:
  /// Records take 32 bytes; a step is one mostly, the beginning of a run two or three.
  explicit TraceRing(std::size_t size_bytes);

  void run_begins(const hycoll_observed_run& run) noexcept;
  void run_ends(const hycoll_observed_run& run, bool failed) noexcept;
  void step_ends(const hycoll_observed_run& run, const hycoll_observed_step& step) noexcept;
  void message_ends(const hycoll_observed_run& run, const hycoll_observed_step& step) noexcept;

  /// Those that are there, in their order.
  std::vector<TraceEvent> events() const;
  /// Records that have been written over.
  std::uint64_t lost_count() const noexcept;

 private:
  using Record = std::array<std::uint64_t, 4>;
  using SharedRecord = std::array<std::atomic<std::uint64_t>, 4>;

  void put(const Record& record) noexcept;
  void put_step(TraceEvent::Kind kind, const hycoll_observed_run& run,
                const hycoll_observed_step& step) noexcept;
  std::vector<Record> records() const;

  std::size_t capacity_;  // records; a power of two
  std::unique_ptr<SharedRecord[]> records_;
  std::atomic<std::uint64_t> begun_{0};    // records that are being written, or have been
  std::atomic<std::uint64_t> written_{0};  // those that have been
};

}  // namespace hycoll

#endif  // HYCOLL_THREADING_TRACING_TRACE_RING_H_
