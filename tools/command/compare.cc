// hycoll compare: hycoll's layouts beside the MPI library, in turns.

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "collectives/algorithms/registry.h"
#include "core/base/collective_traits.h"
#include "core/base/errors.h"
#include "numa/topology/topology.h"
#include "tools/command/comparing/compare_run.h"
#include "tools/command/comparing/comparison.h"
#include "tools/command/comparing/comparison_text.h"
#include "tools/command/comparing/html_report.h"
#include "tools/command/line/arguments.h"
#include "tools/command/line/collective_option.h"
#include "tools/command/line/command_line.h"
#include "tools/command/line/commands.h"
#include "tools/command/line/output.h"
#include "tools/command/line/sizes.h"
#include "tools/command/measuring/launch.h"
#include "tools/command/measuring/machine_context.h"
#include "tools/command/measuring/mpi_session.h"
#include "tools/measure/machine_state.h"

namespace hycoll::command {
namespace {

constexpr const char* kCompareSummary =
    "Compare hycoll with the MPI library, in jobs that it starts itself";
constexpr const char* kCompareExplanation =
    "Compares hycoll with the MPI library on this machine. Starts one job of each: the MPI library "
    "with one rank per worker at MPI_THREAD_SINGLE, hycoll with one process of that many threads "
    "(threads), hycoll with that many processes that are the workers of one node (processes; "
    "processes_heap with buffers in the shared heap), and hycoll with that many processes, each an "
    "emulated node (per_node). They take turns, and sleep while others measure: a look at the "
    "latency between the cores, a block of one of them, a look, a block of the next. A block "
    "belongs "
    "to the state of the machine on which the looks before and after it agree, and is repeated "
    "where "
    "they do not, up to 3 times. Every state that occurs gets --rounds blocks of everything; what "
    "it "
    "lacks, because it did not come back in time, is said.\n"
    "  hycoll compare allreduce,bcast,reduce --inputs fresh --sizes 8,32,128,512,2Ki\n"
    "A --reference-program prints the JSON of hycoll bench: a context with \"mpi\", and a record "
    "with bytes, min_us, median_us, p95_us and verified. It is started for every turn; in its "
    "command {collective}, {bytes}, {type}, {op}, {root}, {inputs}, {pace}, {seconds} and "
    "{workers} "
    "stand for what is to be measured.\n"
    "Results that were wrong enter no ratio.\n"
    "Exit status: 0; 1 if a result of hycoll was wrong; 2 for bad arguments or a job that failed; "
    "130 when interrupted.";

struct CompareOptions {
  std::string collectives = "allreduce";
  RootOption root;
  int workers = 0;
  std::string sizes = "8:16Mi";
  std::string layouts = "threads,per_node,processes,processes_heap";
  std::string inputs = "fresh,reused";
  std::string pace = "back-to-back";
  std::string type = "float";
  std::string op = "sum";
  bool slower = false;
  CompareSettings settings;
  std::string html_path;
  OutputOptions output;
};

std::vector<Layout> layouts_of(const std::string& names) {
  std::vector<Layout> layouts;
  for (const std::string& name : split(names, ',')) {
    const Layout layout = parse_layout("--layouts", name);
    if (layout == Layout::native) {
      throw Error(
          ErrorKind::invalid_argument,
          "--layouts 'native': the MPI library always takes part. Give some of threads, per_node, "
          "processes and processes_heap");
    }
    if (std::find(layouts.begin(), layouts.end(), layout) == layouts.end()) {
      layouts.push_back(layout);
    }
  }
  return layouts;
}

std::vector<InputUse> inputs_of(const std::string& names) {
  std::vector<InputUse> all;
  for (const std::string& name : split(names, ',')) {
    const InputUse inputs = parse_input_use("--inputs", name);
    if (std::find(all.begin(), all.end(), inputs) == all.end()) all.push_back(inputs);
  }
  return all;
}

/// The problems, in the order given, without repetitions.
std::vector<Problem> problems_of(const CompareOptions& options) {
  const DataType type = data_type_argument("--type", options.type);
  const Operator op = operator_argument("--op", options.op);
  check_operator(op, type);
  std::vector<Problem> problems;
  bool some_root = false;
  for (const std::string& name : split(options.collectives, ',')) {
    const Routine routine = CollectiveOption{.name = name}.routine();
    const bool rooted = has_root(collective_of(routine));
    some_root = some_root || rooted;
    if (options.settings.algorithm != "auto") {
      find_algorithm(collective_of(routine), options.settings.algorithm);
    }
    const bool there = std::any_of(problems.begin(), problems.end(),
                                   [&](const Problem& p) { return p.routine == routine; });
    if (there) continue;
    problems.push_back(
        {.routine = routine, .type = type, .op = op, .root = rooted ? options.root.root : 0});
  }
  if (!some_root) options.root.check(problems.front().routine);
  return problems;
}

/// Meets bad arguments before anything is started.
CompareSettings settings_of(const CompareOptions& options, const Topology& machine) {
  CompareSettings settings = options.settings;
  settings.problems = problems_of(options);
  settings.sizes_bytes = parse_sizes("--sizes", options.sizes);
  for (const std::size_t size_bytes : settings.sizes_bytes) {
    check_size_fits(size_bytes, "--sizes", settings.problems.front().type);
  }
  settings.inputs = inputs_of(options.inputs);
  settings.pace = parse_pace("--pace", options.pace);
  settings.layouts = layouts_of(options.layouts);
  parse_binding("--bind-to", settings.binding);
  if (!settings.preload.empty()) with_preloaded("--preload", settings.preload, {});
  settings.workers = options.workers > 0 ? options.workers : machine.usable_core_count();
  check_root(options.root.root, settings.workers);
  return settings;
}

Json mean_ratios(const Comparison& comparison) {
  Json means = Json::array();
  for (const ComparedTable& table : tables_of(comparison)) {
    for (const ComparedState& state : comparison.states) {
      for (std::size_t i = 0; i < comparison.contenders.size(); ++i) {
        if (comparison.contenders[i].is_reference) continue;
        const auto mean = state.mean_ratio(comparison.contenders, i, table.tasks);
        if (!mean) continue;
        means.push_back({{"collective", table.collective},
                         {"inputs", table.inputs},
                         {"state", state.state.name},
                         {"contender", comparison.contenders[i].name},
                         {"ratio", *mean}});
      }
    }
  }
  return means;
}

Json slower_json(const Comparison& comparison) {
  Json all = Json::array();
  for (const SlowerCell& cell : slower_cells(comparison)) {
    const ComparedTask& task = comparison.tasks[cell.task];
    all.push_back({{"collective", task.collective},
                   {"inputs", task.inputs},
                   {"state", comparison.states[cell.state].state.name},
                   {"bytes", task.size_bytes},
                   {"contender", comparison.contenders[cell.contender].name},
                   {"reference", comparison.contenders[cell.reference].name},
                   {"ratio", cell.ratio},
                   {"beyond_spread", cell.beyond_spread}});
  }
  return all;
}

/// "allreduce, broadcast".
std::string title_of(const CompareSettings& settings) {
  std::string title;
  for (const Problem& problem : settings.problems) {
    title += fmt::format("{}{}", title.empty() ? "" : ", ", name_of(problem.routine));
  }
  return title;
}

/// What each use of inputs means, and what the times are of.
std::string conditions_of(const CompareSettings& settings, const Topology& machine) {
  std::string text;
  for (const InputUse inputs : settings.inputs) {
    text += fmt::format("{} inputs: {}\n", name_of(inputs), describe(inputs));
  }
  for (const Problem& problem : settings.problems) {
    text +=
        fmt::format("{}: {}\n", name_of(problem.routine), describe(settings.pace, problem.routine));
  }
  if (settings.workers > machine.usable_core_count()) {
    text += fmt::format(
        "{} workers share {} cores: how a library waits counts as much as what it does (Open MPI "
        "yields when idle here, MPICH polls a thousand times before it yields, hycoll yields and "
        "naps)\n",
        settings.workers, machine.usable_core_count());
  }
  return text + conditions_text();
}

Report report_of(const CompareOptions& options, const CompareSettings& settings,
                 const Topology& machine, const measure::StateInterval& interval,
                 const CompareRun& run, const Comparison& comparison) {
  Report report;
  Json collectives = Json::array();
  bool combine = false;
  for (const Problem& problem : settings.problems) {
    collectives.push_back(name_of(problem.routine));
    combine = combine || combines(problem.routine);
  }
  report.context = {{"command", "compare"},
                    {"title", title_of(settings)},
                    {"collectives", collectives},
                    {"mpi", mpi_library_name()},
                    {"workers", settings.workers},
                    {"type", options.type},
                    {"op", combine ? Json(options.op) : Json()},
                    {"root", options.root.root},
                    {"reproducible", settings.reproducible},
                    {"rounds", settings.rounds},
                    {"pace", name_of(settings.pace)},
                    {"conditions", conditions_of(settings, machine)},
                    {"verified", comparison.verified}};
  add_machine(report.context, machine, interval);
  report.context["states"] = Json::array();
  for (const ComparedState& state : comparison.states) {
    report.context["states"].push_back({{"name", state.state.name},
                                        {"latency_ns", state.state.latency_ns},
                                        {"lowest_ns", state.state.lowest_ns},
                                        {"highest_ns", state.state.highest_ns},
                                        {"blocks", state.blocks}});
  }
  report.context["state_changes"] = comparison.state_changes;
  report.context["blocks_left_out"] = comparison.blocks_in_between;
  report.context["changes_text"] = changes_text(comparison);
  report.context["missing_text"] = missing_text(comparison);
  report.context["slower_text"] = slower_text(comparison);
  report.context["asleep_share"] = run.asleep_share();
  report.context["mean_ratios"] = mean_ratios(comparison);
  report.context["slower"] = slower_json(comparison);
  report.context["blocks"] = run.blocks_json();
  report.records = records_of(comparison);
  return report;
}

ExitStatus run_compare(const CompareOptions& options) {
  const Topology machine = Topology::this_machine();
  const CompareSettings settings = settings_of(options, machine);
  measure::StateInterval interval;
  interval.before = measure::measure_machine_state(machine, machine.cores());
  CompareRun run(settings, machine);
  run.run();
  interval.after = measure::measure_machine_state(machine, machine.cores());
  const Comparison comparison = run.comparison();
  std::FILE* const human = options.output.human();
  fmt::print(human, "{}: {}, {} workers, {} {}{}\n{}\n{}", title_of(settings),
             processor_name(machine), settings.workers, options.type, options.op,
             settings.reproducible ? ", reproducible" : "", conditions_of(settings, machine),
             to_text(comparison));
  fmt::print(human, "participants that slept used {:.2f} % of a core at most\n",
             100 * run.asleep_share());
  if (options.slower) fmt::print(human, "\n{}", slower_text(comparison));
  const Report report = report_of(options, settings, machine, interval, run, comparison);
  if (!options.html_path.empty()) {
    write_file("--html", options.html_path, html_report({report.to_json()}, ""));
  }
  options.output.write(report);
  return comparison.verified ? kSuccess : kNotProved;
}

class Compare final : public Subcommand {
 public:
  explicit Compare(CommandLine& line)
      : Subcommand(line.add_subcommand("compare", kCompareSummary)) {
    line_.add_explanation(kCompareExplanation);
    line_
        .add_option("collectives", options_.collectives,
                    fmt::format("One or several, separated by commas: {}", routine_names()))
        .type_name("COLLECTIVES")
        .show_default();
    options_.root.add_to(line_);
    add_what();
    add_whom();
    add_how();
    line_.add_flag(
        "--slower", options_.slower,
        "Ends with a list of every figure in which hycoll is slower than the fastest MPI "
        "library");
    options_.output.add_file(line_, "--html", options_.html_path, "Write a page with charts");
    options_.output.add_to(line_);
  }

  ExitStatus run() override {
    options_.output.check();
    try {
      return run_compare(options_);
    } catch (const Interrupted&) {
      fmt::print(stderr, "hycoll: interrupted; the jobs were ended\n");
      return kInterrupted;
    }
  }

 private:
  void add_what() {
    line_.add_option("--workers", options_.workers, "Workers (default: the usable cores)")
        .check(between(1, kMaximumMembers));
    line_
        .add_option("--sizes", options_.sizes,
                    "Bytes of each member's input, of which a barrier has none: powers of two from "
                    "8 to 16 Mi are 8:16Mi; a list is 8,24,1Ki")
        .type_name("SIZES")
        .show_default();
    line_
        .add_option("--inputs", options_.inputs,
                    "fresh: before every timed call, outside of the timing, members write to their "
                    "inputs and read their outputs, as programs do; reused: they leave their "
                    "buffers alone, which lie in the caches of those that worked on them; or both, "
                    "separated by a comma")
        .type_name("INPUTS")
        .show_default();
    add_type_option(line_, options_.type);
    add_operator_option(line_, options_.op);
    add_reproducible_option(line_, options_.settings.reproducible);
  }

  void add_whom() {
    CompareSettings& settings = options_.settings;
    line_
        .add_option("--layouts", options_.layouts,
                    "Of threads, per_node, processes and processes_heap")
        .type_name("LAYOUTS")
        .show_default();
    line_.add_option("--algorithm", settings.algorithm, "Of hycoll: a name, or auto")
        .type_name("NAME")
        .show_default();
    line_
        .add_option("--aggregators", settings.aggregators,
                    "Processes of hycoll without members, started besides the others, for the "
                    "algorithms that need them; unlike the others they look for work now and then "
                    "while they sleep")
        .check(between(0, kMaximumNodes))
        .show_default();
    line_
        .add_option("--preload", settings.preload,
                    "Compares the MPI library with these libraries preloaded too, separated by "
                    "colons, e.g. libhycoll_pmpi.so: what unmodified programs get")
        .type_name("FILES");
    line_
        .add_option("--reference", settings.references,
                    "Another hycoll binary, built with another MPI library, whose library is "
                    "compared too; ratios are to the fastest")
        .type_name("BINARY");
    line_
        .add_option("--reference-program", settings.programs,
                    "A program of yours that is compared too, as a command for the shell")
        .type_name("COMMAND");
  }

  void add_how() {
    CompareSettings& settings = options_.settings;
    line_.add_option("--rounds", settings.rounds, "Blocks of each figure, in every state")
        .check(between(1, 1000))
        .show_default();
    line_.add_option("--seconds", settings.seconds, "For the timed calls of a block")
        .check_positive()
        .show_default();
    line_.add_option("--at-most", settings.at_most_seconds, "Seconds after which no block begins")
        .check_positive()
        .show_default();
    line_
        .add_option("--pace", options_.pace,
                    "back-to-back, calls that follow one another; or separate: before every call "
                    "the members meet, and it ends when the last one has left")
        .type_name("PACE")
        .show_default();
    line_
        .add_option("--bind-to", settings.binding,
                    "Where ranks with one worker run: core, each on a core of its own, as "
                    "launchers bind by default, or none")
        .type_name("CORES")
        .show_default();
    line_
        .add_option("--timeout", settings.timeout_s,
                    "Seconds within which a job must start, and answer in its turn")
        .check(between(1, 1'000'000))
        .show_default();
  }

  CompareOptions options_;
};

}  // namespace

std::unique_ptr<Subcommand> add_compare(CommandLine& line) {
  return std::make_unique<Compare>(line);
}

}  // namespace hycoll::command
