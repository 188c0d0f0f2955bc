#ifndef HYCOLL_TOOLS_COMMAND_COSTS_SETUP_COST_H_
#define HYCOLL_TOOLS_COMMAND_COSTS_SETUP_COST_H_

#include <cstddef>
#include <span>
#include <string_view>

namespace hycoll::command {

/// How the processes of a made-up job are dealt to its machines.
enum class ProcessMapKind {
  blocked,    ///< Machine by machine.
  cyclic,     ///< To the machines in turn.
  unequal,    ///< Machine by machine, and each fourth one has a process less than the others.
  numa,       ///< Machine by machine, there to four NUMA domains in turn, which are nodes.
  irregular,  ///< At random.
};
inline constexpr std::string_view kProcessMapNames[] = {"blocked", "cyclic", "unequal", "numa",
                                                        "irregular"};

struct SetupTask {
  ProcessMapKind map = ProcessMapKind::blocked;
  int machines = 1;
  int members = 1;  ///< Processes of the largest machine.
};

/// What one process takes to be set up for a communicator of all processes, in the layout
/// `processes`, the process map included: the first one of a machine, which has the most to do.
struct SetupCost {
  int processes = 0;
  int nodes = 0;                          ///< Of calls that depend on no order.
  std::size_t runs = 0;                   ///< Of the process map.
  std::size_t received_bytes = 0;         ///< By messages,
  std::size_t others_received_bytes = 0;  ///< and by a process that is not its machine's first.
  int messages = 0;                       ///< One after the other, at most.
  std::size_t held_bytes = 0;             ///< What hycoll knows of all processes,
  std::size_t node_bytes = 0;             ///< and of those of the own machine besides.
  double seconds = 0;                     ///< Without messages.
};

/// By the functions that set processes up. Requires a process with one thread.
SetupCost measure_setup(const SetupTask& task);

/// What a process of a machine with `members` processes may receive, and hold, in a job of so many
/// processes and nodes: 160 bytes for each process of the machine and each node, and 2 KiB for each
/// round of a collective among all, for they meet some forty times.
std::size_t most_setup_bytes(int processes, int members, int nodes) noexcept;

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_COSTS_SETUP_COST_H_
