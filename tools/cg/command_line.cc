#include "tools/cg/command_line.h"

#include <CLI/CLI.hpp>

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
      ->check(CLI::IsMember(application::names_of(kAllReductionKinds)))
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
  Words words{.sizes = {result.size.x}, .reductions = application::names_of(kAllReductionKinds)};
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
    result.reductions =
        application::kinds_named<ReductionKind>(words.reductions, kAllReductionKinds);
    return {{}, result};
  } catch (const CLI::ParseError& error) {
    return {application::instead_of_running(app, error), std::nullopt};
  }
}

}  // namespace hycoll::cg
