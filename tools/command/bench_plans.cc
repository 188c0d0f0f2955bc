// hycoll bench plans: what it takes a process to make the plan of its own node.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "collectives/algorithms/registry.h"
#include "core/base/errors.h"
#include "tools/command/bench_setup.h"
#include "tools/command/costs/plan_cost.h"
#include "tools/command/line/arguments.h"
#include "tools/command/line/collective_option.h"
#include "tools/command/line/command_line.h"
#include "tools/command/line/commands.h"
#include "tools/command/line/output.h"
#include "tools/command/line/sizes.h"
#include "tools/command/line/table.h"

namespace hycoll::command {
namespace {

constexpr const char* kBenchPlansSummary =
    "Measure what a process takes to make the plan of its own node";
constexpr const char* kBenchPlansExplanation =
    "Measures what a process takes to make its plan of a collective on a large job: selection, the "
    "schedule of its own node, and the program of its workers (with --visibility staged, of the "
    "node's first worker only, which is a process then). Nothing is run: no machine of that shape "
    "is needed, no mpiexec and no MPI.\n"
    "  hycoll bench plans allreduce --lanes 1,16\n"
    "  hycoll bench plans reduce --nodes 1024 --algorithm all --json -\n"
    "own steps: of the node's schedule, in which a copy that collects from several buffers counts "
    "once for each. Time: the least of up to 20 repetitions. Memory: the most "
    "that operator new has allocated meanwhile; kept: of that what stays, the program. Beside them "
    "how many times the limit they are, which is 1 ms + 0.2 us per own step, and 64 KiB + 200 "
    "bytes per own step. Elements have 4 bytes, and equal blocks of them whole "
    "elements; what has a root has the root 0.\n"
    "A plan that takes more than --seconds or --memory is stopped; with a named algorithm the same "
    "on more nodes is not tried then.\n"
    "--setup makes no plans, but sets one process up for a communicator of made-up processes, "
    "--members on each of --nodes machines (what else is asked for counts for nothing):\n"
    "  hycoll bench plans --setup --nodes 80 --members 128\n"
    "received: by messages, by the first process of a machine and by another one, if the MPI "
    "library does what textbooks say, and but for its own communicators; of limit: 160 bytes for "
    "each process of the machine and each node, and 2 KiB for each round of a collective among "
    "all. held: of all processes and, besides, "
    "of those of the machine. Process maps: machine by machine (blocked), dealt in turn (cyclic), "
    "each fourth machine smaller (unequal), in turn to NUMA domains that are nodes (numa), at "
    "random (irregular), which is not within the limit, for runs of ranks are what is told.\n"
    "Exit status: 0, whatever was found; 2 for bad arguments.";

constexpr int kMostNodes = 65'536;

struct PlansOptions {
  CollectiveOption collective;
  std::string nodes = "64,256,1024,4096,16384";
  std::string members = "1,16,128";
  std::string lanes;  // "": chosen
  std::string bytes = "8,4Ki,256Ki,16Mi";
  std::string algorithm = "auto";
  std::string visibility = "direct";
  int of_node = -1;  // -1: the middle one
  double seconds = 2;
  std::string memory = "1Gi";
  bool is_setup = false;
  OutputOptions output;
};

/// What is measured, with the bounds of each plan.
struct Sweep {
  Routine routine;
  std::vector<std::string> algorithms;
  std::vector<int> node_counts;  ///< Ascending.
  std::vector<int> member_counts;
  std::vector<int> lane_counts;  ///< 0: as selection decides.
  std::vector<std::size_t> sizes_bytes;
  Visibility visibility;
  int of_node;  ///< -1: the middle one.
  PlanBounds bounds;
};

std::vector<std::string> algorithm_names(Collective collective, const std::string& requested) {
  if (requested != "all") {
    if (requested != "auto") find_algorithm(collective, requested);
    return {requested};
  }
  std::vector<std::string> names;
  for (const Algorithm& algorithm : algorithms_of(collective)) names.emplace_back(algorithm.name);
  return names;
}

Sweep sweep_of(const PlansOptions& options) {
  const Routine routine = options.collective.routine();
  Sweep sweep{
      .routine = routine,
      .algorithms = algorithm_names(collective_of(routine), options.algorithm),
      .node_counts = parse_numbers("--nodes", options.nodes, 1, kMostNodes),
      .member_counts = parse_numbers("--members", options.members, 1, kMaximumMembers),
      .lane_counts = options.lanes.empty()
                         ? std::vector<int>{0}
                         : parse_numbers("--lanes", options.lanes, 1, kMaximumLanes),
      .sizes_bytes = routine == Routine::barrier ? std::vector<std::size_t>{1}
                                                 : parse_sizes("--bytes", options.bytes),
      .visibility = visibility_argument("--visibility", options.visibility),
      .of_node = options.of_node,
      .bounds = {.patience = std::chrono::milliseconds(static_cast<int>(1e3 * options.seconds)),
                 .memory_bytes = parse_size("--memory", options.memory)}};
  if (sweep.of_node >= sweep.node_counts.front()) {
    throw Error(
        ErrorKind::invalid_argument,
        fmt::format("--of-node {}: with --nodes '{}' there are nodes 0 to {} only. Give one "
                    "of these, or more nodes",
                    sweep.of_node, options.nodes, sweep.node_counts.front() - 1));
  }
  return sweep;
}

/// A plan of the sweep, and what was found.
struct PlanRow {
  PlanTask task;
  SelectedPlan selected;
  PlanMeasurement found;
};

/// Beyond the rows.
struct PlansResult {
  std::vector<PlanRow> rows;
  std::vector<std::string> left_out;  ///< Each with its reason.
};

std::string text_of(const PlanTask& task) {
  return fmt::format("{}, {} nodes x {} members{}, {} bytes", task.algorithm, task.nodes,
                     task.members, task.lanes > 0 ? fmt::format(", {} lanes", task.lanes) : "",
                     task.size_bytes);
}

class SweepRun {
 public:
  SweepRun(const Sweep& sweep, std::function<void(const PlanRow&)> found)
      : sweep_(sweep), found_(std::move(found)) {}

  PlansResult run() {
    for (const std::string& algorithm : sweep_.algorithms) {
      for (const std::size_t size_bytes : sweep_.sizes_bytes) {
        for (const int lanes : sweep_.lane_counts) {
          for (const int members : sweep_.member_counts) {
            grow({.routine = sweep_.routine,
                  .algorithm = algorithm,
                  .members = members,
                  .lanes = lanes,
                  .size_bytes = size_bytes,
                  .visibility = sweep_.visibility});
          }
        }
      }
    }
    return std::move(result_);
  }

 private:
  /// The same on ever more nodes.
  void grow(PlanTask task) {
    bool is_hopeless = false;
    for (const int nodes : sweep_.node_counts) {
      task.nodes = nodes;
      task.node = sweep_.of_node >= 0 ? sweep_.of_node : nodes / 2;
      PlanRow row{.task = task, .selected = {}, .found = {}};
      try {
        row.selected = selected_for(task);
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::unsupported) throw;
        result_.left_out.push_back(fmt::format("{}: {}", text_of(task), error.what()));
        continue;
      }
      if (is_hopeless) {
        row.found.stopped = "as on fewer nodes";
      } else {
        row.found = measure_plan(task, sweep_.bounds);
      }
      // What is selected may change with the nodes.
      is_hopeless = task.algorithm != "auto" && !row.found.stopped.empty();
      found_(row);
      result_.rows.push_back(std::move(row));
    }
  }

  const Sweep& sweep_;
  std::function<void(const PlanRow&)> found_;
  PlansResult result_;
};

/// What would not have ended is not within the limits; of what is refused there is nothing to say.
bool is_within_limits(const PlanRow& row) {
  return row.found.cost && command::is_within_limits(*row.found.cost);
}

bool is_refused(const PlanRow& row) { return !row.found.refused.empty(); }

std::string kib_text(std::size_t size_bytes) {
  return fmt::format("{:.0f}", static_cast<double>(size_bytes) / 1024);
}

void print_plans_header(std::FILE* human) {
  fmt::print(human, "{:<33} {:>6} {:>7} {:>5} {:>6} {:>9} {:>10} {:>8} {:>10} {:>8} {:>9}\n",
             "algorithm", "nodes", "members", "lanes", "bytes", "own steps", "time us", "of limit",
             "memory KiB", "of limit", "kept KiB");
}

void print_row(std::FILE* human, const PlanRow& row) {
  fmt::print(human, "{:<33} {:>6} {:>7} {:>5} {:>6} ", row.selected.algorithm, row.task.nodes,
             row.task.members, row.selected.lanes, short_size(row.task.size_bytes));
  if (row.found.cost) {
    const PlanCost& cost = *row.found.cost;
    fmt::print(human, "{:>9} {:>10} {:>8} {:>10} {:>8} {:>9}{}\n", cost.own_steps,
               time_text(1e6 * cost.seconds),
               ratio_text(cost.seconds / most_seconds(cost.own_steps)), kib_text(cost.memory_bytes),
               ratio_text(static_cast<double>(cost.memory_bytes) /
                          static_cast<double>(most_memory_bytes(cost.own_steps))),
               kib_text(cost.kept_bytes), is_within_limits(row) ? "" : "  NOT WITHIN");
  } else if (!row.found.stopped.empty()) {
    fmt::print(human, "STOPPED {}\n", row.found.stopped);
  } else {
    fmt::print(human, "refused: {}\n", row.found.refused);
  }
  std::fflush(human);
}

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json record_of(const PlanRow& row) {
  const PlanTask& task = row.task;
  const auto of_cost = [&](auto value) -> Json {
    return row.found.cost ? Json(value(*row.found.cost)) : Json();
  };
  return {
      {"collective", name_of(task.routine)},
      {"algorithm", row.selected.algorithm},
      {"nodes", task.nodes},
      {"members", task.members},
      {"lanes", row.selected.lanes},
      {"bytes", task.size_bytes},
      {"own_steps", of_cost([](const PlanCost& cost) { return cost.own_steps; })},
      {"seconds", of_cost([](const PlanCost& cost) { return cost.seconds; })},
      {"memory_bytes", of_cost([](const PlanCost& cost) { return cost.memory_bytes; })},
      {"within_limits", is_refused(row) ? Json() : Json(is_within_limits(row))},
      {"seconds_limit", of_cost([](const PlanCost& cost) { return most_seconds(cost.own_steps); })},
      {"memory_limit_bytes",
       of_cost([](const PlanCost& cost) { return most_memory_bytes(cost.own_steps); })},
      {"selection_seconds", of_cost([](const PlanCost& cost) { return cost.selection_seconds; })},
      {"schedule_seconds", of_cost([](const PlanCost& cost) { return cost.schedule_seconds; })},
      {"schedule_memory_bytes",
       of_cost([](const PlanCost& cost) { return cost.schedule_memory_bytes; })},
      {"kept_bytes", of_cost([](const PlanCost& cost) { return cost.kept_bytes; })},
      {"repetitions", of_cost([](const PlanCost& cost) { return cost.repetitions; })},
      {"stopped", text_or_null(row.found.stopped)},
      {"refused", text_or_null(row.found.refused)},
      {"requested", task.algorithm},
      {"segments", row.selected.segments},
      {"of_node", task.node}};
}

std::string summary_of(const PlansResult& result) {
  const auto count = [&](auto is_counted) {
    return std::count_if(result.rows.begin(), result.rows.end(), is_counted);
  };
  const auto refused = count(is_refused);
  return fmt::format(
      "{} of {} plans are not within 1 ms + 0.2 us and 64 KiB + 200 bytes per own step, {} of them "
      "stopped; {} more are refused for this size, {} are not served\n",
      count([](const PlanRow& row) { return !is_refused(row) && !is_within_limits(row); }),
      static_cast<std::ptrdiff_t>(result.rows.size()) - refused,
      count([](const PlanRow& row) { return !row.found.stopped.empty(); }), refused,
      result.left_out.size());
}

class BenchPlans final : public Subcommand {
 public:
  explicit BenchPlans(CommandLine& bench)
      : Subcommand(bench.add_subcommand("plans", kBenchPlansSummary)) {
    line_.add_explanation(kBenchPlansExplanation);
    options_.collective.add_to(line_);
    add_list("--nodes", options_.nodes, "Node counts").show_default();
    add_list("--members", options_.members, "Members per node").show_default();
    add_list("--lanes", options_.lanes, "Lanes per node (default: as hycoll chooses)");
    add_list("--bytes", options_.bytes, "Sizes of each member's input: 8,4Ki or 8:16Mi")
        .show_default();
    line_
        .add_option("--algorithm", options_.algorithm,
                    "A name that hycoll algorithms lists; all of them; or auto, as "
                    "hycoll chooses")
        .type_name("NAME")
        .show_default();
    line_
        .add_option("--visibility", options_.visibility,
                    "direct: the workers of a node are threads; staged: processes")
        .type_name("NAME")
        .show_default();
    line_.add_option("--of-node", options_.of_node, "Whose plan it is (default: the middle one's)")
        .type_name("NODE")
        .check(between(0, kMostNodes - 1));
    line_.add_option("--seconds", options_.seconds, "Stops a plan after that")
        .check_range(0.001, 3600.0)
        .show_default();
    line_.add_option("--memory", options_.memory, "Stops a plan that allocates more")
        .type_name("SIZE")
        .show_default();
    line_.add_flag("--setup", options_.is_setup,
                   "What being set up takes a process, instead of plans");
    options_.output.add_to(line_);
  }

  ExitStatus run() override {
    options_.output.check();
    if (options_.is_setup) {
      bench_setup(parse_numbers("--nodes", options_.nodes, 1, kMostNodes),
                  parse_numbers("--members", options_.members, 1, kMaximumMembers),
                  options_.output);
      return kSuccess;
    }
    const Sweep sweep = sweep_of(options_);
    std::FILE* const human = options_.output.human();
    bool is_first = true;
    SweepRun run(sweep, [&](const PlanRow& row) {
      if (is_first) print_plans_header(human);
      is_first = false;
      print_row(human, row);
    });
    const PlansResult result = run.run();
    if (result.rows.empty()) throw Error(ErrorKind::unsupported, result.left_out.front());
    fmt::print(human, "{}", summary_of(result));
    write(result);
    return kSuccess;
  }

 private:
  Option add_list(const char* name, std::string& list, const char* help) {
    return line_.add_option(name, list, help).type_name("LIST");
  }

  void write(const PlansResult& result) const {
    Report report{.context = {{"command", "bench plans"},
                              {"visibility", options_.visibility},
                              {"stopped_after_seconds", options_.seconds},
                              {"stopped_at_bytes", parse_size("--memory", options_.memory)},
                              {"left_out", result.left_out}},
                  .records = {}};
    for (const PlanRow& row : result.rows) report.records.push_back(record_of(row));
    options_.output.write(report);
  }

  PlansOptions options_;
};

}  // namespace

std::unique_ptr<Subcommand> add_bench_plans(CommandLine& bench) {
  return std::make_unique<BenchPlans>(bench);
}

}  // namespace hycoll::command
