#ifndef HYCOLL_CORE_NETWORK_RING_ORDER_H_
#define HYCOLL_CORE_NETWORK_RING_ORDER_H_

#include <span>
#include <vector>

#include "core/network/network_tree.h"

namespace hycoll {

/// An order of hosts in which a ring over them is free of contention: when each sends a message to
/// the next one and the last one to the first, all at once, no link carries two messages in the
/// same direction. Rings of allreduce, reduce-scatter and allgather, whose every step is that, then
/// run at the full rate of the links.
///
/// The idea: hosts are taken in depth-first order of the tree. The ring then goes round the tree as
/// a walk along its outline does, which passes each link down once, when it enters what is below,
/// and up once, when it leaves it. The hosts below a link are neighbours in the ring, so one
/// message enters them and one leaves them.
///
/// Source: P. Patarasuk, X. Yuan, "Bandwidth optimal all-reduce algorithms for clusters of
/// workstations", J. Parallel Distrib. Comput. 69 (2009), section 4.1, whose ring is that of A.
/// Faraj, P. Patarasuk, X. Yuan, "Bandwidth efficient all-to-all broadcast on switched clusters",
/// Int. J. Parallel Program. 36 (2008).
///
/// Time and memory go with the tree. Example: below switches a (hosts n1, n3) and b (n2, n4), which
/// a third one joins, the ring n1, n2, n3, n4 sends two messages up and two down at each switch;
/// the ring n1, n3, n2, n4 one.
///
/// `hosts`: numbers of the tree's hosts, in any order, each once; all of them, or those of a job.
/// The ring begins with the first. Pure.
std::vector<int> ring_order(const NetworkTree& tree, std::span<const int> hosts);

}  // namespace hycoll

#endif  // HYCOLL_CORE_NETWORK_RING_ORDER_H_
