#include "tools/cg/program.h"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/base/errors.h"
#include "numa/placement/binding.h"
#include "numa/topology/topology.h"
#include "threading/transport/mpi/end_job.h"
#include "threading/transport/mpi/mpi_types.h"
#include "tools/cg/collective_error.h"
#include "tools/cg/command_line.h"
#include "tools/cg/distribution.h"
#include "tools/cg/experiment.h"
#include "tools/cg/report.h"
#include "tools/cg/stencil.h"
#include "tools/cg/thread_count.h"

namespace hycoll::cg {
namespace {

/// As --help tells.
constexpr int kSuccess = 0;
constexpr int kDisagreement = 1;
constexpr int kUnusableInput = 2;

int process_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

/// The first line, or what of it comes before the first comma, of what the library says of itself.
std::string mpi_library_name() {
  std::string text(MPI_MAX_LIBRARY_VERSION_STRING, '\0');
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  text.resize(std::min(text.find_first_of(",\n"), static_cast<std::size_t>(length)));
  std::replace(text.begin(), text.end(), '\t', ' ');
  while (!text.empty() && (text.back() == ' ' || text.back() == '\0')) text.pop_back();
  return text;
}

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
  context.mpi_library = mpi_library_name();
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  context.mpi_thread_level = thread_level_name(level);
  context.limits = command_line.limits;
  return context;
}

/// Opened before the work, so that a wrong path is found out in time.
std::ofstream open_json(const std::string& path) {
  std::ofstream file;
  if (path.empty() || path == "-") return file;
  on_rank_0(MPI_COMM_WORLD, [&] {
    file.open(path);
    if (!file) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("--json {}: cannot be written; give a path in a directory that "
                              "exists, or - for standard output",
                              path));
    }
  });
  return file;
}

void print_report(const ReportContext& context, const std::vector<Variant>& variants,
                  const std::vector<std::string>& disagreements, const std::string& json_path,
                  std::ofstream& json_file) {
  const bool json_on_output = json_path == "-";
  fmt::print(json_on_output ? stderr : stdout, "{}", text_report(context, variants, disagreements));
  if (json_path.empty()) return;
  const std::string json = json_report(context, variants, disagreements).dump(2) + "\n";
  if (json_on_output) {
    fmt::print("{}", json);
  } else {
    json_file << json;
  }
}

int run(const CommandLine& command_line) {
  std::ofstream json_file = open_json(command_line.json_path);
  const System system = command_line.matrix_path.empty()
                            ? make_stencil_system(command_line.size, MPI_COMM_WORLD)
                            : make_matrix_file_system(command_line.matrix_path, MPI_COMM_WORLD);
  const int thread_count = command_line.thread_count > 0 ? command_line.thread_count
                                                         : choose_thread_count(MPI_COMM_WORLD);
  // Described before hycoll binds threads.
  const Topology machine = Topology::this_machine();
  const ReportContext context = describe(system, command_line, thread_count, machine);
  for (const auto& warning : {confinement_warning(machine, thread_count),
                              oversubscription_warning(machine, thread_count, MPI_COMM_WORLD)}) {
    if (process_rank() == 0 && warning) fmt::print(stderr, "hycoll_cg: warning: {}\n", *warning);
  }

  const std::vector<Variant> variants = run_experiment(system,
                                                       {.reductions = command_line.reductions,
                                                        .limits = command_line.limits,
                                                        .thread_count = thread_count,
                                                        .repetitions = command_line.repetitions},
                                                       MPI_COMM_WORLD);
  const std::vector<std::string> disagreements = find_disagreements(variants, command_line.limits);
  if (process_rank() == 0) {
    print_report(context, variants, disagreements, command_line.json_path, json_file);
  }
  return disagreements.empty() ? kSuccess : kDisagreement;
}

/// Errors of the input are the same on all processes, which end in good order. Any other may have
/// struck this process only, while the others wait for it.
int run_and_report_errors(const CommandLine& command_line) {
  try {
    return run(command_line);
  } catch (const Error& error) {
    const bool everywhere =
        error.kind() == ErrorKind::invalid_argument || error.kind() == ErrorKind::unsupported;
    if (!everywhere) end_job(fmt::format("hycoll_cg: {}", error.what()), kUnusableInput);
    if (process_rank() == 0) fmt::print(stderr, "hycoll_cg: {}\n", error.what());
    return kUnusableInput;
  } catch (const std::exception& error) {
    end_job(fmt::format("hycoll_cg: process {}: {}", process_rank(), error.what()), kUnusableInput);
  }
}

}  // namespace

int run_program(int argc, char** argv) {
  const ParsedCommandLine parsed = parse_command_line(argc, argv);
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(
      &argc, &argv,
      parsed.command_line ? needed_thread_level(*parsed.command_line) : MPI_THREAD_SINGLE,
      &provided);
  int status = parsed.exit_code;
  if (parsed.command_line) {
    status = run_and_report_errors(*parsed.command_line);
  } else if (process_rank() == 0) {
    fmt::print("{}", parsed.output);
    fmt::print(stderr, "{}", parsed.error_output);
  }
  MPI_Finalize();
  return status;
}

}  // namespace hycoll::cg
