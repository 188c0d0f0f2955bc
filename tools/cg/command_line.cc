#include "tools/cg/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>

namespace hycoll::cg {
namespace {

constexpr const char* kDescription =
    R"(Conjugate gradients in MPI and OpenMP, with dot products through hycoll and through MPI.

Solves one system with every chosen kind of reduction in alternation, checks that all come to the
same solution, and compares their times. Starts under mpiexec, with any number of processes; each
runs one parallel region of OpenMP threads:

  mpiexec -n 2 hycoll_cg --size 16 --threads 1
  hycoll_cg --matrix bcsstk14.mtx --iterations 20000

The system is HPCG's 27-point stencil, of which every process has --size cells, or a Matrix Market
file. Its right-hand side makes 1 the exact solution.)";

constexpr const char* kFooter =
    R"(Exit status: 0 all converged to the same residual; 1 they did not; 2 the input is unusable.)";

/// The numbers that follow --size: one for all directions, or one each.
std::optional<GridSize> grid_size(const std::vector<int>& sizes) {
  if (sizes.size() == 1) return GridSize{sizes[0], sizes[0], sizes[0]};
  if (sizes.size() == 3) return GridSize{sizes[0], sizes[1], sizes[2]};
  return std::nullopt;
}

/// The kinds with these names, each once, in the order of their first mention.
std::vector<ReductionKind> reduction_kinds(const std::vector<std::string>& names) {
  std::vector<ReductionKind> kinds;
  for (const std::string& name : names) {
    for (const ReductionKind kind : kAllReductionKinds) {
      const bool known = std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
      if (name_of(kind) == name && !known) kinds.push_back(kind);
    }
  }
  return kinds;
}

std::vector<std::string> all_reduction_names() {
  std::vector<std::string> names;
  for (const ReductionKind kind : kAllReductionKinds) names.emplace_back(name_of(kind));
  return names;
}

/// Options as typed that still have to be understood.
struct Words {
  std::vector<int> sizes;
  std::vector<std::string> reductions;
};

/// Both targets hold the defaults and outlive the parsing.
void add_options(CLI::App& app, CommandLine& target, Words& words) {
  app.option_defaults()->always_capture_default();
  CLI::Option* const size =
      app.add_option("--size", words.sizes, "Cells per process: N, or NX,NY,NZ")->delimiter(',');
  size->check(CLI::PositiveNumber)->type_name("N[,N,N]");
  app.add_option("--matrix", target.matrix_path, "Solve with this symmetric Matrix Market file")
      ->excludes(size)
      ->type_name("FILE")
      ->always_capture_default(false);
  app.add_option("--iterations", target.limits.maximum_iterations, "At most so many iterations")
      ->check(CLI::PositiveNumber);
  app.add_option("--tolerance", target.limits.tolerance,
                 "Stop when the residual is this small, relative to the right-hand side")
      ->check(CLI::Range(1e-16, 0.5));
  app.add_option("--threads", target.thread_count,
                 "OpenMP threads per process; 0: OMP_NUM_THREADS if set, else one per core of the "
                 "process's share of its node")
      ->check(CLI::Range(0, 1024));
  app.add_option("--repetitions", target.repetitions, "Solve so many times with each reduction")
      ->check(CLI::PositiveNumber);
  app.add_option("--reductions", words.reductions,
                 "threads: hycoll's Team, every thread a member; per_node: OpenMP, then hycoll's "
                 "Communicator; mpi: OpenMP, then MPI_Allreduce")
      ->delimiter(',')
      ->check(CLI::IsMember(all_reduction_names()))
      ->type_name("KIND[,KIND...]");
  app.add_option("--json", target.json_path,
                 "Write the results to FILE; - writes them to standard output, and the table to "
                 "standard error")
      ->type_name("FILE")
      ->always_capture_default(false);
}

}  // namespace

ParsedCommandLine parse_command_line(int argc, const char* const* argv) {
  CommandLine result;
  Words words{.sizes = {result.size.x}, .reductions = all_reduction_names()};
  CLI::App app(kDescription, "hycoll_cg");
  app.footer(kFooter);
  add_options(app, result, words);
  try {
    app.parse(argc, argv);
    const std::optional<GridSize> grid = grid_size(words.sizes);
    if (!grid) {
      throw CLI::ValidationError("--size", "expected one number, or three as in 64,64,32");
    }
    result.size = *grid;
    result.reductions = reduction_kinds(words.reductions);
    return {.command_line = result, .output = {}, .error_output = {}, .exit_code = 0};
  } catch (const CLI::ParseError& error) {
    constexpr int kUnusableInput = 2;
    std::ostringstream output;
    std::ostringstream error_output;
    const int code = app.exit(error, output, error_output);
    return {.command_line = std::nullopt,
            .output = output.str(),
            .error_output = error_output.str(),
            .exit_code = code == 0 ? 0 : kUnusableInput};
  }
}

}  // namespace hycoll::cg
