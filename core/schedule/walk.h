#ifndef HYCOLL_CORE_SCHEDULE_WALK_H_
#define HYCOLL_CORE_SCHEDULE_WALK_H_

#include <optional>
#include <string>
#include <vector>

#include "core/schedule/index.h"

namespace hycoll::verifier {

/// What a check found wrong. A strand or step of -1 means that it concerns none in particular.
struct Finding {
  int strand = -1;
  int step = -1;
  std::string what;
};

/// Who exchanges messages with whom.
struct Matches {
  /// By step number: the receive of a send, the send of a receive, the group of a native call, else
  /// -1.
  std::vector<int> partner;
  /// Step numbers of the native calls: those of group g are the node_count entries from
  /// g * node_count on, in the order of the nodes.
  std::vector<int> native_steps;
};

/// Check 2. Fills in the matches.
std::optional<Finding> check_messages(const Index& index, Matches& matches);

/// Check 3: executes the schedule once, each step as soon as it can be issued. Fills in the steps'
/// numbers in the order of their issue, which respects the order of every strand, and puts a wait
/// behind its signal, a reader of lines behind their writer, and a step behind its dependencies and
/// the partners of these.
std::optional<Finding> check_deadlock(const Index& index, const Matches& matches,
                                      std::vector<int>& order);

/// The same of a part, as if every message had its partner at once: an order for what happens on
/// its nodes, whose conflicting steps are ordered by their flags.
std::optional<Finding> order_of_part(const Index& index, std::vector<int>& order);

}  // namespace hycoll::verifier

#endif  // HYCOLL_CORE_SCHEDULE_WALK_H_
