#ifndef HYCOLL_TOOLS_COMMAND_TURNS_TURNS_H_
#define HYCOLL_TOOLS_COMMAND_TURNS_TURNS_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tools/command/turns/participant.h"
#include "tools/measure/machine_state.h"

namespace hycoll::command {

/// What one participant said of one task, between two looks at the machine.
struct Block {
  std::size_t participant = 0;
  std::size_t task = 0;
  measure::LatencyInterval latency;
  Answer answer;
};

struct TurnsOptions {
  std::size_t participants = 0;
  std::size_t tasks = 0;
  int rounds = 3;        ///< Blocks of every participant and task in every state of the machine.
  int repeats = 3;       ///< Of a block during which the state changed, at once.
  double seconds = 600;  ///< No block begins later.
  double patience_seconds = 5;  ///< In all, for states to come back that lack blocks.
};

/// What turns need of the world.
struct TurnsWorld {
  /// The latency between the cores, while all participants sleep; empty with a single core.
  std::function<std::optional<double>()> probe;
  /// A block of a participant, while all others sleep.
  std::function<Answer(std::size_t participant, std::size_t task)> measure;
  /// Seconds since some time.
  std::function<double()> now;
  std::function<void(double seconds)> sleep;
  /// How many of so many blocks there are, of a number that grows with the states that are found.
  std::function<void(std::size_t done, std::size_t wanted)> on_progress;
};

struct TurnsResult {
  std::vector<Block> blocks;  ///< In the order in which they were measured.
  /// All looks at the machine in their order; none with a single core.
  std::vector<double> latencies_ns;
};

/// Lets the participants take turns: a look at the machine, a block of one of them, a look, a block
/// of the next, and so on; all of them measure one task before the next one comes, and another one
/// begins each time. A block belongs to the state on which the looks before and after it agree
/// (measure::MachineStates); one during which the state changed is repeated. What is measured next
/// is what the machine's present state lacks most, until every state that has occurred has all its
/// blocks, or does not come back in time. A task that a participant refuses is not asked of it
/// again. Errors: those of the world's functions.
TurnsResult take_turns(const TurnsOptions& options, const TurnsWorld& world);

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_TURNS_TURNS_H_
