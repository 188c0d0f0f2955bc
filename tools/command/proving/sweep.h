#ifndef HYCOLL_TOOLS_COMMAND_PROVING_SWEEP_H_
#define HYCOLL_TOOLS_COMMAND_PROVING_SWEEP_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "collectives/algorithms/registry.h"
#include "core/schedule/shape.h"

namespace hycoll::command {

enum class UnequalNodes { include, exclude };

/// The shapes and algorithms that a sweep covers.
struct SweepOptions {
  std::vector<int> node_counts;
  std::vector<int> member_counts;
  std::vector<int> lane_counts;
  std::optional<Collective> collective = {};  ///< All if not given.
  std::string algorithm = "";                 ///< "" for all; of those collectives that have it.
  UnequalNodes unequal_nodes = UnequalNodes::include;
  std::optional<Visibility> visibility = {};  ///< Both if not given, staged with fewer shapes.
};

/// One schedule to prove.
struct SweepCase {
  const Algorithm* algorithm;
  Shape shape;
  int segments;
  int root = 0;

  Schedule generate(NumberRange nodes = kAllNodes) const {
    return algorithm->generate(shape, segments, root, nodes);
  }
};

/// The shapes of a sweep, without repetitions; a pure function. For every node count and lane
/// count:
/// - equal nodes of every member count, each worker a member;
/// - pools: nodes of one member, with further workers up to every member count;
/// - unequal nodes, with M the largest member count: members 1, 2, ..., M, 1, 2, ... where every
///   second node has a worker more and the lanes are dealt to the workers from the last one on;
///   node 0 with M members and the others with one; the last node with one and the others with M.
std::vector<Shape> sweep_shapes(const SweepOptions& options);

/// The shapes of sweep_shapes() with aggregators behind them: with the first of the lane counts
/// once for each of 1, 2 and 3 aggregators, which have one worker and two in turn; with the others
/// one of these counts in turn, and one worker.
std::vector<Shape> aggregation_shapes(const SweepOptions& options);

/// Shapes whose workers are in groups, for the algorithms that follow them; with the first of the
/// lane counts, whatever the member counts. For every node count nodes of one kind each, and if
/// there are several one of each kind in turn, led by others than their first workers. The kinds:
/// equal groups on one level and two, unequal ones on one, two and three, groups of one member, and
/// workers without members.
std::vector<Shape> grouped_shapes(const SweepOptions& options);

/// The algorithms of a sweep. Throws Error (invalid_argument) when there is none.
std::vector<const Algorithm*> sweep_algorithms(const SweepOptions& options);

/// Every algorithm on every shape that it serves, with and without aggregators, and with groups if
/// it follows these, whole and with
/// messages or partitions cut into 3 segments (where an algorithm cuts any at all), with the first,
/// the middle and the last member as root (where there is one). With more lanes than the first of
/// the lane counts, whole partitions are left out, and one of these roots is taken in turn.
///
/// With both visibilities the staged schedules come last: those of all shapes with up to 2 nodes
/// and of every 8th other one, cut where an algorithm cuts, to one root, with processes of 1, 2 and
/// 3 threads in turn. Each is made from a direct one that is proved anyway, by one function for
/// all. Errors: as sweep_algorithms.
std::vector<SweepCase> sweep_cases(const SweepOptions& options);

/// What a sweep proved of one algorithm.
struct SweepCounts {
  std::string collective;
  std::string algorithm;
  std::size_t schedule_count = 0;
  std::size_t step_count = 0;
};

struct SweepResult {
  std::vector<SweepCounts> proved;     ///< By collective and algorithm, in the registry's order.
  std::optional<std::string> failure;  ///< Of the first case that failed, in their order.
};

/// Verifies the cases on all cores, under both aliasings, and that the parts of all nodes make the
/// whole. `on_progress` is called from several
/// threads at once with the number of cases that are done since its last call. After a failure only
/// the cases before it are finished.
SweepResult run_sweep(const std::vector<SweepCase>& cases,
                      const std::function<void(std::size_t)>& on_progress);

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_PROVING_SWEEP_H_
