// hycoll bench persistent: what the forms of a persistent call cost beside the blocking one.

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <string>

#include "core/base/errors.h"
#include "tools/command/line/command_line.h"
#include "tools/command/line/commands.h"
#include "tools/command/line/sizes.h"
#include "tools/command/line/table.h"
#include "tools/command/measuring/bench_options.h"
#include "tools/command/measuring/bench_records.h"

namespace hycoll::command {
namespace {

constexpr const char* kBenchPersistentSummary =
    "Measure the forms of a persistent call beside the blocking one";
constexpr const char* kBenchPersistentExplanation =
    "Measures, in alternation, what a persistent call costs its caller: start() alone, start() and "
    "wait(), and run(); beside them the blocking call, and between processes that of the MPI "
    "library and, where it has them (MPI 4), start and wait of its persistent call. Each is timed "
    "by itself between two readings of the clock, which all times contain "
    "alike. What follows start() until wait() returns is not part of its time.\n"
    "  hycoll bench persistent --ranks 2 --workers 1 --sizes 8:4Ki\n"
    "Times are medians over blocks of calls, of the slowest member, in microseconds. Results are "
    "checked before and after.\n"
    "Exit status: 0; 1 if a result was wrong; 2 for bad arguments.";

double median_us(const BenchRow& row, Role role) {
  return row.fastest(role)->timing.call_us.median;
}

std::string time_or_dash(const BenchRow& row, Role role) {
  return row.fastest(role) ? time_text(median_us(row, role)) : "-";
}

void print_persistent_header(const BenchJob& job) {
  fmt::print(job.human(), "{:<33} {:>7} {:>11} {:>9} {:>12} {:>9} {:>10} {:>10} {:>16}\n",
             "algorithm", "bytes", "blocking us", "start us", "+ wait us", "run us", "MPI us",
             "+ wait us", "start / blocking");
}

void print_persistent_row(const BenchJob& job, const BenchRow& row) {
  fmt::print(job.human(), "{:<33} {:>7} {:>11} {:>9} {:>12} {:>9} {:>10} {:>10} {:>16.2f}{}\n",
             row.algorithm, short_size(row.task.size_bytes), time_text(median_us(row, Role::call)),
             time_text(median_us(row, Role::start)),
             time_text(median_us(row, Role::start_and_wait)),
             time_text(median_us(row, Role::persistent_run)), time_or_dash(row, Role::native),
             time_or_dash(row, Role::native_persistent),
             median_us(row, Role::start) / median_us(row, Role::call),
             row.verified() ? "" : "  WRONG RESULT");
  std::fflush(job.human());
}

Json record_of(const BenchJob& job, const BenchRow& row) {
  const BenchSettings& settings = job.settings();
  const RoleTiming* const native = row.fastest(Role::native);
  const RoleTiming* const native_persistent = row.fastest(Role::native_persistent);
  return {{"collective", name_of(settings.measurement.problem.routine)},
          {"algorithm", row.algorithm},
          {"layout", name_of(settings.layout)},
          {"nodes", row.nodes},
          {"members", row.members},
          {"workers", row.workers},
          {"lanes", row.lanes},
          {"type", type_json(settings.measurement.problem)},
          {"op", operator_json(settings.measurement.problem)},
          {"bytes", row.task.size_bytes},
          {"blocking_us", median_us(row, Role::call)},
          {"start_us", median_us(row, Role::start)},
          {"start_and_wait_us", median_us(row, Role::start_and_wait)},
          {"run_us", median_us(row, Role::persistent_run)},
          {"native_us", native ? Json(native->timing.call_us.median) : Json()},
          {"native_start_and_wait_us",
           native_persistent ? Json(native_persistent->timing.call_us.median) : Json()},
          {"start_share", median_us(row, Role::start) / median_us(row, Role::call)},
          {"verified", row.verified()}};
}

ExitStatus run_persistent_job(BenchJob& job) {
  if (job.session().speaks()) print_persistent_header(job);
  const BenchResult result =
      job.measure([&](const BenchRow& row) { print_persistent_row(job, row); });
  Report report{.context = job.finish("bench persistent"), .records = {}};
  report.context["left_out"] = result.refusals;
  bool all_verified = true;
  for (const BenchRow& row : result.rows) {
    all_verified = all_verified && row.verified();
    report.records.push_back(record_of(job, row));
  }
  if (job.session().speaks()) job.options().output.write(report);
  return all_verified ? kSuccess : kNotProved;
}

class BenchPersistent final : public Subcommand {
 public:
  explicit BenchPersistent(CommandLine& bench)
      : Subcommand(bench.add_subcommand("persistent", kBenchPersistentSummary)) {
    line_.add_explanation(kBenchPersistentExplanation);
    options_.sizes = "8:64Ki";
    options_.add_problem(line_);
    line_.add_option("--layout", options_.layout, "threads, per_node, processes or processes_heap")
        .type_name("LAYOUT")
        .show_default();
    options_.add_choices(line_, BenchOptions::Algorithms::all);
    options_.add_measurement(line_);
    options_.output.add_to(line_);
  }

  ExitStatus run() override {
    const BenchSettings settings = options_.settings(Subject::persistent);
    if (settings.layout == Layout::native) {
      throw Error(
          ErrorKind::invalid_argument,
          "--layout 'native': the MPI library's own stands beside per_node and processes. Give one "
          "of those, or threads");
    }
    return run_bench_job(options_, settings, run_persistent_job);
  }

 private:
  BenchOptions options_;
};

}  // namespace

std::unique_ptr<Subcommand> add_bench_persistent(CommandLine& bench) {
  return std::make_unique<BenchPersistent>(bench);
}

}  // namespace hycoll::command
