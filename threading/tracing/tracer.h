#ifndef HYCOLL_THREADING_TRACING_TRACER_H_
#define HYCOLL_THREADING_TRACING_TRACER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/base/ticks.h"
#include "threading/tracing/trace_file.h"
#include "threading/tracing/trace_ring.h"

namespace hycoll {

/// Keeps what the workers of this process did lately, a ring of records for each thread, and writes
/// it into a folder: when the process exits, before hycoll ends a job, and on SIGUSR2 unless the
/// program handles that itself. Thread-safe.
class Tracer {
 public:
  /// The process's only one, which is made at the first call: an observer of all communicators that
  /// are made from then on. Throws Error (invalid_argument) if nothing can be written into the
  /// folder, which is made where it is missing, or another one has been named before.
  static Tracer& start(const std::string& folder, std::size_t ring_bytes);

  /// Null if none has been started.
  static Tracer* running() noexcept;

  /// Whose runs are to be told from others. `number`: as observers are told. The offset of the
  /// largest communicator, and of the first of its size, is taken.
  void add_communicator(std::uint64_t number, const ClockOffset& clock);

  /// Writes FOLDER/HOST.PID.json; says so on standard error if that fails. Returns its name.
  std::string write() noexcept;

  // For the observer and the tests.
  TraceRing& ring_here() noexcept;
  void give_back(TraceRing& ring) noexcept;

 private:
  Tracer(std::string folder, std::size_t ring_bytes);
  void write_on_signal();
  std::string try_to_write();

  std::string folder_;
  std::size_t ring_bytes_;
  TickRate rate_;
  int own_pid_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<TraceRing>> rings_;  // guarded by mutex_
  std::vector<TraceRing*> vacant_;                 // guarded by mutex_; those of threads that ended
  TracedProcess process_;                          // guarded by mutex_
};

}  // namespace hycoll

#endif  // HYCOLL_THREADING_TRACING_TRACER_H_
