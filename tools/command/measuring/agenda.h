#ifndef HYCOLL_TOOLS_COMMAND_MEASURING_AGENDA_H_
#define HYCOLL_TOOLS_COMMAND_MEASURING_AGENDA_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "tools/command/measuring/bench_layouts.h"

namespace hycoll::command {

/// What the processes of a benchmark measure one after another, and who hears of it. One object for
/// each process, whose first thread calls; all processes are told the same tasks.
class Agenda {
 public:
  virtual ~Agenda() = default;

  /// Called before the tasks of another algorithm.
  virtual void begin() {}

  /// The next task; empty when there are no more. The other threads of the process sleep meanwhile.
  virtual std::optional<BenchTask> next() = 0;

  /// What came of the task.
  virtual void measured(const BenchRow& row) = 0;
  virtual void refused(const std::string& reason) = 0;
};

/// The sizes of a benchmark. `on_row` is called on rank 0 as the rows come.
class SizesAgenda final : public Agenda {
 public:
  /// `settings` outlives the agenda.
  SizesAgenda(const BenchSettings& settings, bool speaks,
              std::function<void(const BenchRow&)> on_row);

  void begin() override { position_ = 0; }
  std::optional<BenchTask> next() override;
  void measured(const BenchRow& row) override;
  void refused(const std::string&) override {}

 private:
  const BenchSettings& settings_;
  bool speaks_;
  std::function<void(const BenchRow&)> on_row_;
  std::size_t position_ = 0;
};

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_MEASURING_AGENDA_H_
