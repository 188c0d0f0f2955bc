// Transforms in every layout are those of FFTW, and a result that is not is noticed.

#include <doctest/doctest.h>
#include <mpi.h>

#include <string>
#include <vector>

#include "core/base/errors.h"
#include "tools/fft/experiment.h"
#include "tools/fft/reference.h"
#include "tools/fft/report.h"

namespace hycoll::fft {
namespace {

int process_count() {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

Settings settings_of(std::size_t rows, std::size_t columns) {
  return {.grid = {rows, columns},
          .layouts = {Layout::threads, Layout::per_node, Layout::mpi},
          .thread_count = 2,
          .repetitions = 2};
}

TEST_CASE("every layout transforms as FFTW does, and a wrong result is noticed") {
  const auto members = static_cast<std::size_t>(2 * process_count());
  for (const Settings& settings :
       {settings_of(3 * members, 5 * members), settings_of(64 * members, members)}) {
    double library_s = 0;
    std::vector<Complex> reference = reference_part(settings.grid, MPI_COMM_WORLD, library_s);
    const std::vector<Variant> variants = run_experiment(settings, reference, MPI_COMM_WORLD);
    REQUIRE(variants.size() == 3);
    for (const Variant& variant : variants) {
      CAPTURE(name_of(variant.layout));
      CHECK(variant.relative_error <= tolerance(settings.grid));
      CHECK(variant.runs.size() == 2);
      CHECK(variant.runs.front().whole_s > 0);
    }
    reference.back() += Complex(0.01, 0);
    for (const Variant& variant : run_experiment(settings, reference, MPI_COMM_WORLD)) {
      CHECK(variant.relative_error > tolerance(settings.grid));
    }
  }
}

TEST_CASE("a grid that the members cannot share is refused, with its numbers") {
  const Settings settings = settings_of(static_cast<std::size_t>(2 * process_count()) + 1, 24);
  std::string message;
  try {
    run_experiment(settings, {}, MPI_COMM_WORLD);
  } catch (const Error& error) {
    message = error.what();
  }
  const std::string rows = std::to_string(settings.grid.rows);
  CHECK(message.find("--size " + rows + ",24: " + rows + " is no multiple of ") == 0);
}

}  // namespace
}  // namespace hycoll::fft
