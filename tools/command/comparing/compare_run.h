#ifndef HYCOLL_TOOLS_COMMAND_COMPARING_COMPARE_RUN_H_
#define HYCOLL_TOOLS_COMMAND_COMPARING_COMPARE_RUN_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "numa/topology/topology.h"
#include "tools/command/comparing/comparison.h"
#include "tools/command/line/output.h"
#include "tools/command/measuring/bench_layouts.h"
#include "tools/command/measuring/child.h"
#include "tools/command/turns/participant.h"
#include "tools/command/turns/turns.h"

namespace hycoll::command {

/// What is compared, and how.
struct CompareSettings {
  std::vector<Problem> problems;
  std::vector<std::size_t> sizes_bytes;  ///< Of all but a barrier.
  std::vector<InputUse> inputs;
  Pace pace = Pace::back_to_back;
  int workers = 1;
  std::vector<Layout> layouts;  ///< Of hycoll.
  std::string algorithm = "auto";
  int aggregators = 0;
  bool reproducible = false;
  std::string binding = "none";
  std::vector<std::string> references;  ///< Other hycoll binaries.
  std::vector<std::string> programs;    ///< Of the user's.
  std::string preload;
  int rounds = 3;
  double seconds = 0.03;         ///< Of a block.
  double at_most_seconds = 600;  ///< After which no block begins.
  int timeout_s = 300;
};

/// A whole comparison: participants that are started once and take turns.
class CompareRun {
 public:
  /// Starts the participants. `settings` outlive the run. Throws Error (environment) if one fails;
  /// Interrupted.
  CompareRun(const CompareSettings& settings, const Topology& machine);

  /// Throws Error (environment) if a participant fails; Interrupted.
  void run();

  Comparison comparison() const;

  /// Every block: who, what, and the latency before and after.
  Json blocks_json() const;

  /// The most that a participant has used of a core while it slept.
  double asleep_share() const;

 private:
  /// One of those that take turns, and under which name.
  struct Entry {
    Contender contender;
    std::unique_ptr<Participant> participant;
  };

  void add_job(std::string name, bool is_reference, Layout layout, const std::string& binary,
               const std::string& preload);
  void add(Contender contender, std::unique_ptr<Participant> participant);
  void add_tasks(const Problem& problem);
  std::vector<std::string> command_of(Layout layout, const std::string& binary,
                                      const std::string& preload) const;
  Answer measure(std::size_t participant, std::size_t task);
  std::vector<Contender> contenders() const;
  std::vector<ComparedTask> compared_tasks() const;

  const InterruptGuard guard_;
  const CompareSettings& settings_;
  const Topology& machine_;
  std::vector<Entry> entries_;
  std::vector<BenchTask> tasks_;
  std::vector<std::vector<bool>> verified_;  // by participant and task: whether it has been
  TurnsResult result_;
};

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_COMPARING_COMPARE_RUN_H_
