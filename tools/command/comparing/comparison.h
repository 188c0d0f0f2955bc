#ifndef HYCOLL_TOOLS_COMMAND_COMPARING_COMPARISON_H_
#define HYCOLL_TOOLS_COMMAND_COMPARING_COMPARISON_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tools/command/line/output.h"
#include "tools/measure/machine_state.h"

namespace hycoll::command {

/// One of those that are compared.
struct Contender {
  std::string name;           ///< "MPICH 4.0.2", "threads", "per_node".
  bool is_reference = false;  ///< The MPI library's own, or the user's program.
};

/// What is compared: a row of a table.
struct ComparedTask {
  std::string collective;
  std::string inputs;  ///< "fresh", "reused".
  std::size_t size_bytes = 0;

  bool operator==(const ComparedTask&) const = default;
};

/// What one block says.
struct SizeSample {
  double minimum_us = 0;
  double median_us = 0;
  double p95_us = 0;
  bool verified = false;
  std::optional<double> limit_us =
      {};  ///< Of the plain kernel of the same block, if there was one.
  /// The keys of the record that say what was measured: algorithm, layout, nodes, ...
  Json description;
};

/// Reads a record that `hycoll bench` wrote, or a program that writes the like: only bytes, min_us,
/// median_us, p95_us and verified must be there. Throws Error (environment) if they are not.
SizeSample sample_from(const Json& record);

/// One block of one contender, between two looks at the machine.
struct ComparedBlock {
  std::size_t contender = 0;
  std::size_t task = 0;
  measure::LatencyInterval latency;
  SizeSample sample;
};

/// One contender's figures of one task in one state of the machine.
struct ComparedCell {
  double minimum_us = 0;         ///< The least of all blocks.
  double median_us = 0;          ///< The median of the blocks' medians,
  double lowest_median_us = 0;   ///< the least of them,
  double highest_median_us = 0;  ///< and the greatest.
  double p95_us = 0;             ///< The median of the blocks' 95th percentiles.
  int blocks = 0;
  bool verified = false;  ///< In all blocks.
  /// The median of the blocks' limits, and of their ratios of limit and median; empty without any.
  std::optional<double> limit_us = {};
  std::optional<double> of_limit = {};
  Json description;  ///< Of the first block.
};

/// All contenders in one state of the machine. Cells whose results were wrong enter no ratio.
struct ComparedState {
  measure::NamedState state;
  std::size_t blocks = 0;
  /// cells[contender][task]; empty where the state has no block.
  std::vector<std::vector<std::optional<ComparedCell>>> cells;

  /// The cell, if its results were right.
  const ComparedCell* right(std::size_t contender, std::size_t task) const;

  /// The fastest reference; empty without a right one.
  std::optional<std::size_t> reference(const std::vector<Contender>& contenders,
                                       std::size_t task) const;

  /// The median of the reference divided by that of the contender: above 1 it is faster than every
  /// reference.
  std::optional<double> ratio(const std::vector<Contender>& contenders, std::size_t contender,
                              std::size_t task) const;

  /// Of the ratios of some tasks, over those that have one.
  std::optional<double> mean_ratio(const std::vector<Contender>& contenders, std::size_t contender,
                                   const std::vector<std::size_t>& tasks) const;
};

struct Comparison {
  std::vector<Contender> contenders;
  std::vector<ComparedTask> tasks;
  std::vector<ComparedState> states;  ///< By ascending latency.
  std::size_t state_changes = 0;      ///< How often one look found another state than the last.
  std::size_t blocks_in_between = 0;  ///< Left out: the looks around them do not agree.
  bool verified = true;               ///< Every result of hycoll's, in every block.
};

/// Sorts the blocks by the state of the machine and summarises each state by itself. `latencies_ns`
/// are all looks at the machine in their order; none with a single core. Pure.
Comparison compare_blocks(std::vector<Contender> contenders, std::vector<ComparedTask> tasks,
                          const std::vector<ComparedBlock>& blocks,
                          const std::vector<double>& latencies_ns);

/// The tasks of a table, which has one collective and one use of inputs: in the order in which they
/// first occur.
struct ComparedTable {
  std::string collective;
  std::string inputs;
  std::vector<std::size_t> tasks;
};
std::vector<ComparedTable> tables_of(const Comparison& comparison);

/// Where hycoll is slower than the fastest reference.
struct SlowerCell {
  std::size_t state;
  std::size_t task;
  std::size_t contender;
  std::size_t reference;
  double ratio;
  bool beyond_spread;  ///< Both have several blocks, and even the contender's fastest is slower
                       ///< than the slowest of the reference.
};
std::vector<SlowerCell> slower_cells(const Comparison& comparison);

/// A record for each contender, task and state.
std::vector<Json> records_of(const Comparison& comparison);

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_COMPARING_COMPARISON_H_
