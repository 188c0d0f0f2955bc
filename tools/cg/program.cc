#include "tools/cg/program.h"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "numa/placement/binding.h"
#include "numa/topology/topology.h"
#include "tools/application/program.h"
#include "tools/application/thread_count.h"
#include "tools/cg/command_line.h"
#include "tools/cg/distribution.h"
#include "tools/cg/experiment.h"
#include "tools/cg/report.h"
#include "tools/cg/stencil.h"

namespace hycoll::cg {
namespace {

using application::kSuccess;
using application::process_rank;

/// As --help tells.
constexpr int kDisagreement = 1;

/// The least level that all chosen reductions work with: a lower one spares the MPI library locks.
int needed_thread_level(const CommandLine& command_line) {
  int level = MPI_THREAD_FUNNELED;
  for (const ReductionKind kind : command_line.reductions) {
    level = std::max(level, required_thread_level(kind));
  }
  return level;
}

ReportContext describe(const System& system, const CommandLine& command_line, int thread_count,
                       const Topology& machine) {
  ReportContext context;
  context.system = system.description;
  context.row_count = system.global_row_count;
  context.nonzero_count = system.global_nonzero_count;
  MPI_Comm_size(MPI_COMM_WORLD, &context.process_count);
  context.thread_count = thread_count;
  context.machine = machine.summary();
  context.mpi_library = application::mpi_library_name();
  context.mpi_thread_level = application::provided_thread_level();
  context.limits = command_line.limits;
  return context;
}

int run(const CommandLine& command_line) {
  std::ofstream json_file = application::open_json(command_line.json_path);
  const System system = command_line.matrix_path.empty()
                            ? make_stencil_system(command_line.size, MPI_COMM_WORLD)
                            : make_matrix_file_system(command_line.matrix_path, MPI_COMM_WORLD);
  const int thread_count = command_line.thread_count > 0
                               ? command_line.thread_count
                               : application::choose_thread_count(MPI_COMM_WORLD);
  // Described before hycoll binds threads.
  const Topology machine = Topology::this_machine();
  const ReportContext context = describe(system, command_line, thread_count, machine);
  for (const auto& warning :
       {confinement_warning(machine, thread_count),
        application::oversubscription_warning(machine, thread_count, MPI_COMM_WORLD)}) {
    if (process_rank() == 0 && warning) fmt::print(stderr, "hycoll_cg: warning: {}\n", *warning);
  }

  const std::vector<Variant> variants = run_experiment(system,
                                                       {.reductions = command_line.reductions,
                                                        .limits = command_line.limits,
                                                        .thread_count = thread_count,
                                                        .repetitions = command_line.repetitions},
                                                       MPI_COMM_WORLD);
  const std::vector<std::string> disagreements = find_disagreements(variants, command_line.limits);
  application::print_results(text_report(context, variants, disagreements),
                             json_report(context, variants, disagreements).dump(2),
                             command_line.json_path, json_file);
  return disagreements.empty() ? kSuccess : kDisagreement;
}

}  // namespace

int run_program(int argc, char** argv) {
  const ParsedCommandLine parsed = parse_command_line(argc, argv);
  const auto& command_line = parsed.command_line;
  std::function<int()> work;
  if (command_line) work = [&] { return run(*command_line); };
  return application::run_program(
      "hycoll_cg", command_line ? needed_thread_level(*command_line) : MPI_THREAD_SINGLE, argc,
      argv, work, parsed);
}

}  // namespace hycoll::cg
