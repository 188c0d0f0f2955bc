#ifndef HYCOLL_PRELOAD_SESSION_REPORT_H_
#define HYCOLL_PRELOAD_SESSION_REPORT_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "collectives/plans/plan_account.h"
#include "hycoll/heap.h"
#include "numa/placement/process_places.h"
#include "preload/session/routine.h"

namespace hycoll::preload {

/// Who served a call.
enum class Server : std::uint8_t { hycoll, mpi_library };

/// The calls that a line of the report stands for.
struct ReportKey {
  Routine routine = Routine::allreduce;
  /// The largest size of the class: a power of two; 0 for calls without data.
  std::size_t size_class_bytes = 0;
  Server server = Server::mpi_library;
  /// hycoll's algorithm, or why the MPI library served the call.
  std::string way;

  auto operator<=>(const ReportKey&) const = default;
};

/// What they came to.
struct ReportTotals {
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;
  double seconds = 0;          ///< Summed over processes.
  double longest_seconds = 0;  ///< Of one process.

  void add(const ReportTotals& other);
};

/// Blocking calls from one place of the program.
struct ReportSite {
  Routine routine = Routine::allreduce;
  std::string place;     ///< CodePlace::text().
  std::string function;  ///< CodePlace::function.

  auto operator<=>(const ReportSite&) const = default;
};

/// Calls, bytes and times by routine and size, and each process's shared memory and shared heap.
/// Thread-safe.
class Report {
 public:
  /// `site`: CallSite::here().
  void record(Routine routine, std::size_t size_bytes, Server server, std::string way,
              double seconds, const void* site = nullptr);

  /// hycoll has prepared itself for a communicator; `transport`: Communicator::transport().
  void add_preparation(double seconds, const std::string& transport);

  /// What this process has in the shared heap. To be said once, before merge().
  void set_heap_usage(const HeapUsage& usage);

  /// What this process's plans have come to. As above.
  void set_plans(const PlanStatistics& plans);

  /// Where this process runs. As above.
  void set_place(const ProcessPlace& place);

  /// The most that this process has provided of the memory that communicators share. As above.
  void set_shared_bytes(std::size_t peak_bytes);

  /// Adds what the process of the next rank has sent. Throws if the text is no serialise()'s.
  void merge(const std::string& serialised);

  std::string serialise() const;

  /// For people, for `process_count` processes.
  std::string text(int process_count) const;

  /// The same for programs: {"processes": P, "collectives": [{"collective", "size_class_bytes",
  /// "served_by", "algorithm" or "reason", "calls", "bytes", "seconds_total", "seconds_longest"}],
  /// "preparations": {"calls", "seconds_total", "seconds_longest"}, "transports": [{"transport",
  /// "preparations"}], "places": [{"process", "host", "cpus"}], "plans": [{"process", "made",
  /// "found", "evicted", "peak_bytes", "seconds"}], "call_sites": [{"collective", "site",
  /// "function", "calls", "bytes", "seconds_total", "seconds_longest"}], "shared_memory_bytes": [by
  /// process],
  /// "shared_heap": [{"process", "blocks", ...}]}; the last one only if a process used the heap. A
  /// preparation counts on each process of its communicator.
  std::string json(int process_count) const;

 private:
  mutable std::mutex mutex_;
  std::map<ReportKey, ReportTotals> lines_;   // guarded by mutex_
  std::map<ReportSite, ReportTotals> sites_;  // guarded by mutex_
  std::map<std::pair<Routine, const void*>, ReportTotals*> sites_of_addresses_;  // the same
  ReportTotals preparations_;  // guarded by mutex_
  std::map<std::string, std::uint64_t>
      transports_;                         // preparations by description; guarded by mutex_
  std::vector<std::size_t> shared_bytes_;  // by rank; guarded by mutex_
  std::vector<HeapUsage> heaps_;           // the same
  std::vector<PlanStatistics> plans_;      // the same
  std::vector<ProcessPlace> places_;       // the same
};

}  // namespace hycoll::preload

#endif  // HYCOLL_PRELOAD_SESSION_REPORT_H_
