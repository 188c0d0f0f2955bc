#include "tools/command/comparing/comparison_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "tools/command/line/sizes.h"
#include "tools/command/line/table.h"

namespace hycoll::command {
namespace {

/// One block has no spread.
std::string spread_text(const ComparedCell& cell) {
  if (cell.blocks == 1) return "1 block";
  return fmt::format("{}..{}", time_text(cell.lowest_median_us), time_text(cell.highest_median_us));
}

/// "allreduce, fresh inputs, near (31 ns)".
std::string place_text(const ComparedTable& table, const ComparedState& state) {
  const std::string where =
      state.state.latency_ns > 0
          ? fmt::format("{} ({:.0f} ns)", state.state.name, state.state.latency_ns)
          : state.state.name;
  return fmt::format("{}, {} inputs, {}", table.collective, table.inputs, where);
}

/// The table of one collective, use of inputs and state.
class StateTable {
 public:
  StateTable(const Comparison& comparison, const ComparedState& state, const ComparedTable& table)
      : contenders_(comparison.contenders),
        tasks_(comparison.tasks),
        state_(state),
        table_(table) {}

  bool is_empty() const {
    return std::none_of(state_.cells.begin(), state_.cells.end(), [this](const auto& cells) {
      return std::any_of(table_.tasks.begin(), table_.tasks.end(),
                         [&](std::size_t task) { return cells[task].has_value(); });
    });
  }

  std::string to_text() const {
    TextTable table(header());
    for (const std::size_t task : table_.tasks) table.add_row(row(task));
    table.add_row(means());
    return fmt::format("{}\n{}\n", place_text(table_, state_), table.to_text());
  }

 private:
  /// Whether any size of that contender was measured beside the limit.
  bool has_limit(std::size_t contender) const {
    return std::any_of(table_.tasks.begin(), table_.tasks.end(), [&](std::size_t task) {
      const auto& cell = state_.cells[contender][task];
      return cell && cell->of_limit;
    });
  }

  std::vector<std::string> header() const {
    std::vector<std::string> header = {"bytes"};
    for (std::size_t i = 0; i < contenders_.size(); ++i) {
      header.insert(header.end(), {contenders_[i].name + " us", "spread"});
      if (!contenders_[i].is_reference) header.emplace_back("ratio");
      if (has_limit(i)) header.emplace_back("of limit");
    }
    return header;
  }

  std::vector<std::string> row(std::size_t task) const {
    std::vector<std::string> cells = {short_size(tasks_[task].size_bytes)};
    for (std::size_t contender = 0; contender < contenders_.size(); ++contender) {
      const std::optional<ComparedCell>& cell = state_.cells[contender][task];
      cells.push_back(!cell ? "-" : cell->verified ? time_text(cell->median_us) : "WRONG RESULT");
      cells.push_back(cell ? spread_text(*cell) : "-");
      if (!contenders_[contender].is_reference) {
        cells.push_back(ratio_text(state_.ratio(contenders_, contender, task).value_or(0)));
      }
      if (!has_limit(contender)) continue;
      cells.push_back(cell && cell->of_limit ? fmt::format("{:.2f}", *cell->of_limit) : "-");
    }
    return cells;
  }

  std::vector<std::string> means() const {
    std::vector<std::string> cells = {"mean"};
    for (std::size_t i = 0; i < contenders_.size(); ++i) {
      cells.insert(cells.end(), {"", ""});
      if (!contenders_[i].is_reference) {
        cells.push_back(ratio_text(state_.mean_ratio(contenders_, i, table_.tasks).value_or(0)));
      }
      if (has_limit(i)) cells.emplace_back();
    }
    return cells;
  }

  const std::vector<Contender>& contenders_;
  const std::vector<ComparedTask>& tasks_;
  const ComparedState& state_;
  const ComparedTable& table_;
};

std::string plural(std::size_t count, const std::string& word) {
  return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
}

bool has_several_references(const Comparison& comparison) {
  return std::count_if(comparison.contenders.begin(), comparison.contenders.end(),
                       [](const Contender& c) { return c.is_reference; }) > 1;
}

}  // namespace

std::string changes_text(const Comparison& comparison) {
  return fmt::format(
      "{} of the machine's state; {} left out, around which the looks at it do not agree\n",
      plural(comparison.state_changes, "change"), plural(comparison.blocks_in_between, "block"));
}

std::string missing_text(const Comparison& comparison) {
  std::string text;
  for (const ComparedState& state : comparison.states) {
    for (const ComparedTable& table : tables_of(comparison)) {
      for (std::size_t i = 0; i < comparison.contenders.size(); ++i) {
        std::vector<std::string> sizes;
        for (const std::size_t task : table.tasks) {
          if (!state.cells[i][task]) sizes.push_back(short_size(comparison.tasks[task].size_bytes));
        }
        if (sizes.empty()) continue;
        text += fmt::format(
            "missing: {}, {}: {}\n", place_text(table, state), comparison.contenders[i].name,
            sizes.size() == table.tasks.size() ? "all sizes"
                                               : fmt::format("{}", fmt::join(sizes, " ")));
      }
    }
  }
  return text;
}

std::string slower_text(const Comparison& comparison) {
  const std::vector<SlowerCell> slower = slower_cells(comparison);
  if (slower.empty()) return "hycoll is nowhere slower than the fastest MPI library\n";
  TextTable table({"slower", "inputs", "state", "bytes", "contender", "us", "fastest library", "us",
                   "ratio", "beyond the spread"});
  for (const SlowerCell& cell : slower) {
    const ComparedTask& task = comparison.tasks[cell.task];
    const ComparedState& state = comparison.states[cell.state];
    table.add_row({task.collective, task.inputs, state.state.name, short_size(task.size_bytes),
                   comparison.contenders[cell.contender].name,
                   time_text(state.right(cell.contender, cell.task)->median_us),
                   comparison.contenders[cell.reference].name,
                   time_text(state.right(cell.reference, cell.task)->median_us),
                   fmt::format("{:.2f}", cell.ratio), cell.beyond_spread ? "yes" : "no"});
  }
  return table.to_text();
}

std::string to_text(const Comparison& comparison) {
  std::string text;
  for (const ComparedTable& table : tables_of(comparison)) {
    for (const ComparedState& state : comparison.states) {
      const StateTable of_state(comparison, state, table);
      if (!of_state.is_empty()) text += of_state.to_text() + "\n";
    }
  }
  text += fmt::format(
      "Medians of the blocks' medians and their spread; 1 block has none. ratio: time of the {} "
      "divided by the time; "
      "above 1 hycoll is faster. of limit: time of a plain kernel with the same reads and writes "
      "(hycoll bench limit; no bound) in the same block, divided by the time. A block belongs to "
      "the "
      "state on which the looks at the machine before and after it agree: where one latency is "
      "more "
      "than {}x the next lower one, another state begins; below {:.0f} ns it is called near. The "
      "thresholds of hycoll's algorithms were chosen on machines like these, those of the MPI "
      "libraries were not.\n",
      has_several_references(comparison) ? "fastest MPI library" : "MPI library",
      measure::kStateChangeFactor, measure::kNearLatencyNs);
  return text + missing_text(comparison) + changes_text(comparison);
}

}  // namespace hycoll::command
