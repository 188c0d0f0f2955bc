#ifndef HYCOLL_NUMA_PLACEMENT_PLACEMENT_H_
#define HYCOLL_NUMA_PLACEMENT_PLACEMENT_H_

#include <span>
#include <string_view>
#include <vector>

#include "numa/topology/topology.h"

namespace hycoll {

/// Where workers and leaders go. All functions here are pure.
enum class Placement {
  compact,          ///< Fill a NUMA domain before the next one is begun.
  spread,           ///< Deal over the NUMA domains in turn.
  one_per_package,  ///< The first core of each package, and no more.
};

/// "compact", "spread", "one_per_package".
std::string_view placement_name(Placement placement);

/// The inverse. Errors: invalid_argument, which lists the names.
Placement parse_placement(std::string_view name);

/// The cores on which `worker_count` workers run, in order of the cores, so that workers with
/// neighbouring numbers are neighbours on the machine. A worker's Core::os_index is the processing
/// unit to bind it to.
///
/// Every core gets a worker before any gets a second one, which then goes to the core's next
/// processing unit; with more workers than processing units they start again at the first. Within
/// those passes:
/// - compact: cores in their order.
/// - spread: one core of each domain in turn, domains of different packages alternating, and within
/// a domain
///   one core of each last-level cache in turn. While both have free cores, two domains differ by
///   at most one worker.
/// - one_per_package: the first core of each package, packages in their order.
///
/// Source: spread is the rule of ONMPML, "GLEX-Alltoall: Overlapped Numa-aware Multi-leader
/// Multi-port alltoall algorithm", section 5.3 and figure 6: spread uniformly, so that every
/// domain's memory channels work. Its algorithm 4 takes every floor(processes / leaders)-th
/// process; dealing by domain gives the same domains where that divides evenly, and stays balanced
/// where it does not (7 processes and 4 leaders: the stride is 1, and the leaders are processes 0
/// to 3).
///
/// Errors: invalid_argument, if worker_count < 1; unsupported, if one_per_package is asked for more
/// workers than packages.
std::vector<Core> place_workers(const Topology& topology, int worker_count, Placement placement);

/// The leaders: for each of `lane_count` lanes the index of the worker that drives it. workers[i]
/// is where worker i runs, as from place_workers or as gathered from the processes of a node; their
/// order is free.
///
/// With lanes <= workers all leaders are distinct, and as many as possible are on cores of their
/// own. With more lanes than workers the lanes are dealt to all workers in turn, in the same order.
/// - compact: workers of one domain before those of the next (algorithm 2 of the paper where the
/// workers
///   are in order of their cores).
/// - spread: lane l is in the l-th domain, counted round and round, as in place_workers.
/// - one_per_package: the first worker of each package; lane l is in the l-th package that has
/// workers.
///
/// Errors: invalid_argument, if lane_count < 1 or if there are no workers; unsupported, if
/// one_per_package is asked for more lanes than the workers have packages.
std::vector<int> lane_workers(std::span<const Core> workers, int lane_count, Placement placement);

/// All workers, in the order in which lanes get them: lane l of lane_workers() is driven by element
/// l, whatever the number of lanes. With one_per_package those that drive none come last.
///
/// Errors: invalid_argument, if there are no workers.
std::vector<int> leading_order(std::span<const Core> workers, Placement placement);

}  // namespace hycoll

#endif  // HYCOLL_NUMA_PLACEMENT_PLACEMENT_H_
