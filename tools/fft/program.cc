#include "tools/fft/program.h"

#include <mpi.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

#include "numa/topology/topology.h"
#include "tools/application/program.h"
#include "tools/application/thread_count.h"
#include "tools/fft/command_line.h"
#include "tools/fft/experiment.h"
#include "tools/fft/reference.h"
#include "tools/fft/report.h"

namespace hycoll::fft {
namespace {

/// As --help tells.
constexpr int kWrongResult = 1;

int run(CommandLine command_line) {
  std::ofstream json_file = application::open_json(command_line.json_path);
  Settings& settings = command_line.settings;
  if (settings.thread_count == 0) {
    settings.thread_count = application::choose_thread_count(MPI_COMM_WORLD);
  }
  ReportContext context;
  context.grid = settings.grid;
  MPI_Comm_size(MPI_COMM_WORLD, &context.process_count);
  require_equal_parts(settings, context.process_count);
  context.thread_count = settings.thread_count;
  context.machine = Topology::this_machine().summary();  // before hycoll binds threads
  context.mpi_library = application::mpi_library_name();
  context.reference = reference_name();
  const std::vector<Complex> reference =
      reference_part(settings.grid, MPI_COMM_WORLD, context.library_s);
  const std::vector<Variant> variants = run_experiment(settings, reference, MPI_COMM_WORLD);
  application::print_results(text_report(context, variants), json_report(context, variants).dump(2),
                             command_line.json_path, json_file);
  const bool is_right = std::ranges::all_of(variants, [&](const Variant& variant) {
    return variant.relative_error <= tolerance(settings.grid);
  });
  return is_right ? application::kSuccess : kWrongResult;
}

}  // namespace

int run_program(int argc, char** argv) {
  const ParsedCommandLine parsed = parse_command_line(argc, argv);
  std::function<int()> work;
  if (parsed.command_line) work = [&] { return run(*parsed.command_line); };
  return application::run_program("hycoll_fft", MPI_THREAD_MULTIPLE, argc, argv, work, parsed);
}

}  // namespace hycoll::fft
