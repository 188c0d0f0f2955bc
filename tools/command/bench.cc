// hycoll bench: times of a collective, under mpiexec, beside the MPI library's own.

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/collective_traits.h"
#include "tools/command/line/arguments.h"
#include "tools/command/line/command_line.h"
#include "tools/command/line/commands.h"
#include "tools/command/line/sizes.h"
#include "tools/command/line/table.h"
#include "tools/command/measuring/bench_options.h"
#include "tools/command/measuring/bench_records.h"
#include "tools/command/measuring/limit_team.h"

namespace hycoll::command {
namespace {

constexpr const char* kBenchSummary = "Measure a collective under mpiexec";
constexpr const char* kBenchExplanation =
    "Measures a collective under mpiexec (or with --ranks, which starts mpiexec itself).\n"
    "  mpiexec -n 2 hycoll bench allreduce --layout per_node --sizes 8:16Mi\n"
    "  hycoll bench reduce_scatter --ranks 1 --layout threads --workers 2\n"
    "  hycoll bench allreduce --ranks 2 --aggregators 1 --algorithm node-leader\n"
    "Layouts: threads, every thread is a member; per_node, every process is a member with a pool "
    "of workers; processes, every process is a member and a worker of its node, and processes_heap "
    "the same with buffers in the shared heap. With those of processes the MPI library's own "
    "collective is measured in alternation; native, the MPI library's own only, with one rank per "
    "core as usual and MPI_THREAD_SINGLE.\n"
    "reduce_scatter, allgather, gather, scatter and alltoall have equal blocks, which together are "
    "the size that is given. A barrier has no size.\n"
    "Times are of one call, in microseconds: the slowest member of each block of calls; minimum, "
    "median, 95th percentile and maximum over the blocks. Results are checked before and after.\n"
    "Before and after each size the latency between the cores is measured while all processes "
    "sleep; where it changed by more than half the size is measured again, up to 3 times.\n"
    "of limit: the time of a plain kernel with the same reads and writes in the same threads "
    "(hycoll "
    "bench limit), divided by the time of the call; for sums in one process, from 1 MiB on. It is "
    "no "
    "bound: another kernel may be faster.\n"
    "Exit status: 0; 1 if a result was wrong, the MPI library's included; 2 for bad arguments.";

/// The columns beyond hycoll's own times.
struct Columns {
  bool native = false;
  bool limit = false;
};

Columns columns_of(const BenchJob& job) {
  const BenchSettings& settings = job.settings();
  return {.native = has_communicator(settings.layout) && settings.native == NativeToo::yes,
          .limit = settings.layout == Layout::threads && settings.limit == LimitToo::yes &&
                   job.session().size == 1 && LimitTeam::serves(settings.measurement.problem)};
}

std::string share_text(double share) { return fmt::format("{:.2f}", share); }

std::string latency_text(const measure::LatencyInterval& latency) {
  if (!latency.before_ns || !latency.after_ns) return "-";
  return fmt::format("{:.0f}..{:.0f}{}", *latency.before_ns, *latency.after_ns,
                     state_changed(latency) ? " CHANGED" : "");
}

/// One line of the table as the sizes come.
void print_row(std::FILE* human, const Columns& columns, const BenchRow& row) {
  const measure::Summary& time = row.fastest(Role::call)->timing.call_us;
  fmt::print(human, "{:<33} {:>5} {:>7} {:>10} {:>10} {:>10} {:>10}", row.algorithm, row.lanes,
             short_size(row.task.size_bytes), time_text(time.minimum), time_text(time.median),
             time_text(time.p95), time_text(time.maximum));
  const double call_us = right_median_us(row, Role::call).value_or(0);
  if (columns.native) {
    const std::optional<double> native_us = right_median_us(row, Role::native);
    fmt::print(human, " {:>10} {:>8}", native_us ? time_text(*native_us) : "WRONG",
               native_us && call_us > 0 ? ratio_text(*native_us / call_us) : "-");
  }
  if (columns.limit) {
    const std::optional<double> limit_us = right_median_us(row, Role::limit);
    fmt::print(human, " {:>9}", limit_us && call_us > 0 ? share_text(*limit_us / call_us) : "-");
  }
  fmt::print(human, "  {}{}\n", latency_text(row.latency),
             row.verified(Role::call) ? "" : "  WRONG RESULT");
  std::fflush(human);
}

void print_header(std::FILE* human, const Columns& columns) {
  fmt::print(human, "{:<33} {:>5} {:>7} {:>10} {:>10} {:>10} {:>10}", "algorithm", "lanes", "bytes",
             "min us", "median us", "p95 us", "max us");
  if (columns.native) fmt::print(human, " {:>10} {:>8}", "MPI us", "ratio");
  if (columns.limit) fmt::print(human, " {:>9}", "of limit");
  fmt::print(human, "  core-to-core ns\n");
}

/// What is to be said beside the figures.
std::string remarks(const BenchJob& job, const Columns& columns) {
  const MeasurementOptions& measurement = job.settings().measurement;
  std::string text = fmt::format("{}; {}\n", describe(measurement.inputs),
                                 describe(measurement.pace, measurement.problem.routine));
  if (columns.native) {
    text += fmt::format(
        "MPI us: in the same processes at {}, which hycoll needs; --layout native and hycoll "
        "compare measure the library at MPI_THREAD_SINGLE\n",
        job.session().thread_level);
  }
  return text;
}

ExitStatus run_job(BenchJob& job) {
  bool first = true;
  const Columns columns = columns_of(job);
  const BenchResult result = job.measure([&](const BenchRow& row) {
    if (first) print_header(job.human(), columns);
    first = false;
    print_row(job.human(), columns, row);
  });
  if (job.session().speaks()) {
    for (const std::string& refusal : result.refusals) {
      fmt::print(job.human(), "left out: {}\n", refusal);
    }
    fmt::print(job.human(), "{}", remarks(job, columns));
  }
  Report report{.context = job.finish("bench"), .records = {}};
  const MeasurementOptions& measurement = job.settings().measurement;
  report.context["buffer_use"] = describe(measurement.inputs);
  report.context["pace"] = describe(measurement.pace, measurement.problem.routine);
  report.context["left_out"] = result.refusals;
  const measure::MachineStates states = states_of(result.rows);
  bool verified = true;
  for (const BenchRow& row : result.rows) {
    report.records.push_back(record_of(job.settings(), row, states));
    verified = verified && row.verified();
  }
  if (job.session().speaks()) job.options().output.write(report);
  return verified ? kSuccess : kNotProved;
}

class Bench final : public Subcommand {
 public:
  explicit Bench(CommandLine& line) : Subcommand(line.add_subcommand("bench", kBenchSummary)) {
    line_.add_explanation(kBenchExplanation);
    options_.add_problem(line_);
    line_
        .add_option("--layout", options_.layout,
                    "threads, per_node, processes, processes_heap or native")
        .type_name("LAYOUT")
        .show_default();
    options_.add_choices(line_, BenchOptions::Algorithms::all);
    options_.add_aggregators(line_);
    line_
        .add_option("--emulate-nodes", options_.emulated_nodes,
                    "Layouts processes and processes_heap: the processes of a machine form so "
                    "many nodes; others: checks that as many processes run on one machine")
        .check(between(1, kMaximumNodes));
    options_.add_measurement(line_);
    options_.add_preload(line_);
    line_.add_flag(
        "--fresh-inputs", options_.fresh_inputs,
        "Before every timed call members write to their inputs and read their outputs, as "
        "programs do; outside of the timing");
    line_
        .add_option("--pace", options_.pace,
                    "back-to-back, calls that follow one another; or separate: before every call "
                    "the members meet, and it ends when the last one has left")
        .type_name("PACE")
        .show_default();
    line_.add_flag("--native,!--no-native", options_.native,
                   "Whether layouts of processes measure the MPI library's own too (default: yes)");
    line_.add_flag("--limit,!--no-limit", options_.limit,
                   "Whether threads measures the limit too (default: yes)");
    options_.output.add_to(line_);
    special_.push_back(add_bench_endpoints(line_));
    special_.push_back(add_bench_limit(line_));
    special_.push_back(add_bench_overlap(line_));
    special_.push_back(add_bench_persistent(line_));
    special_.push_back(add_bench_plans(line_));
    special_.push_back(add_bench_serve(line_));
  }

  ExitStatus run() override {
    for (const auto& special : special_) {
      if (special->chosen()) return special->run();
    }
    return run_bench_job(options_, options_.settings(Subject::call), run_job);
  }

 private:
  BenchOptions options_;
  std::vector<std::unique_ptr<Subcommand>> special_;
};

}  // namespace

std::unique_ptr<Subcommand> add_bench(CommandLine& line) { return std::make_unique<Bench>(line); }

}  // namespace hycoll::command
