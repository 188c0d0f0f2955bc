#ifndef HYCOLL_PRELOAD_SESSION_SETTINGS_H_
#define HYCOLL_PRELOAD_SESSION_SETTINGS_H_

#include <optional>
#include <string>
#include <string_view>

#include "collectives/api/hycoll.h"
#include "preload/session/routine.h"

namespace hycoll::preload {

/// What the environment says to the preload library. All processes of a job must have the same.
struct Settings {
  /// HYCOLL_DISABLE: what goes to the MPI library always.
  RoutineSet disabled;

  /// HYCOLL_REPORT: empty, "1" for text on standard error, or the name of a JSON file.
  std::string report;

  /// HYCOLL_ATTACH_AFTER: so many calls on a communicator go to the MPI library before hycoll
  /// prepares itself for it. Empty: when the calls have taken so long that it pays (Payback). 0
  /// unless it is given if all bits are to be reproducible, for the MPI library's are its own.
  std::optional<int> attach_after;

  /// by_machine: a communicator of which some processes share a machine gets the layout
  /// `processes`, any other one `per_node`. given: options.layout, because HYCOLL_LAYOUT or
  /// HYCOLL_LEADERS, which stands for `per_node`, is set.
  enum class Layout { by_machine, given } layout = Layout::by_machine;

  /// Whether buffers may lie in the memory of GPUs; not if HYCOLL_DEVICE_MEMORY=0.
  bool looks_for_devices = true;

  /// For hycoll's communicators: HYCOLL_LEADERS is the number of workers, 1 if it is not given.
  Options options;

  bool reports() const noexcept { return !report.empty(); }

  /// Throws Error when a value cannot be read.
  static Settings from_environment();
};

/// Settings::report, which needs no MPI.
std::string_view requested_report() noexcept;

/// Whether the environment asks for leaders that call MPI besides the program's own thread, so that
/// MPI must be initialised with MPI_THREAD_MULTIPLE. False for what cannot be read.
bool leaders_need_threads() noexcept;

/// The variables HYCOLL_* of this process, one a line, sorted, for comparison between processes.
std::string environment_text();

}  // namespace hycoll::preload

#endif  // HYCOLL_PRELOAD_SESSION_SETTINGS_H_
