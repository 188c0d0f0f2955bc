// hycoll bench limit: how fast threads could do to memory what a collective does to it.

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
#include "tools/command/measuring/limit_team.h"
#include "tools/measure/memory_limit.h"

namespace hycoll::command {
namespace {

constexpr const char* kBenchLimitSummary =
    "Measure plain kernels with the reads and writes of a collective of threads";
constexpr const char* kBenchLimitExplanation =
    "Measures how fast the threads of one process do to memory what a collective of theirs does to "
    "it, without any coordination: each reads its slice of all inputs and writes the sums to its "
    "slice of all outputs (allreduce), of the root's output (reduce), to its own output "
    "(reduce_scatter), or prefix sums to all outputs (scan, exscan); or its slice of the root's "
    "input to all outputs but the root's (broadcast), its own input to its block of all outputs "
    "(allgather) or of the root's (gather), its block of the root's input to its own output "
    "(scatter), or its block of all inputs to its output (alltoall). The threads run on the cores "
    "on which hycoll would run them. Several kernels are measured in alternation: blocks in loops "
    "that the compiler vectorises, one pass in the widest vectors, and both with stores that "
    "bypass the "
    "caches; the fastest is the limit. GB/s counts what is read and written.\n"
    "  hycoll bench limit --workers 2 --sizes 1Mi:16Mi\n"
    "Exit status: 0; 1 if a result was wrong; 2 for bad arguments.";

double gb_per_s(const BenchJob& job, const BenchRow& row, double time_us) {
  const Collective collective = collective_of(job.settings().measurement.problem.routine);
  const std::size_t bytes =
      measure::limit_traffic_bytes(collective, row.members, row.task.size_bytes);
  return static_cast<double>(bytes) / (1e3 * time_us);
}

void print_row(const BenchJob& job, const BenchRow& row) {
  const RoleTiming* const fastest = row.fastest(Role::limit);
  for (const RoleTiming& one : row.timings) {
    const measure::Summary& time = one.timing.call_us;
    fmt::print(job.human(), "{:>7} {:<19} {:>10} {:>10} {:>10} {:>8.1f}{}{}\n",
               short_size(row.task.size_bytes), one.name, time_text(time.minimum),
               time_text(time.median), time_text(time.p95), gb_per_s(job, row, time.median),
               &one == fastest ? "  <" : "", one.timing.verified ? "" : "  WRONG RESULT");
  }
  std::fflush(job.human());
}

Json record_of(const BenchJob& job, const BenchRow& row, const RoleTiming& one) {
  const BenchSettings& settings = job.settings();
  const measure::Summary& time = one.timing.call_us;
  return {{"collective", name_of(settings.measurement.problem.routine)},
          {"kernel", one.name},
          {"workers", row.workers},
          {"type", type_json(settings.measurement.problem)},
          {"bytes", row.task.size_bytes},
          {"min_us", time.minimum},
          {"median_us", time.median},
          {"p95_us", time.p95},
          {"max_us", time.maximum},
          {"gb_per_s", gb_per_s(job, row, time.median)},
          {"fastest", &one == row.fastest(Role::limit)},
          {"verified", one.timing.verified}};
}

ExitStatus run_limit_job(BenchJob& job) {
  if (job.session().size > 1) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("this job has {} processes: the limit is that of the threads of one. "
                            "Start one process, with --workers",
                            job.session().size));
  }
  fmt::print(job.human(), "{:>7} {:<19} {:>10} {:>10} {:>10} {:>8}\n", "bytes", "kernel", "min us",
             "median us", "p95 us", "GB/s");
  const BenchResult result = job.measure([&](const BenchRow& row) { print_row(job, row); });
  Report report{.context = job.finish("bench limit"), .records = {}};
  report.context["left_out"] = result.refusals;
  bool verified = true;
  for (const BenchRow& row : result.rows) {
    verified = verified && row.verified(Role::limit);
    for (const RoleTiming& one : row.timings) report.records.push_back(record_of(job, row, one));
  }
  job.options().output.write(report);
  return verified ? kSuccess : kNotProved;
}

class BenchLimit final : public Subcommand {
 public:
  explicit BenchLimit(CommandLine& bench)
      : Subcommand(bench.add_subcommand("limit", kBenchLimitSummary)) {
    line_.add_explanation(kBenchLimitExplanation);
    options_.layout = name_of(Layout::threads);
    options_.sizes = "1Mi:16Mi";
    options_.add_problem(line_);
    options_.add_workers(line_);
    options_.add_measurement(line_);
    options_.output.add_to(line_);
  }

  ExitStatus run() override {
    const BenchSettings settings = options_.settings(Subject::limit);
    if (!LimitTeam::serves(settings.measurement.problem)) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("COLLECTIVE '{}' with --op '{}' has no limit kernel. Give another "
                              "collective than barrier, and sum",
                              options_.collective.name, options_.op));
    }
    return run_bench_job(options_, settings, run_limit_job);
  }

 private:
  BenchOptions options_;
};

}  // namespace

std::unique_ptr<Subcommand> add_bench_limit(CommandLine& bench) {
  return std::make_unique<BenchLimit>(bench);
}

}  // namespace hycoll::command
