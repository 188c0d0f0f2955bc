#ifndef HYCOLL_CORE_NETWORK_LINK_LOADS_H_
#define HYCOLL_CORE_NETWORK_LINK_LOADS_H_

#include <span>
#include <vector>

#include "core/network/network_tree.h"

namespace hycoll {

/// How many messages a link carries at once in each direction.
struct LinkLoad {
  int up = 0;    ///< Towards the root.
  int down = 0;  ///< Away from it.

  int most() const noexcept { return up > down ? up : down; }
  friend bool operator==(const LinkLoad&, const LinkLoad&) = default;
};

/// The load of the link above each vertex, by vertex (of the root: none), when every host of a ring
/// sends a message to the next one, and the last one to the first, all at once. `ring`: hosts of
/// the tree, each once; a single one sends nothing. A message takes the only way that there is.
/// Pure. Takes the lengths of all ways.
std::vector<LinkLoad> ring_loads(const NetworkTree& tree, std::span<const int> ring);

/// The link that holds a step of the ring up: the one with most messages for its capacity.
struct BusiestLink {
  int vertex = -1;   ///< Below it; -1: no link carries a message.
  int messages = 0;  ///< In the direction with more of them.
  double share = 0;  ///< Messages by capacity: how many times as long as one message at full rate.
};
BusiestLink busiest_link(const NetworkTree& tree, std::span<const LinkLoad> loads);

/// The most messages that any link carries in one direction.
int most_messages(std::span<const LinkLoad> loads);

}  // namespace hycoll

#endif  // HYCOLL_CORE_NETWORK_LINK_LOADS_H_
