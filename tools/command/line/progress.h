#ifndef HYCOLL_TOOLS_COMMAND_LINE_PROGRESS_H_
#define HYCOLL_TOOLS_COMMAND_LINE_PROGRESS_H_

#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>

namespace hycoll::command {

/// A progress bar on the standard error while the object lives; nothing when that is no terminal.
/// Its functions may be called concurrently.
class ProgressBar {
 public:
  /// Requires total >= 1.
  explicit ProgressBar(std::size_t total);
  /// Takes the bar away.
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// `count` more of the total are done. Drawn ten times a second at most.
  void advance(std::size_t count);

  /// So many of a total that has become known are done. Requires total >= 1.
  void set(std::size_t done, std::size_t total);

  /// What is being done now, beside the bar. Drawn at once.
  void set_label(const std::string& label);

 private:
  void draw();  // requires the lock

  const bool visible_;
  std::mutex mutex_;
  std::size_t total_;  // guarded by mutex_, as are the following
  std::size_t done_ = 0;
  std::string label_;
  std::chrono::steady_clock::time_point drawn_{};
};

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_LINE_PROGRESS_H_
