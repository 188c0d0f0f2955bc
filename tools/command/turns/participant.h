#ifndef HYCOLL_TOOLS_COMMAND_TURNS_PARTICIPANT_H_
#define HYCOLL_TOOLS_COMMAND_TURNS_PARTICIPANT_H_

#include <optional>
#include <string>

#include "tools/command/line/output.h"
#include "tools/command/measuring/bench_layouts.h"

namespace hycoll::command {

/// What came of a turn: a record as `hycoll bench --json` writes it, or why there is none.
struct Answer {
  Json record;
  std::string refusal;  ///< "" if there is a record.
};

/// One of those that take turns to measure.
class Participant {
 public:
  virtual ~Participant() = default;

  /// The MPI library and its version, once that is known; "" before.
  virtual std::string mpi() const = 0;

  /// Measures while all others sleep. Throws Error (environment) if the participant fails;
  /// Interrupted.
  virtual Answer measure(const BenchTask& task) = 0;

  /// The share of a core that its processes have used while they slept; empty without any that
  /// sleep.
  virtual std::optional<double> asleep_share() const = 0;
};

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_TURNS_PARTICIPANT_H_
