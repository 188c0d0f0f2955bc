// hycoll calibrate: what a machine's steps cost, as machine files have it.

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/errors.h"
#include "tools/command/calibrating/calibration_report.h"
#include "tools/command/calibrating/calibration_run.h"
#include "tools/command/line/arguments.h"
#include "tools/command/line/command_line.h"
#include "tools/command/line/commands.h"
#include "tools/command/line/output.h"
#include "tools/command/line/progress.h"
#include "tools/command/line/sizes.h"
#include "tools/command/measuring/launch.h"
#include "tools/command/measuring/machine_context.h"
#include "tools/command/measuring/mpi_session.h"

namespace hycoll::command {
namespace {

constexpr const char* kCalibrateSummary = "Measure what a machine's steps cost";
constexpr const char* kCalibrateExplanation =
    "Measures the prices by which hycoll chooses between nodes and prices plans: messages of one "
    "lane and of several at once, copies and reductions of one worker and of several, and cache "
    "lines from core to core. Everything takes turns and is repeated; medians and quartiles are "
    "told. What other programs have disturbed does not count, and a price that could not be told "
    "keeps its default.\n"
    "  mpiexec -hosts a,b -ppn 1 hycoll calibrate --output machine.json\n"
    "measures messages between two machines, from that of rank 0 to the next one. By itself\n"
    "  hycoll calibrate --output machine.json --svg throughput.svg\n"
    "starts two ranks here, and the prices of messages between nodes keep their defaults.\n"
    "  HYCOLL_MACHINE=machine.json mpiexec ./program\n"
    "  hycoll plan --machine machine.json --price default\n"
    "use the file. Zones are those of DPML's figure 1: in zone A several pairs of lanes have as "
    "many times the throughput of one, in zone C they have no more than one (docs/models.md).\n"
    "Exit status: 0; 2 for bad arguments.";

struct CalibrateOptions {
  std::string sizes = "8:4Mi";
  double seconds = 20;
  int lanes = 0;
  int ranks = 2;
  std::string machine_path;  // "": not written
  std::string svg_path;      // the same
  OutputOptions output;
};

constexpr double kMostSeconds = 60;

Json about(const MpiSession& session, const Topology& machine, const CalibrationRun& run) {
  Json about = about_measurement(machine);
  about["transport"] = run.transport;
  about["ranks"] = session.size;
  about["lanes"] = run.lanes;
  return about;
}

ExitStatus run_calibrate(const MpiSession& session, const CalibrateOptions& options,
                         const CalibrationSettings& settings) {
  constexpr std::size_t kSteps = 1000;
  const Topology machine = unbound_machine();
  std::optional<ProgressBar> progress;
  if (session.speaks()) progress.emplace(kSteps);
  const CalibrationRun run = calibrate(session, machine, settings, [&](double part) {
    progress->set(static_cast<std::size_t>(part * kSteps), kSteps);
  });
  progress.reset();
  if (!session.speaks()) return kSuccess;
  const Json context = about(session, machine, run);
  fmt::print(options.output.human(), "{}", calibration_text(run.calibration));
  if (!options.machine_path.empty()) {
    write_file("--output", options.machine_path, machine_file_text(run.calibration, context));
  }
  if (!options.svg_path.empty()) {
    write_file("--svg", options.svg_path, throughput_picture(run.calibration));
  }
  options.output.write(calibration_report(run.calibration, context));
  return kSuccess;
}

class Calibrate final : public Subcommand {
 public:
  explicit Calibrate(CommandLine& line)
      : Subcommand(line.add_subcommand("calibrate", kCalibrateSummary)) {
    line_.add_explanation(kCalibrateExplanation);
    line_.add_option("--sizes", options_.sizes, "Bytes of a message")
        .type_name("LIST")
        .show_default();
    line_.add_option("--seconds", options_.seconds, "For all measurements")
        .check_range(0.01, kMostSeconds)
        .show_default();
    line_
        .add_option("--lanes", options_.lanes,
                    "Lanes of each rank (default: one for each of its cores, 16 at most)")
        .check(between(1, kMaximumLanes));
    line_
        .add_option("--ranks", options_.ranks,
                    "Outside of a job: starts this many ranks here, under mpiexec")
        .check(between(1, kMaximumNodes))
        .show_default();
    options_.output.add_file(
        line_, "-o,--output", options_.machine_path,
        "Write a machine file with the prices, for --machine and HYCOLL_MACHINE");
    options_.output.add_file(line_, "--svg", options_.svg_path,
                             "Draw the throughput of several pairs over the size of messages");
    options_.output.add_to(line_);
  }

  ExitStatus run() override {
    options_.output.check();
    CalibrationSettings settings{.seconds = options_.seconds,
                                 .sizes = parse_sizes("--sizes", options_.sizes),
                                 .lanes = options_.lanes};
    std::ranges::sort(settings.sizes);
    if (settings.sizes.front() == 0) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("--sizes '{}': messages of 0 bytes have no throughput. Give 1 byte "
                              "or more",
                              options_.sizes));
    }
    start_ranks_outside_of_job(options_.ranks);
    return run_with_mpi(ThreadLevel::multiple, [&](const MpiSession& session) {
      return run_calibrate(session, options_, settings);
    });
  }

 private:
  CalibrateOptions options_;
};

}  // namespace

std::unique_ptr<Subcommand> add_calibrate(CommandLine& line) {
  return std::make_unique<Calibrate>(line);
}

}  // namespace hycoll::command
