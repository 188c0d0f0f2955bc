#ifndef HYCOLL_CORE_NETWORK_EDGE_LIST_H_
#define HYCOLL_CORE_NETWORK_EDGE_LIST_H_

#include <string>
#include <string_view>

#include "core/network/network_tree.h"

namespace hycoll {

/// Reads a network from a list of links, one a line: two names, and how many messages the link
/// carries at full rate in each direction (a number above 0, such as 4 for a trunk of four cables;
/// 1 if it is left out). A name with one link is a host, a name with several is a switch; a line
/// with a single name is a host without links. What follows a '#' is a comment. The root is the
/// first switch.
///
///     core leaf1 2   # two cables
///     core leaf2 2
///     leaf1 n1
///     leaf1 n2
///     leaf2 n3
///
/// Pure. `file` is what messages call the text. Errors: as NetworkDescription's, and for lines that
/// are none of these.
NetworkTree read_edge_list(std::string_view text, const std::string& file);

}  // namespace hycoll

#endif  // HYCOLL_CORE_NETWORK_EDGE_LIST_H_
