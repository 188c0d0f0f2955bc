// hycoll bench: times of a collective, under mpiexec, beside the MPI library's own.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "tools/command/line/arguments.h"
#include "tools/command/line/commands.h"
#include "tools/command/line/sizes.h"
#include "tools/command/line/table.h"
#include "tools/command/measuring/bench_options.h"
#include "tools/command/measuring/limit_team.h"

namespace hycoll::command {
namespace {

constexpr const char* kSummary = "Measure a collective under mpiexec";
constexpr const char* kExplanation =
    "Measures a collective under mpiexec (or with --ranks, which starts mpiexec itself).\n"
    "  mpiexec -n 2 hycoll bench allreduce --layout per_node --sizes 8:16Mi\n"
    "  hycoll bench reduce_scatter --ranks 1 --layout threads --workers 2\n"
    "  hycoll bench allreduce --ranks 2 --aggregators 1 --algorithm node-leader\n"
    "Layouts: threads, every thread is a member; per_node, every process is a member with a pool "
    "of workers; processes, every process is a member and a worker of its node, and processes_heap "
    "the same with buffers in the shared heap. With those of processes the MPI library's own "
    "collective is measured in alternation; native, the MPI library's own only, with one rank per "
    "core as usual and MPI_THREAD_SINGLE.\n"
    "reduce_scatter has equal blocks, which together are the size that is given. A barrier has no "
    "size.\n"
    "Times are of one call, in microseconds: the slowest member of each block of calls; minimum, "
    "median, 95th percentile and maximum over the blocks. Results are checked before and after.\n"
    "of limit: the time of a plain kernel with the same reads and writes in the same threads "
    "(hycoll "
    "bench limit), divided by the time of the call; for sums in one process, from 1 MiB on.\n"
    "Exit status: 0; 1 if a result was wrong; 2 for bad arguments.";

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

/// One line of the table as the sizes come.
void print_row(std::FILE* human, const Columns& columns, const BenchRow& row) {
  const measure::Summary& time = row.fastest(Role::call)->timing.call_us;
  fmt::print(human, "{:<33} {:>5} {:>7} {:>10} {:>10} {:>10} {:>10}", row.algorithm, row.lanes,
             short_size(row.size_bytes), time_text(time.minimum), time_text(time.median),
             time_text(time.p95), time_text(time.maximum));
  if (columns.native) {
    const double native_us = row.fastest(Role::native)->timing.call_us.median;
    fmt::print(human, " {:>10} {:>8}", time_text(native_us), ratio_text(native_us / time.median));
  }
  if (columns.limit) {
    const RoleTiming* const limit = row.fastest(Role::limit);
    fmt::print(human, " {:>9}",
               limit ? share_text(limit->timing.call_us.median / time.median) : "-");
  }
  fmt::print(human, "{}\n", row.verified(Role::call) ? "" : "  WRONG RESULT");
  std::fflush(human);
}

void print_header(std::FILE* human, const Columns& columns) {
  fmt::print(human, "{:<33} {:>5} {:>7} {:>10} {:>10} {:>10} {:>10}", "algorithm", "lanes", "bytes",
             "min us", "median us", "p95 us", "max us");
  if (columns.native) fmt::print(human, " {:>10} {:>8}", "MPI us", "ratio");
  if (columns.limit) fmt::print(human, " {:>9}", "of limit");
  fmt::print(human, "\n");
}

/// The times that calls are compared with.
void add_others(Json& record, const BenchJob& job, const BenchRow& row) {
  const double call_us = row.fastest(Role::call)->timing.call_us.median;
  const RoleTiming* const native = row.fastest(Role::native);
  const RoleTiming* const limit = row.fastest(Role::limit);
  Json native_us = native ? Json(native->timing.call_us.median) : Json();
  if (job.settings().layout == Layout::native) native_us = call_us;
  record["native_median_us"] = native_us;
  record["ratio"] = native_us.is_null() ? Json() : Json(native_us.get<double>() / call_us);
  record["native_verified"] = native ? Json(native->timing.verified) : Json();
  record["limit_us"] = limit ? Json(limit->timing.call_us.median) : Json();
  record["limit_kernel"] = limit ? Json(limit->name) : Json();
  record["of_limit"] = limit ? Json(limit->timing.call_us.median / call_us) : Json();
}

Json record_of(const BenchJob& job, const BenchRow& row) {
  const Timing& timing = row.fastest(Role::call)->timing;
  const BenchSettings& settings = job.settings();
  const Problem& problem = settings.measurement.problem;
  Json record = {{"collective", name_of(problem.routine)},
                 {"algorithm", row.algorithm},
                 {"layout", name_of(settings.layout)},
                 {"nodes", row.nodes},
                 {"members", row.members},
                 {"aggregators", settings.aggregators},
                 {"workers", row.workers},
                 {"lanes", row.lanes},
                 {"segments", row.segments},
                 {"type", type_json(settings)},
                 {"op", operator_json(settings)},
                 {"root", has_root(collective_of(problem.routine)) ? Json(problem.root) : Json()},
                 {"reproducible", settings.bits == Bits::reproducible},
                 {"bytes", row.size_bytes},
                 {"min_us", timing.call_us.minimum},
                 {"median_us", timing.call_us.median},
                 {"p95_us", timing.call_us.p95},
                 {"max_us", timing.call_us.maximum},
                 {"rounds", timing.rounds},
                 {"calls_per_round", timing.calls_per_round},
                 {"verified", timing.verified}};
  add_others(record, job, row);
  return record;
}

ExitStatus run_job(BenchJob& job) {
  bool first = true;
  const BenchResult result =
      run_bench(job.session(), job.machine(), job.settings(), [&](const BenchRow& row) {
        const Columns columns = columns_of(job);
        if (first) print_header(job.human(), columns);
        first = false;
        print_row(job.human(), columns, row);
      });
  // All processes have the same rows and refusals.
  job.require_rows(result);
  const std::string_view buffer_use = describe(job.settings().measurement.inputs);
  if (job.session().speaks()) {
    for (const std::string& refusal : result.refusals) {
      fmt::print(job.human(), "left out: {}\n", refusal);
    }
    fmt::print(job.human(), "{}\n", buffer_use);
  }
  Report report{.context = job.finish("bench"), .records = {}};
  report.context["buffer_use"] = buffer_use;
  report.context["left_out"] = result.refusals;
  for (const BenchRow& row : result.rows) report.records.push_back(record_of(job, row));
  if (job.session().speaks()) job.options().output.write(report);
  for (const BenchRow& row : result.rows) {
    if (!row.verified(Role::call)) return kNotProved;
  }
  return kSuccess;
}

class Bench final : public Subcommand {
 public:
  explicit Bench(CLI::App& app) : app_(app.add_subcommand("bench", kSummary)) {
    app_->footer(kExplanation);
    options_.add_problem(*app_);
    app_->add_option("--layout", options_.layout,
                     "threads, per_node, processes, processes_heap or native")
        ->type_name("LAYOUT")
        ->capture_default_str();
    options_.add_choices(*app_, BenchOptions::Algorithms::all);
    app_->add_option("--aggregators", options_.aggregators,
                     "The last so many processes have no members and serve the algorithms that "
                     "need them; with --ranks they are started besides the ranks")
        ->check(between(0, kMaximumNodes))
        ->capture_default_str();
    app_->add_option("--emulate-nodes", options_.emulated_nodes,
                     "Layouts processes and processes_heap: the processes of a machine form so "
                     "many nodes; others: checks that as many processes run on one machine")
        ->check(between(1, kMaximumNodes));
    options_.add_measurement(*app_);
    app_->add_option("--preload", options_.preload,
                     "With --ranks: libraries that the ranks preload, separated by colons, e.g. "
                     "libhycoll_pmpi.so to measure the layout native through it")
        ->type_name("FILES");
    app_->add_flag(
        "--fresh-inputs", options_.fresh_inputs,
        "Before every timed call members write to their inputs and read their outputs, as "
        "programs do; outside of the timing");
    app_->add_flag("--native,!--no-native", options_.native,
                   "Whether layouts of processes measure the MPI library's own too (default: yes)");
    app_->add_flag("--limit,!--no-limit", options_.limit,
                   "Whether threads measures the limit too (default: yes)");
    options_.output.add_to(*app_);
    special_.push_back(add_bench_limit(*app_));
    special_.push_back(add_bench_overlap(*app_));
    special_.push_back(add_bench_persistent(*app_));
  }

  bool chosen() const override { return app_->parsed(); }

  ExitStatus run() override {
    for (const auto& special : special_) {
      if (special->chosen()) return special->run();
    }
    return run_bench_job(options_, options_.settings(Subject::call), run_job);
  }

 private:
  CLI::App* app_;
  BenchOptions options_;
  std::vector<std::unique_ptr<Subcommand>> special_;
};

}  // namespace

std::unique_ptr<Subcommand> add_bench(CLI::App& app) { return std::make_unique<Bench>(app); }

}  // namespace hycoll::command
