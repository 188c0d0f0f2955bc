// A transform of two dimensions by FFTW's MPI library, there and back.

#include <fftw3-mpi.h>

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "tests/preload/support/programs.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  fftw_mpi_init();
  constexpr std::ptrdiff_t kRows = 60;
  constexpr std::ptrdiff_t kColumns = 44;
  std::ptrdiff_t rows = 0;
  std::ptrdiff_t first = 0;
  const std::ptrdiff_t size =
      fftw_mpi_local_size_2d(kRows, kColumns, MPI_COMM_WORLD, &rows, &first);
  fftw_complex* const data = fftw_alloc_complex(static_cast<std::size_t>(size));
  fftw_plan there =
      fftw_mpi_plan_dft_2d(kRows, kColumns, data, data, MPI_COMM_WORLD, FFTW_FORWARD, FFTW_MEASURE);
  fftw_plan back = fftw_mpi_plan_dft_2d(kRows, kColumns, data, data, MPI_COMM_WORLD, FFTW_BACKWARD,
                                        FFTW_MEASURE);
  const auto value = [&](std::ptrdiff_t i) {
    return static_cast<double>(
        programs::value_of(0, static_cast<std::uint64_t>(first * kColumns + i), 0) % 1000);
  };
  double sum = 0;
  for (std::ptrdiff_t i = 0; i < rows * kColumns; ++i) {
    data[i][0] = value(i);
    data[i][1] = 0;
    sum += value(i);
  }
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  fftw_execute(there);
  // The first coefficient is the sum of all values.
  if (first == 0 && rows > 0) REQUIRE_HERE(std::abs(data[0][0] - sum) <= 1e-9 * sum);
  fftw_execute(back);
  double error = 0;
  for (std::ptrdiff_t i = 0; i < rows * kColumns; ++i) {
    error = std::fmax(error, std::abs(data[i][0] / (kRows * kColumns) - value(i)));
  }
  MPI_Allreduce(MPI_IN_PLACE, &error, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  REQUIRE_HERE(error < 1e-9);
  fftw_destroy_plan(there);
  fftw_destroy_plan(back);
  fftw_free(data);
  const int rank = programs::rank_of(MPI_COMM_WORLD);
  MPI_Finalize();
  if (rank == 0) std::puts("fourier: ok");
  return 0;
}
