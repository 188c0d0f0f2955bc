#include "tools/fft/command_line.h"

#include <CLI/CLI.hpp>
#include <vector>

namespace hycoll::fft {
namespace {

constexpr const char* kDescription =
    R"(A Fourier transform of one long vector that is spread over all members, in MPI and OpenMP.

The six-step algorithm, as in HPCC's global FFT: the vector is a matrix, which is transposed three times by
all-to-alls, and whose rows FFTW transforms. Every chosen layout transforms the same vector, in turns; the results
are compared with FFTW's own, and the times shown for each phase. Starts under mpiexec, with any number of processes:

  mpiexec -n 2 hycoll_fft --size 1024,1024 --threads 1
  hycoll_fft --size 2048,2048 --threads 8 --layouts threads,mpi

Both numbers of --size, whose product is the vector's length, must be multiples of the number of members.)";

constexpr const char* kFooter =
    R"(Exit status: 0 all results are right; 1 one is not; 2 the input is unusable.)";

}  // namespace

ParsedCommandLine parse_command_line(int argc, const char* const* argv) {
  CommandLine result;
  std::vector<std::size_t> size = {512, 512};
  std::vector<std::string> layouts = application::names_of(kAllLayouts);
  CLI::App app(kDescription, "hycoll_fft");
  app.footer(kFooter);
  app.option_defaults()->always_capture_default();
  result.settings.thread_count = 0;
  app.add_option("--size", size, "The vector as a matrix: rows and columns")
      ->delimiter(',')
      ->expected(2)
      ->check(CLI::Range(1, 1 << 20))
      ->type_name("R,C");
  app.add_option("--threads", result.settings.thread_count,
                 "OpenMP threads per process; 0: OMP_NUM_THREADS if set, else one per core of the "
                 "process's share of its node")
      ->check(CLI::Range(0, 1024));
  app.add_option("--repetitions", result.settings.repetitions, "Transforms of each layout")
      ->check(CLI::PositiveNumber);
  app.add_option("--layouts", layouts,
                 "threads: hycoll's Team, every thread a member; per_node: OpenMP inside, and "
                 "hycoll's Communicator; mpi: OpenMP inside, and MPI_Alltoall")
      ->delimiter(',')
      ->check(CLI::IsMember(application::names_of(kAllLayouts)))
      ->type_name("LAYOUT[,LAYOUT...]");
  app.add_option("--json", result.json_path,
                 "Write the results to FILE; - writes them to standard output, and the table to "
                 "standard error")
      ->type_name("FILE")
      ->always_capture_default(false);
  try {
    app.parse(argc, argv);
    result.settings.grid = {.rows = size[0], .columns = size[1]};
    // Counts of MPI's are integers, of two numbers for each element.
    if (result.settings.grid.size() >= (std::size_t{1} << 30)) {
      throw CLI::ValidationError("--size", "the vector has 1,073,741,824 elements or more");
    }
    result.settings.layouts = application::kinds_named<Layout>(layouts, kAllLayouts);
    return {{}, result};
  } catch (const CLI::ParseError& error) {
    return {application::instead_of_running(app, error), std::nullopt};
  }
}

}  // namespace hycoll::fft
