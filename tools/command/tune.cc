// hycoll tune: which algorithm is fastest here.

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/errors.h"
#include "tools/command/line/arguments.h"
#include "tools/command/line/command_line.h"
#include "tools/command/line/commands.h"
#include "tools/command/line/output.h"
#include "tools/command/line/progress.h"
#include "tools/command/line/sizes.h"
#include "tools/command/line/table.h"
#include "tools/command/measuring/launch.h"
#include "tools/command/measuring/machine_context.h"
#include "tools/command/measuring/mpi_session.h"
#include "tools/command/tuning/tuning_file.h"
#include "tools/command/tuning/tuning_run.h"

namespace hycoll::command {
namespace {

constexpr const char* kTuneSummary = "Measure which algorithm is fastest here";
constexpr const char* kTuneExplanation =
    "Measures what `auto` may take, each in turn with the others and with the MPI library's own: "
    "at few sizes first, then where the fastest one changes. Where `auto` is within 5 % of the "
    "best, it stays.\n"
    "  mpiexec -n 2 hycoll tune --output tuning.json\n"
    "  hycoll tune --ranks 1 --layouts threads --workers 2 --output tuning.json --resume\n"
    "  HYCOLL_TUNING=tuning.json mpiexec -n 2 ./program\n"
    "The file is written after each collective: what is interrupted is not lost, and --resume goes "
    "on. Files of different jobs are joined by --merge (docs/tune.md).\n"
    "Exit status: 0; 2 for bad arguments.";

struct TuneOptions {
  std::string collectives = "all";
  std::string layouts = "processes";
  std::string sizes = "8:16Mi";
  double seconds = 120;
  int workers = 0;
  int emulated_nodes = 0;
  int ranks = 2;
  std::string path;  // --output
  bool resumes = false;
  std::vector<std::string> merged;
  OutputOptions output;
};

std::vector<Routine> tuned_routines(const std::string& names) {
  std::vector<Routine> routines;
  if (names == "all") {
    for (int c = 0; c < kCollectiveCount; ++c) routines.push_back(static_cast<Routine>(c));
    return routines;
  }
  for (const std::string& name : split(names, ',')) {
    const std::optional<Routine> routine = parse_routine(name);
    if (!routine || *routine == Routine::barrier) {
      throw Error(
          ErrorKind::invalid_argument,
          fmt::format("--collectives '{}': '{}' is none of {} (a barrier has no size). Give "
                      "some of them, with commas between, or all",
                      names, name, routine_names()));
    }
    routines.push_back(*routine);
  }
  return routines;
}

std::vector<Layout> tuned_layouts(const std::string& names) {
  std::vector<Layout> layouts;
  for (const std::string& name : split(names, ',')) {
    const Layout layout = parse_layout("--layouts", name);
    if (layout == Layout::native || layout == Layout::processes_heap) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("--layouts '{}': '{}' has no choices of its own. Give some of "
                              "processes, per_node and threads",
                              names, name));
    }
    layouts.push_back(layout);
  }
  return layouts;
}

Json about_tuning(const MpiSession& session, const Topology& machine) {
  Json about = about_measurement(machine);
  about["ranks"] = session.size;
  return about;
}

std::string size_of_cell(const Json& cell) {
  return short_size(cell.at("bytes").get<std::size_t>());
}

/// What has changed, and what it gains.
void print_cells(std::FILE* human, const std::vector<Json>& cells) {
  TextTable table({"collective", "nodes", "members", "bytes", "fastest", "lanes", "us",
                   "auto takes", "us", "gain", "MPI us"});
  for (const Json& cell : cells) {
    const Json& by_rule = cell.at("auto");
    const double best_us = cell.at("us").get<double>();
    const double rule_us = by_rule.at("us").get<double>();
    table.add_row({cell.at("collective").get<std::string>(), json_text(cell.at("nodes")),
                   json_text(cell.at("members")), size_of_cell(cell),
                   cell.at("algorithm").get<std::string>(), json_text(cell.at("lanes")),
                   time_text(best_us), by_rule.at("algorithm").get<std::string>(),
                   time_text(rule_us), best_us > 0 ? ratio_text(rule_us / best_us) : "-",
                   cell.contains("mpi_us") ? time_text(cell.at("mpi_us").get<double>()) : "-"});
  }
  fmt::print(human, "{}", table.to_text());
}

class Tune final : public Subcommand {
 public:
  explicit Tune(CommandLine& line) : Subcommand(line.add_subcommand("tune", kTuneSummary)) {
    line_.add_explanation(kTuneExplanation);
    line_.add_option("--collectives", options_.collectives, "Which ones, with commas between")
        .type_name("LIST")
        .show_default();
    line_.add_option("--layouts", options_.layouts, "Some of processes, per_node and threads")
        .type_name("LIST")
        .show_default();
    line_
        .add_option("--sizes", options_.sizes,
                    "Sizes of each member's vector, of which few are measured")
        .type_name("LIST")
        .show_default();
    line_
        .add_option("--seconds", options_.seconds,
                    "For all together; sizes that all need are measured in any case")
        .check_range(0.01, 86400)
        .show_default();
    line_
        .add_option("--workers", options_.workers,
                    "Threads of a process, in threads and per_node (default: one per core)")
        .check(between(1, kMaximumMembers));
    line_
        .add_option("--emulate-nodes", options_.emulated_nodes,
                    "Layout processes: the processes of a machine form so many nodes")
        .check(between(1, kMaximumNodes));
    line_
        .add_option("--ranks", options_.ranks,
                    "Outside of a job: starts this many ranks here, under mpiexec")
        .check(between(1, kMaximumNodes))
        .show_default();
    options_.output.add_file(line_, "-o,--output", options_.path,
                             "Write the tuning file, for HYCOLL_TUNING");
    line_.add_flag("--resume", options_.resumes,
                   "Keeps what the file of --output has, and measures other collectives only");
    line_.add_option(
        "--merge", options_.merged,
        "Measures nothing: joins these tuning files into that of --output; of the same "
        "call the later one counts");
    options_.output.add_to(line_);
  }

  ExitStatus run() override {
    options_.output.check();
    if (!options_.merged.empty()) return merge();
    const std::vector<Routine> routines = tuned_routines(options_.collectives);
    const std::vector<Layout> layouts = tuned_layouts(options_.layouts);
    std::vector<std::size_t> sizes = parse_sizes("--sizes", options_.sizes);
    std::erase(sizes, std::size_t{0});
    std::ranges::sort(sizes);
    if (sizes.empty()) {
      throw Error(
          ErrorKind::invalid_argument,
          fmt::format("--sizes '{}': calls without data have no choices. Give 1 byte or more",
                      options_.sizes));
    }
    if (options_.resumes && options_.path.empty()) {
      throw Error(ErrorKind::invalid_argument,
                  "--resume without --output: there is no file to go on with. Name one");
    }
    start_ranks_outside_of_job(options_.ranks);
    return run_with_mpi(ThreadLevel::multiple, [&](const MpiSession& session) {
      return tune(session, routines, layouts, sizes);
    });
  }

 private:
  ExitStatus merge() const {
    if (options_.path.empty()) {
      throw Error(ErrorKind::invalid_argument,
                  "--merge without --output: there is no file to write to. Name one");
    }
    std::vector<Json> cells;
    for (const std::string& path : options_.merged) put_cells(cells, read_cells("--merge", path));
    write_file("--output", options_.path, tuning_file_text({{"merged", options_.merged}}, cells));
    fmt::print(options_.output.human(), "{} cells of {} files\n", cells.size(),
               options_.merged.size());
    return kSuccess;
  }

  /// What the file has, if it is to be kept.
  std::vector<Json> cells_before() const {
    if (!options_.resumes || !std::filesystem::exists(options_.path)) return {};
    return read_cells("--output", options_.path);
  }

  ExitStatus tune(const MpiSession& session, const std::vector<Routine>& routines,
                  const std::vector<Layout>& layouts, const std::vector<std::size_t>& sizes) const {
    const Topology machine = unbound_machine();
    std::vector<Json> cells = cells_before();
    MPI_Barrier(session.world);  // all have read the file before it is written
    std::vector<Json> found;
    const std::size_t task_count = routines.size() * layouts.size();
    std::optional<ProgressBar> progress;
    if (session.speaks()) progress.emplace(task_count);
    std::size_t done = 0;
    for (const Layout layout : layouts) {
      for (const Routine routine : routines) {
        const TuningTask task{.routine = routine,
                              .layout = layout,
                              .workers = options_.workers,
                              .emulated_nodes = options_.emulated_nodes,
                              .sizes_bytes = sizes,
                              .seconds = options_.seconds / static_cast<double>(task_count)};
        const auto own = cells_of(session, machine, task, cells, progress);
        put_cells(cells, own);
        found.insert(found.end(), own.begin(), own.end());
        if (!session.speaks()) continue;
        progress->set(++done, task_count);
        save(tuning_file_text(about_tuning(session, machine), cells), done == task_count);
      }
    }
    progress.reset();
    if (!session.speaks()) return kSuccess;
    print_cells(options_.output.human(), found);
    Report report{.context = about_tuning(session, machine), .records = found};
    report.context["command"] = "tune";
    options_.output.write(report);
    return kSuccess;
  }

  /// Whole, or as it was, whenever this is interrupted.
  void save(const std::string& text, bool is_last) const {
    if (options_.path == "-") {
      if (is_last) write_file("--output", options_.path, text);
    } else if (!options_.path.empty()) {
      const std::string unfinished = options_.path + ".part";
      write_file("--output", unfinished, text);
      std::filesystem::rename(unfinished, options_.path);
    }
  }

  /// Nothing where the file has the collective already, for such nodes.
  std::vector<Json> cells_of(const MpiSession& session, const Topology& machine,
                             const TuningTask& task, const std::vector<Json>& before,
                             std::optional<ProgressBar>& progress) const {
    const TunedShape shape = shape_of(session, machine, task);
    const bool is_known =
        std::ranges::any_of(before, [&](const Json& cell) { return is_of_shape(cell, shape); });
    if (is_known) return {};
    std::vector<Json> cells;
    for (const TuningResult& result :
         run_tuning(session, machine, task, [&](std::size_t size_bytes) {
           progress->set_label(fmt::format("{} of {}, {}", name_of(task.routine),
                                           short_size(size_bytes), name_of(task.layout)));
         })) {
      cells.push_back(cell_of(result));
    }
    return cells;
  }

  TuneOptions options_;
};

}  // namespace

std::unique_ptr<Subcommand> add_tune(CommandLine& line) { return std::make_unique<Tune>(line); }

}  // namespace hycoll::command
