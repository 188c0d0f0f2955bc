// hycoll bench overlap: how much of a nonblocking call vanishes behind computation.

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "core/base/errors.h"
#include "tools/command/line/arguments.h"
#include "tools/command/line/command_line.h"
#include "tools/command/line/commands.h"
#include "tools/command/line/sizes.h"
#include "tools/command/line/table.h"
#include "tools/command/measuring/bench_options.h"
#include "tools/command/measuring/bench_records.h"
#include "tools/command/measuring/contestants.h"
#include "tools/command/measuring/overlap.h"

namespace hycoll::command {
namespace {

constexpr const char* kBenchOverlapSummary =
    "Measure how much of a nonblocking call computation hides";
constexpr const char* kBenchOverlapExplanation =
    "Measures a nonblocking collective between processes, alone and with a compute loop between "
    "start and wait; beside it the MPI library's own, in alternation. The loop takes about as long "
    "as "
    "the communication, makes no call and touches no memory.\n"
    "hidden = (communication + compute - both) / communication: 1 if both together take no longer "
    "than the computation alone, 0 if they take as long as one after the other.\n"
    "  hycoll bench overlap --ranks 2 --sizes 4Mi\n"
    "Background progress needs a core of its own, or a network that moves the data by itself; "
    "MPICH makes none without MPICH_ASYNC_PROGRESS=1.\n"
    "Times are medians over the rounds, of the slowest process, in microseconds. Results are "
    "checked "
    "before and after.\n"
    "Exit status: 0; 1 if a result was wrong; 2 for bad arguments.";

/// One library at one size.
struct OverlapRow {
  std::size_t size_bytes;
  std::string algorithm;
  OverlapTimes times;
};

void print_overlap_header(const BenchJob& job) {
  fmt::print(job.human(), "{:>7} {:<33} {:>16} {:>11} {:>10} {:>8}\n", "bytes", "library",
             "communication us", "compute us", "both us", "hidden");
}

void print_overlap_row(const BenchJob& job, const OverlapRow& row) {
  fmt::print(
      job.human(), "{:>7} {:<33} {:>16} {:>11} {:>10} {:>6.0f} %{}\n", short_size(row.size_bytes),
      row.algorithm.empty() ? row.times.name : fmt::format("{} {}", row.times.name, row.algorithm),
      time_text(row.times.communication_us), time_text(row.times.compute_us),
      time_text(row.times.both_us), 100 * row.times.hidden(),
      row.times.verified ? "" : "  WRONG RESULT");
  std::fflush(job.human());
}

Json record_of(const BenchJob& job, const OverlapRow& row) {
  const BenchSettings& settings = job.settings();
  return {{"collective", name_of(settings.measurement.problem.routine)},
          {"library", row.times.name},
          {"algorithm", row.algorithm},
          {"nodes", job.session().size},
          {"type", type_json(settings.measurement.problem)},
          {"op", operator_json(settings.measurement.problem)},
          {"bytes", row.size_bytes},
          {"communication_us", row.times.communication_us},
          {"compute_us", row.times.compute_us},
          {"both_us", row.times.both_us},
          {"hidden", row.times.hidden()},
          {"rounds", row.times.rounds},
          {"verified", row.times.verified}};
}

/// All libraries at one size.
std::vector<OverlapRow> measure(const BenchJob& job, Communicator& communicator, Crew& crew,
                                std::size_t size_bytes) {
  const BenchSettings& settings = job.settings();
  const Problem& problem = settings.measurement.problem;
  const std::size_t count = size_bytes / size_of(problem.type);
  std::vector<std::unique_ptr<NonblockingCalls>> libraries;
  libraries.push_back(hycoll_nonblocking(communicator, problem, count));
  if (settings.native == NativeToo::yes) {
    libraries.push_back(native_nonblocking(job.session().world, problem, count));
  }
  const std::vector<OverlapTimes> times =
      measure_overlap(crew, job.session().rank, job.session().size, size_bytes, libraries,
                      {.problem = problem,
                       .rounds = settings.measurement.rounds,
                       .seconds = settings.measurement.seconds});
  const std::string algorithm =
      communicator.choice(call_of(problem, count, job.session().size, nullptr, nullptr)).algorithm;
  std::vector<OverlapRow> rows;
  for (const OverlapTimes& one : times) {
    rows.push_back({size_bytes, rows.empty() ? algorithm : "", one});
  }
  return rows;
}

ExitStatus run_overlap_job(BenchJob& job) {
  const BenchSettings& settings = job.settings();
  const Problem& problem = settings.measurement.problem;
  check_root(problem.root, job.session().size);
  for (const std::size_t size_bytes : settings.sizes_bytes) {
    const std::size_t count = size_bytes / size_of(problem.type);
    if (const auto reason = unsuitable_count(problem, count, job.session().size)) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("--sizes '{}': {}. Give other sizes", job.options().sizes, *reason));
    }
  }
  Communicator communicator(job.session().world, hycoll_options(settings, settings.algorithm));
  Crew crew(job.session().world, 1);
  if (job.session().speaks()) print_overlap_header(job);
  Report report;
  bool verified = true;
  for (const std::size_t size_bytes : settings.sizes_bytes) {
    for (const OverlapRow& row : measure(job, communicator, crew, size_bytes)) {
      if (job.session().speaks()) print_overlap_row(job, row);
      report.records.push_back(record_of(job, row));
      verified = verified && row.times.verified;
    }
  }
  report.context = job.finish("bench overlap");
  report.context["workers"] = communicator.worker_count();
  if (job.session().speaks()) job.options().output.write(report);
  return verified ? kSuccess : kNotProved;
}

class BenchOverlap final : public Subcommand {
 public:
  explicit BenchOverlap(CommandLine& bench)
      : Subcommand(bench.add_subcommand("overlap", kBenchOverlapSummary)) {
    line_.add_explanation(kBenchOverlapExplanation);
    options_.sizes = "4Mi";
    options_.seconds = 1;
    options_.add_problem(line_);
    options_.add_choices(line_, BenchOptions::Algorithms::one);
    options_.add_measurement(line_);
    line_.add_flag("--native,!--no-native", options_.native,
                   "Whether the MPI library's own is measured too (default: yes)");
    options_.output.add_to(line_);
  }

  ExitStatus run() override {
    const BenchSettings settings = options_.settings(Subject::call);
    if (settings.algorithm == "all") {
      throw Error(ErrorKind::invalid_argument,
                  "--algorithm 'all': one at a time is measured here. Give a name, or auto");
    }
    return run_bench_job(options_, settings, run_overlap_job);
  }

 private:
  BenchOptions options_;
};

}  // namespace

std::unique_ptr<Subcommand> add_bench_overlap(CommandLine& bench) {
  return std::make_unique<BenchOverlap>(bench);
}

}  // namespace hycoll::command
