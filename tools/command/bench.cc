// hycoll bench: times of a collective, under mpiexec, beside the MPI library's own.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "collectives/registry.h"
#include "core/errors.h"
#include "numa/binding.h"
#include "numa/topology.h"
#include "tools/command/arguments.h"
#include "tools/command/bench_layouts.h"
#include "tools/command/collective_option.h"
#include "tools/command/commands.h"
#include "tools/command/launch.h"
#include "tools/command/machine_context.h"
#include "tools/command/mpi_session.h"
#include "tools/command/output.h"
#include "tools/command/sizes.h"
#include "tools/command/table.h"
#include "tools/measure/machine_state.h"

namespace hycoll::command {
namespace {

constexpr const char* kSummary = "Measure a collective under mpiexec";
constexpr const char* kExplanation =
    "Measures a collective under mpiexec (or with --ranks, which starts mpiexec itself).\n"
    "  mpiexec -n 2 hycoll bench allreduce --layout per_node --sizes 8:16Mi\n"
    "  hycoll bench allreduce --ranks 1 --layout threads --workers 2\n"
    "Layouts: threads, every thread is a member; per_node, every process is a member with a pool "
    "of "
    "workers, and the MPI library's own collective is measured in alternation; native, the MPI "
    "library's own only, with one rank per core as usual and MPI_THREAD_SINGLE.\n"
    "Times are of one call, in microseconds: the slowest member of each block of calls; minimum, "
    "median, 95th percentile and maximum over the blocks. Results are checked before and after.\n"
    "Exit status: 0; 1 if a result was wrong; 2 for bad arguments.";

constexpr int kMaximumWorkers = 4096;

struct BenchOptions {
  CollectiveOption collective;
  std::string layout = "per_node";
  std::string algorithm = "auto";
  std::string sizes = "8:16Mi";
  std::string type = "float";
  std::string op = "sum";
  int workers = 0;
  int lanes = 0;
  int emulated_nodes = 0;
  int ranks = 0;
  int rounds = 0;
  double seconds = 0.25;
  bool fresh_inputs = false;
  bool native = true;
  OutputOptions output;
};

/// Everything that can be checked without MPI, so that a bad argument is met before it starts.
BenchSettings settings_of(const BenchOptions& options) {
  BenchSettings settings;
  settings.layout = parse_layout("--layout", options.layout);
  settings.algorithm = options.algorithm;
  if (options.algorithm != "auto" && options.algorithm != "all") {
    find_algorithm(Collective::allreduce, options.algorithm);
  }
  settings.sizes_bytes = parse_sizes("--sizes", options.sizes);
  settings.workers = options.workers;
  settings.lanes = options.lanes;
  settings.native = options.native ? NativeToo::yes : NativeToo::no;
  settings.measurement = {.type = data_type_argument("--type", options.type),
                          .op = operator_argument("--op", options.op),
                          .rounds = options.rounds,
                          .seconds = options.seconds,
                          .inputs = options.fresh_inputs ? InputUse::fresh : InputUse::reused};
  const DataType type = settings.measurement.type;
  check_operator(settings.measurement.op, type);
  for (const std::size_t size_bytes : settings.sizes_bytes) {
    check_size_fits(size_bytes, "--sizes", type);
    if (size_bytes / size_of(type) > std::numeric_limits<int>::max()) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("--sizes '{}': MPI_Allreduce counts at most 2^31 - 1 elements. Give "
                              "smaller sizes",
                              short_size(size_bytes)));
    }
  }
  return settings;
}

/// One line of the table as the sizes come.
void print_row(std::FILE* human, const BenchRow& row) {
  const measure::Summary& time = row.timing.call_us;
  fmt::print(human, "{:<33} {:>5} {:>7} {:>10} {:>10} {:>10} {:>10}", row.algorithm, row.lanes,
             short_size(row.size_bytes), time_text(time.minimum), time_text(time.median),
             time_text(time.p95), time_text(time.maximum));
  if (row.native) {
    const double native_us = row.native->call_us.median;
    fmt::print(human, " {:>10} {:>8}", time_text(native_us), ratio_text(native_us / time.median));
  }
  fmt::print(human, "{}\n", row.timing.verified ? "" : "  WRONG RESULT");
  std::fflush(human);
}

void print_header(std::FILE* human, NativeToo native) {
  fmt::print(human, "{:<33} {:>5} {:>7} {:>10} {:>10} {:>10} {:>10}", "algorithm", "lanes", "bytes",
             "min us", "median us", "p95 us", "max us");
  if (native == NativeToo::yes) fmt::print(human, " {:>10} {:>8}", "MPI us", "ratio");
  fmt::print(human, "\n");
}

Json record_of(const BenchOptions& options, const BenchSettings& settings, const BenchRow& row) {
  const measure::Summary& time = row.timing.call_us;
  Json native_us;
  if (row.native) native_us = row.native->call_us.median;
  if (settings.layout == Layout::native) native_us = time.median;
  return {{"collective", options.collective.name},
          {"algorithm", row.algorithm},
          {"layout", options.layout},
          {"nodes", row.nodes},
          {"members", row.members},
          {"workers", row.workers},
          {"lanes", row.lanes},
          {"segments", row.segments},
          {"type", options.type},
          {"op", options.op},
          {"bytes", row.size_bytes},
          {"min_us", time.minimum},
          {"median_us", time.median},
          {"p95_us", time.p95},
          {"max_us", time.maximum},
          {"native_median_us", native_us},
          {"ratio", native_us.is_null() ? Json() : Json(native_us.get<double>() / time.median)},
          {"rounds", row.timing.rounds},
          {"calls_per_round", row.timing.calls_per_round},
          {"verified", row.timing.verified},
          {"native_verified", row.native ? Json(row.native->verified) : Json()}};
}

/// One benchmark on one process.
class BenchJob {
 public:
  BenchJob(const MpiSession& session, const BenchOptions& options, const BenchSettings& settings)
      : session_(session),
        options_(options),
        settings_(settings),
        human_(options.output.human()),
        machine_(Topology::this_machine()) {}

  ExitStatus run() {
    check_emulated_nodes();
    warn_if_confined();
    measure::StateInterval interval;
    interval.before = measure_quietly();
    bool first = true;
    const BenchResult result = run_bench(session_, machine_, settings_, [&](const BenchRow& row) {
      if (first) print_header(human_, row.native ? NativeToo::yes : NativeToo::no);
      first = false;
      print_row(human_, row);
    });
    interval.after = measure_quietly();
    // All processes have the same rows and refusals.
    if (result.rows.empty() && !result.refusals.empty()) {
      throw Error(ErrorKind::unsupported,
                  fmt::format("--algorithm '{}' serves none of --sizes '{}' here. {}",
                              options_.algorithm, options_.sizes, result.refusals.front()));
    }
    if (session_.speaks()) report(result, interval);
    for (const BenchRow& row : result.rows) {
      if (!row.timing.verified) return kNotProved;
    }
    return kSuccess;
  }

 private:
  void check_emulated_nodes() const {
    if (options_.emulated_nodes == 0 || options_.emulated_nodes == session_.local_size) return;
    throw Error(
        ErrorKind::invalid_argument,
        fmt::format("--emulate-nodes {}: each process counts as a node, and {} of them run on this "
                    "machine. Start {} processes (--ranks {}), or leave the option out",
                    options_.emulated_nodes, session_.local_size, options_.emulated_nodes,
                    options_.emulated_nodes));
  }

  void warn_if_confined() const {
    if (settings_.layout == Layout::native || !session_.speaks()) return;
    const int threads = settings_.workers > 0 ? settings_.workers : machine_.usable_core_count();
    if (const auto warning = confinement_warning(machine_, threads)) {
      fmt::print(stderr, "hycoll: warning: {}\n", *warning);
    }
  }

  /// Rank 0 measures its machine while the other processes sleep.
  measure::MachineState measure_quietly() const {
    measure::MachineState state;
    session_.wait_idly();
    if (session_.speaks()) state = measure::measure_machine_state(machine_, machine_.cores());
    session_.wait_idly();
    return state;
  }

  void report(const BenchResult& result, const measure::StateInterval& interval) const {
    for (const std::string& refusal : result.refusals) {
      fmt::print(human_, "left out: {}\n", refusal);
    }
    fmt::print(human_, "{}\n{}{}\n", describe(settings_.measurement.inputs), to_text(interval),
               measure::state_changed(interval.before, interval.after)
                   ? ", so the times belong to no one state. Run again"
                   : "");
    Report report;
    report.context = {{"command", "bench"},
                      {"mpi", mpi_library_name()},
                      {"mpi_thread_level", session_.thread_level},
                      {"ranks", session_.size},
                      {"emulated_nodes_per_machine", session_.local_size},
                      {"buffer_use", describe(settings_.measurement.inputs)}};
    add_machine(report.context, machine_, interval);
    report.context["left_out"] = result.refusals;
    for (const BenchRow& row : result.rows) {
      report.records.push_back(record_of(options_, settings_, row));
    }
    options_.output.write(report);
  }

  const MpiSession& session_;
  const BenchOptions& options_;
  const BenchSettings& settings_;
  std::FILE* human_;
  Topology machine_;
};

class Bench final : public Subcommand {
 public:
  explicit Bench(CLI::App& app) : app_(app.add_subcommand("bench", kSummary)) {
    app_->footer(kExplanation);
    options_.collective.add_to(*app_, CollectiveOption::Presence::required);
    add_what();
    add_how();
    options_.output.add_to(*app_);
  }

  bool chosen() const override { return app_->parsed(); }

  ExitStatus run() override {
    options_.collective.check();
    options_.output.check();
    const BenchSettings settings = settings_of(options_);
    if (options_.ranks > 0) {
      std::vector<std::string> program = own_arguments_without("--ranks");
      program.insert(program.begin(), own_path());
      replace_process(mpiexec_command(options_.ranks, program));
    }
    return run_with_mpi(
        settings.layout == Layout::native ? ThreadLevel::single : ThreadLevel::multiple,
        [&](const MpiSession& session) { return BenchJob(session, options_, settings).run(); });
  }

 private:
  void add_what() {
    app_->add_option("--layout", options_.layout, "threads, per_node or native")
        ->type_name("LAYOUT")
        ->capture_default_str();
    app_->add_option("--algorithm", options_.algorithm,
                     "A name (see hycoll plan --algorithms), auto, or all that serve the shape")
        ->type_name("NAME")
        ->capture_default_str();
    app_->add_option("--sizes", options_.sizes,
                     "Bytes: powers of two from 8 to 16 Mi are 8:16Mi; a list is 8,24,1Ki")
        ->type_name("SIZES")
        ->capture_default_str();
    app_->add_option("--type", options_.type, "Element type")
        ->type_name("TYPE")
        ->capture_default_str();
    app_->add_option("--op", options_.op, "Operator")->type_name("OP")->capture_default_str();
    app_->add_option("--workers", options_.workers,
                     "Workers per process (default: the cores of its share of the machine)")
        ->check(between(1, kMaximumWorkers));
    app_->add_option("--lanes", options_.lanes, "Lanes per node (default: as hycoll chooses)")
        ->check(between(1, kMaximumLanes));
    app_->add_option("--emulate-nodes", options_.emulated_nodes,
                     "Checks that this many processes of one machine count as so many nodes")
        ->check(between(1, kMaximumNodes));
  }

  void add_how() {
    app_->add_option("--ranks", options_.ranks, "Starts this many ranks under mpiexec")
        ->check(between(1, kMaximumNodes));
    app_->add_option("--rounds", options_.rounds,
                     "Blocks of calls of each contestant (default: as many as fit --seconds)")
        ->check(between(1, 1'000'000));
    app_->add_option("--seconds", options_.seconds, "For the timed blocks of a size")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app_->add_flag(
        "--fresh-inputs", options_.fresh_inputs,
        "Before every timed call members write to their inputs and read their outputs, as "
        "programs do; outside of the timing");
    app_->add_flag("--native,!--no-native", options_.native,
                   "Whether per_node measures the MPI library's own too (default: yes)");
  }

  CLI::App* app_;
  BenchOptions options_;
};

}  // namespace

std::unique_ptr<Subcommand> add_bench(CLI::App& app) { return std::make_unique<Bench>(app); }

}  // namespace hycoll::command
