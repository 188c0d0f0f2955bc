#include "tools/command/bench_setup.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <iterator>
#include <string_view>

#include "tools/command/costs/setup_cost.h"
#include "tools/command/line/table.h"

namespace hycoll::command {
namespace {

constexpr std::size_t kMapCount = std::size(kProcessMapNames);

struct SetupRow {
  SetupTask task;
  SetupCost cost;

  std::string_view map() const { return kProcessMapNames[static_cast<std::size_t>(task.map)]; }
  std::size_t limit_bytes() const {
    return most_setup_bytes(cost.processes, task.members, cost.nodes);
  }
  /// How many times the limit it is.
  double ratio() const {
    const std::size_t most = std::max(cost.received_bytes, cost.held_bytes + cost.node_bytes);
    return static_cast<double>(most) / static_cast<double>(limit_bytes());
  }
};

void print_setup_header(std::FILE* human) {
  fmt::print(human,
             "{:<10} {:>8} {:>7} {:>9} {:>6} {:>6} {:>10} {:>8} {:>8} {:>8} {:>8} {:>9} {:>8}\n",
             "map", "machines", "members", "processes", "nodes", "runs", "received B", "others B",
             "messages", "held B", "node's B", "time us", "of limit");
}

void print_row(std::FILE* human, const SetupRow& row) {
  const SetupCost& cost = row.cost;
  fmt::print(human,
             "{:<10} {:>8} {:>7} {:>9} {:>6} {:>6} {:>10} {:>8} {:>8} {:>8} {:>8} {:>9} {:>8}\n",
             row.map(), row.task.machines, row.task.members, cost.processes, cost.nodes, cost.runs,
             cost.received_bytes, cost.others_received_bytes, cost.messages, cost.held_bytes,
             cost.node_bytes, time_text(1e6 * cost.seconds), ratio_text(row.ratio()));
}

Json record_of(const SetupRow& row) {
  const SetupCost& cost = row.cost;
  return {{"map", row.map()},
          {"machines", row.task.machines},
          {"members", row.task.members},
          {"processes", cost.processes},
          {"nodes", cost.nodes},
          {"runs", cost.runs},
          {"received_bytes", cost.received_bytes},
          {"others_received_bytes", cost.others_received_bytes},
          {"messages", cost.messages},
          {"held_bytes", cost.held_bytes},
          {"node_bytes", cost.node_bytes},
          {"seconds", cost.seconds},
          {"limit_bytes", row.limit_bytes()},
          {"within_limits", row.ratio() <= 1}};
}

}  // namespace

void bench_setup(const std::vector<int>& machine_counts, const std::vector<int>& member_counts,
                 const OutputOptions& output) {
  std::FILE* const human = output.human();
  Report report{.context = {{"command", "bench plans --setup"}}, .records = {}};
  print_setup_header(human);
  for (std::size_t map = 0; map < kMapCount; ++map) {
    for (const int members : member_counts) {
      for (const int machines : machine_counts) {
        SetupRow row{.task = {.map = static_cast<ProcessMapKind>(map),
                              .machines = machines,
                              .members = members},
                     .cost = {}};
        row.cost = measure_setup(row.task);
        print_row(human, row);
        report.records.push_back(record_of(row));
      }
    }
  }
  output.write(report);
}

}  // namespace hycoll::command
