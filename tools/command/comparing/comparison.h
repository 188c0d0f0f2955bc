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
  bool is_reference = false;  ///< The MPI library's own.
};

/// What one run says of one size.
struct SizeSample {
  std::size_t size_bytes = 0;
  double minimum_us = 0;
  double median_us = 0;
  double p95_us = 0;
  bool verified = false;
  std::optional<double> limit_us = {};  ///< Of the plain kernel of the same run, if there was one.
  /// The keys of the run's record that say what was run: algorithm, layout, nodes, ...
  Json description;
};

/// One run of one contender.
struct ComparedRun {
  std::size_t contender = 0;
  int round = 0;
  std::string mpi;  ///< The MPI library and its version.
  measure::StateInterval state;
  std::vector<SizeSample> samples;
};

/// Reads what `hycoll bench --json` wrote. Throws Error (environment) if the text is none of that.
ComparedRun parse_run(const std::string& bench_json, std::size_t contender, int round);

/// One contender at one size in one state of the machine, over its runs.
struct ComparedCell {
  double minimum_us = 0;         ///< The least of all runs.
  double median_us = 0;          ///< The median of the runs' medians,
  double lowest_median_us = 0;   ///< the least of them,
  double highest_median_us = 0;  ///< and the greatest.
  double p95_us = 0;             ///< The median of the runs' 95th percentiles.
  int runs = 0;
  bool verified = false;  ///< In all runs.
  /// The median of the runs' limits, and of their ratios of limit and median; empty without any.
  std::optional<double> limit_us = {};
  std::optional<double> of_limit = {};
  Json description;  ///< Of the first run.
};

/// All contenders in one state of the machine.
struct ComparedState {
  measure::StateGroup group;
  /// cells[contender][size]; empty where no run of that contender and state has the size.
  std::vector<std::vector<std::optional<ComparedCell>>> cells;

  /// The median of the fastest reference; empty without one.
  std::optional<double> reference_us(const std::vector<Contender>& contenders,
                                     std::size_t size) const;

  /// reference_us / median_us: above 1 the contender is faster than every reference.
  std::optional<double> ratio(const std::vector<Contender>& contenders, std::size_t contender,
                              std::size_t size) const;

  /// Over all sizes that have one.
  std::optional<double> mean_ratio(const std::vector<Contender>& contenders,
                                   std::size_t contender) const;
};

struct Comparison {
  std::vector<Contender> contenders;
  std::vector<std::size_t> sizes_bytes;  ///< Ascending.
  std::vector<ComparedState> states;     ///< As measure::group_by_state orders them.
  std::size_t changing_runs = 0;         ///< Left out, as the machine changed its state in them.
  bool verified = true;                  ///< Every result of hycoll's, in every run.
};

/// Sorts the runs by the state of the machine and summarises each state by itself. Pure.
Comparison compare_runs(std::vector<Contender> contenders, const std::vector<ComparedRun>& runs);

/// A record for each contender, size and state.
std::vector<Json> records_of(const Comparison& comparison);

/// Tables for the terminal, one for each state.
std::string to_text(const Comparison& comparison);

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_COMPARING_COMPARISON_H_
