#ifndef HYCOLL_CORE_SCHEDULE_PROCESSES_H_
#define HYCOLL_CORE_SCHEDULE_PROCESSES_H_

#include <memory>
#include <span>
#include <vector>

namespace hycoll {

/// Neighbouring processes, numbered in turn, of so many neighbouring workers each.
struct EqualProcesses {
  int first_process = 0;
  int count = 1;
  int thread_count = 1;
};

/// Which process each worker is a thread of. Plain, immutable data, whose size goes with the runs
/// of like processes; copies share it.
class Processes {
 public:
  /// Every worker is a process of its own, and numbered like it.
  Processes() = default;

  /// The processes of worker 0 and those after it. No process goes on from one run to the next.
  explicit Processes(std::span<const EqualProcesses> runs);

  /// `of_worker[w]` is the process of worker w.
  explicit Processes(const std::vector<int>& of_worker);

  int of(int worker) const noexcept;

  /// Whether every worker is a process of its own, and numbered like it.
  bool is_one_each() const noexcept;

  /// The workers of all; 0 if they have not been said.
  int worker_count() const noexcept;

  /// Whether processes have higher numbers than those before them, from 0 on; then the workers of
  /// each are neighbours. In time that goes with the runs.
  bool ascend() const noexcept;

  /// Whether a process begins at each of the workers first, first + step, ..., count of them.
  /// Requires ascend(), and these workers. In time that goes with the runs that they lie in.
  bool begin_at(int first, int step, int count) const noexcept;

  /// Whether every worker has the same process in both, as far as that was said.
  friend bool operator==(const Processes& a, const Processes& b) noexcept;

 private:
  struct Run {
    int first_worker;
    int first_process;
    int thread_count;
    friend bool operator==(const Run&, const Run&) = default;
  };

  const Run& run_of(int worker) const noexcept;

  /// As long as possible each, and behind them where they end; none if nothing was said.
  std::shared_ptr<const std::vector<Run>> runs_;
};

}  // namespace hycoll

#endif  // HYCOLL_CORE_SCHEDULE_PROCESSES_H_
