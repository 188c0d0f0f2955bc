// hycoll compare: the whole comparison of hycoll's layouts with the MPI library, in alternating
// runs that it starts itself.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collectives/algorithms/registry.h"
#include "core/base/errors.h"
#include "numa/topology/topology.h"
#include "tools/command/comparing/comparison.h"
#include "tools/command/comparing/html_report.h"
#include "tools/command/line/arguments.h"
#include "tools/command/line/collective_option.h"
#include "tools/command/line/commands.h"
#include "tools/command/line/output.h"
#include "tools/command/line/progress.h"
#include "tools/command/line/sizes.h"
#include "tools/command/measuring/bench_layouts.h"
#include "tools/command/measuring/child.h"
#include "tools/command/measuring/launch.h"
#include "tools/command/measuring/machine_context.h"
#include "tools/command/measuring/measurement.h"
#include "tools/command/measuring/mpi_session.h"
#include "tools/measure/machine_state.h"

namespace hycoll::command {
namespace {

constexpr const char* kSummary =
    "Compare hycoll with the MPI library, in runs that it starts itself";
constexpr const char* kExplanation =
    "Compares hycoll with the MPI library on this machine. Starts short runs in turn, round after "
    "round: the MPI library with one rank per worker, hycoll with one process of that many threads "
    "(threads), hycoll with that many processes that are the workers of one node (processes; "
    "processes_heap with buffers in the shared heap), and hycoll with that many processes, each an "
    "emulated node (per_node). Only runs in the same state of the machine are compared.\n"
    "Exit status: 0; 1 if a result of hycoll was wrong; 2 for bad arguments or a run that failed; "
    "130 when "
    "interrupted.";

/// The end of a failed run's messages is what tells.
constexpr std::size_t kShownErrorBytes = 4000;

struct CompareOptions {
  CollectiveOption collective;
  RootOption root;
  int workers = 0;
  std::string sizes = "8:16Mi";
  std::string layouts = "threads,per_node,processes,processes_heap";
  std::string algorithm = "auto";
  int aggregators = 0;
  std::string type = "float";
  std::string op = "sum";
  bool reproducible = false;
  int rounds = 5;
  double seconds = 0.1;
  int timeout_s = 300;
  std::string binding = "none";
  bool fresh_inputs = false;
  std::vector<std::string> references;
  std::string preload;
  std::string html_path;
  OutputOptions output;
};

/// "float sum"; nothing for a barrier.
std::string reduction_text(const CompareOptions& options) {
  const Routine routine = options.collective.routine();
  if (routine == Routine::barrier) return "";
  if (!combines(routine)) return fmt::format(", {}", options.type);
  return fmt::format(", {} {}{}", options.type, options.op,
                     options.reproducible ? ", reproducible" : "");
}

/// A contender and how it is run.
struct Runner {
  Contender contender;
  Layout layout = Layout::native;
  std::string binary;
  std::string preload = {};
};

std::vector<Layout> layouts_of(const CompareOptions& options) {
  std::vector<Layout> layouts;
  for (const std::string& name : CLI::detail::split(options.layouts, ',')) {
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

/// Meets bad arguments before anything is started.
void check_arguments(const CompareOptions& options) {
  const Routine routine = options.collective.routine();
  options.root.check(routine);
  const DataType type = data_type_argument("--type", options.type);
  check_operator(operator_argument("--op", options.op), type);
  for (const std::size_t size_bytes : parse_sizes("--sizes", options.sizes)) {
    check_size_fits(size_bytes, "--sizes", type);
  }
  if (options.algorithm != "auto") find_algorithm(collective_of(routine), options.algorithm);
  layouts_of(options);
  parse_binding("--bind-to", options.binding);
  if (!options.preload.empty()) with_preloaded("--preload", options.preload, {});
}

enum class Role { reference, hycoll };

void add_runner(std::vector<Runner>& runners, std::string name, Role role, Layout layout,
                std::string binary) {
  Runner& runner = runners.emplace_back();
  runner.contender.name = std::move(name);
  runner.contender.is_reference = role == Role::reference;
  runner.layout = layout;
  runner.binary = std::move(binary);
}

std::vector<Runner> runners_of(const CompareOptions& options) {
  std::vector<Runner> runners;
  add_runner(runners, "MPI", Role::reference, Layout::native, own_path());
  for (const std::string& binary : options.references) {
    add_runner(runners, binary, Role::reference, Layout::native, binary);
  }
  for (const Layout layout : layouts_of(options)) {
    add_runner(runners, std::string(name_of(layout)), Role::hycoll, layout, own_path());
  }
  if (!options.preload.empty()) {
    add_runner(runners, "preloaded", Role::hycoll, Layout::native, own_path());
    runners.back().preload = options.preload;
  }
  return runners;
}

std::vector<std::string> command_of(const Runner& runner, const CompareOptions& options,
                                    int workers) {
  const bool threads = runner.layout == Layout::threads;
  std::vector<std::string> command = {runner.binary,
                                      "bench",
                                      options.collective.name,
                                      "--layout",
                                      std::string(name_of(runner.layout)),
                                      "--ranks",
                                      std::to_string(threads ? 1 : workers),
                                      "--workers",
                                      std::to_string(threads ? workers : 1),
                                      "--type",
                                      options.type,
                                      "--op",
                                      options.op,
                                      "--root",
                                      std::to_string(options.root.root),
                                      "--seconds",
                                      std::to_string(options.seconds),
                                      "--no-native",
                                      "--json",
                                      "-"};
  if (options.collective.routine() != Routine::barrier) {
    command.insert(command.end(), {"--sizes", options.sizes});
  }
  // Threads of one process must not share the core of its rank.
  if (!threads) command.insert(command.end(), {"--bind-to", options.binding});
  if (runner.layout != Layout::native) {
    command.insert(command.end(), {"--algorithm", options.algorithm, "--aggregators",
                                   std::to_string(options.aggregators)});
    if (options.reproducible) command.emplace_back("--reproducible");
  }
  if (!runner.preload.empty()) command.insert(command.end(), {"--preload", runner.preload});
  if (options.fresh_inputs) command.emplace_back("--fresh-inputs");
  return command;
}

std::string end_of(const ChildResult& result, int timeout_s) {
  switch (result.end) {
    case ChildResult::End::timed_out:
      return fmt::format("did not end within {} s (--timeout)", timeout_s);
    case ChildResult::End::killed_by_signal:
      return fmt::format("was killed by signal {}", result.status);
    default:
      return fmt::format("ended with status {}", result.status);
  }
}

/// What the runs have said so far.
class ComparisonRun {
 public:
  ComparisonRun(const CompareOptions& options, int workers)
      : options_(options), workers_(workers), runners_(runners_of(options)) {}

  void run() {
    ProgressBar progress(runners_.size() * static_cast<std::size_t>(options_.rounds));
    for (int round = 0; round < options_.rounds; ++round) {
      for (std::size_t turn = 0; turn < runners_.size(); ++turn) {
        // Another one begins each round, so that nobody always follows the same one.
        const std::size_t index = (turn + static_cast<std::size_t>(round)) % runners_.size();
        progress.set_label(fmt::format("round {} of {}: {}", round + 1, options_.rounds,
                                       runners_[index].contender.name));
        run_once(index, round);
        progress.advance(1);
      }
    }
  }

  Comparison comparison() const {
    std::vector<Contender> contenders;
    for (const Runner& runner : runners_) contenders.push_back(runner.contender);
    return compare_runs(std::move(contenders), runs_);
  }

  /// The machine's state before and after each run.
  Json runs_json() const {
    Json runs = Json::array();
    for (const ComparedRun& run : runs_) {
      runs.push_back({{"round", run.round + 1},
                      {"contender", runners_[run.contender].contender.name},
                      {"before", to_json(run.state.before)},
                      {"after", to_json(run.state.after)}});
    }
    return runs;
  }

 private:
  void run_once(std::size_t index, int round) {
    Runner& runner = runners_[index];
    const std::vector<std::string> command = command_of(runner, options_, workers_);
    const ChildResult result = run_child(command, std::chrono::seconds(options_.timeout_s));
    // A wrong result still comes with a whole report; the comparison shows it.
    const bool wrong_result = result.end == ChildResult::End::exited && result.status == kNotProved;
    if (!result.succeeded() && !wrong_result) {
      const std::size_t hidden =
          result.errors.size() - std::min(result.errors.size(), kShownErrorBytes);
      throw Error(ErrorKind::environment,
                  fmt::format("the run of {} {}. Its messages:\n{}\nIt was started as: {}",
                              runner.contender.name, end_of(result, options_.timeout_s),
                              result.errors.substr(hidden), fmt::join(command, " ")));
    }
    runs_.push_back(parse_run(result.output, index, round));
    if (runner.contender.is_reference && round == 0) {
      runner.contender.name = unused_name(runs_.back().mpi, index);
    }
  }

  /// Two references may be of the same library.
  std::string unused_name(const std::string& name, std::size_t index) const {
    for (std::size_t i = 0; i < runners_.size(); ++i) {
      if (i != index && runners_[i].contender.name == name) {
        return fmt::format("{} ({})", name, runners_[index].binary);
      }
    }
    return name;
  }

  const CompareOptions& options_;
  int workers_;
  std::vector<Runner> runners_;
  std::vector<ComparedRun> runs_;
};

Json mean_ratios(const Comparison& comparison) {
  Json means = Json::array();
  for (const ComparedState& state : comparison.states) {
    for (std::size_t i = 0; i < comparison.contenders.size(); ++i) {
      if (comparison.contenders[i].is_reference) continue;
      const std::optional<double> mean = state.mean_ratio(comparison.contenders, i);
      if (!mean) continue;
      means.push_back({{"state", state.group.name},
                       {"contender", comparison.contenders[i].name},
                       {"ratio", *mean}});
    }
  }
  return means;
}

std::string_view buffer_use(const CompareOptions& options) {
  return describe(options.fresh_inputs ? InputUse::fresh : InputUse::reused);
}

Report report_of(const CompareOptions& options, int workers, const Topology& machine,
                 const measure::StateInterval& interval, const ComparisonRun& run,
                 const Comparison& comparison) {
  Report report;
  const bool barrier = options.collective.routine() == Routine::barrier;
  report.context = {{"command", "compare"},
                    {"collective", options.collective.name},
                    {"mpi", mpi_library_name()},
                    {"workers", workers},
                    {"type", barrier ? Json() : Json(options.type)},
                    {"op", combines(options.collective.routine()) ? Json(options.op) : Json()},
                    {"root", options.root.root},
                    {"reproducible", options.reproducible},
                    {"rounds", options.rounds},
                    {"buffer_use", buffer_use(options)},
                    {"verified", comparison.verified}};
  add_machine(report.context, machine, interval);
  report.context["states"] = Json::array();
  for (const ComparedState& state : comparison.states) {
    report.context["states"].push_back({{"name", state.group.name},
                                        {"latency_ns", state.group.latency_ns},
                                        {"runs", state.group.runs.size()}});
  }
  report.context["runs_left_out"] = comparison.changing_runs;
  report.context["mean_ratios"] = mean_ratios(comparison);
  report.context["runs"] = run.runs_json();
  report.records = records_of(comparison);
  return report;
}

ExitStatus run_compare(const CompareOptions& options) {
  const Topology machine = Topology::this_machine();
  const int workers = options.workers > 0 ? options.workers : machine.usable_core_count();
  check_root(options.root.root, workers);
  measure::StateInterval interval;
  interval.before = measure::measure_machine_state(machine, machine.cores());
  ComparisonRun run(options, workers);
  run.run();
  interval.after = measure::measure_machine_state(machine, machine.cores());
  const Comparison comparison = run.comparison();
  fmt::print(options.output.human(), "{}: {}, {} workers{}; {}\n{}{}\n", options.collective.name,
             processor_name(machine), workers, reduction_text(options), buffer_use(options),
             to_text(comparison), to_text(interval));
  const Report report = report_of(options, workers, machine, interval, run, comparison);
  if (!options.html_path.empty()) {
    write_file("--html", options.html_path, html_report({report.to_json()}));
  }
  options.output.write(report);
  return comparison.verified ? kSuccess : kNotProved;
}

class Compare final : public Subcommand {
 public:
  explicit Compare(CLI::App& app) : app_(app.add_subcommand("compare", kSummary)) {
    app_->footer(kExplanation);
    options_.collective.add_to(*app_);
    options_.root.add_to(*app_);
    add_what();
    add_how();
    app_->add_option("--html", options_.html_path, "Write a page with charts; - is stdout")
        ->type_name("FILE");
    options_.output.add_to(*app_);
  }

  bool chosen() const override { return app_->parsed(); }

  ExitStatus run() override {
    options_.output.check();
    check_arguments(options_);
    try {
      return run_compare(options_);
    } catch (const Interrupted&) {
      fmt::print(stderr, "hycoll: interrupted; the runs were ended\n");
      return kInterrupted;
    }
  }

 private:
  void add_what() {
    app_->add_option("--workers", options_.workers, "Workers (default: the usable cores)")
        ->check(between(1, kMaximumMembers));
    app_->add_option(
            "--sizes", options_.sizes,
            "Bytes of each member's input, of which a barrier has none: powers of two from "
            "8 to 16 Mi are 8:16Mi; a list is 8,24,1Ki")
        ->type_name("SIZES")
        ->capture_default_str();
    app_->add_option("--layouts", options_.layouts,
                     "Of threads, per_node, processes and processes_heap")
        ->type_name("LAYOUTS")
        ->capture_default_str();
    app_->add_option("--algorithm", options_.algorithm, "Of hycoll: a name, or auto")
        ->type_name("NAME")
        ->capture_default_str();
    app_->add_option("--aggregators", options_.aggregators,
                     "Processes of hycoll without members, started besides the others, for the "
                     "algorithms that need them")
        ->check(between(0, kMaximumNodes))
        ->capture_default_str();
    app_->add_option("--preload", options_.preload,
                     "Compares the MPI library with these libraries preloaded too, separated by "
                     "colons, e.g. libhycoll_pmpi.so: what unmodified programs get")
        ->type_name("FILES");
    add_type_option(*app_, options_.type);
    add_operator_option(*app_, options_.op);
    add_reproducible_option(*app_, options_.reproducible);
    app_->add_option("--reference", options_.references,
                     "Another hycoll binary, built with another MPI library, whose library is "
                     "compared too; ratios are to the fastest")
        ->type_name("BINARY");
  }

  void add_how() {
    app_->add_option("--rounds", options_.rounds, "Runs of each")
        ->check(between(1, 1000))
        ->capture_default_str();
    app_->add_option("--seconds", options_.seconds, "For the timed blocks of a size in a run")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app_->add_option("--bind-to", options_.binding,
                     "Where ranks with one worker run: core, each on a core of its own, as "
                     "launchers bind by default, or none")
        ->type_name("CORES")
        ->capture_default_str();
    app_->add_option("--timeout", options_.timeout_s, "Seconds after which a run is ended")
        ->check(between(1, 1'000'000))
        ->capture_default_str();
    app_->add_flag(
        "--fresh-inputs", options_.fresh_inputs,
        "Before every timed call members write to their inputs and read their outputs, as "
        "programs do; outside of the timing");
  }

  CLI::App* app_;
  CompareOptions options_;
};

}  // namespace

std::unique_ptr<Subcommand> add_compare(CLI::App& app) { return std::make_unique<Compare>(app); }

}  // namespace hycoll::command
