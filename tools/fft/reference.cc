#include "tools/fft/reference.h"

#ifdef HYCOLL_FFT_OVER_MPI
#include <fftw3-mpi.h>
#endif

#include <cstddef>
#include <memory>

#include "tools/fft/experiment.h"

namespace hycoll::fft {

#ifdef HYCOLL_FFT_OVER_MPI

namespace {

struct FftwFree {
  void operator()(fftw_complex* data) const { fftw_free(data); }
};

struct Blocks {
  std::ptrdiff_t size;
  std::ptrdiff_t first;
};

/// From FFTW's blocks of the result, which need not be equal, to equal ones.
std::vector<Complex> in_equal_parts(const fftw_complex* result, const Blocks& own, std::size_t size,
                                    MPI_Comm comm) {
  int process_count = 1;
  int rank = 0;
  MPI_Comm_size(comm, &process_count);
  MPI_Comm_rank(comm, &rank);
  const auto processes = static_cast<std::size_t>(process_count);
  std::vector<Blocks> blocks(processes);
  MPI_Allgather(&own, sizeof(own), MPI_BYTE, blocks.data(), sizeof(own), MPI_BYTE, comm);
  const auto part_size = static_cast<std::ptrdiff_t>(size / processes);
  const auto common = [&](const Blocks& block, int part) {
    const std::ptrdiff_t begin = std::max(block.first, part_size * part);
    const std::ptrdiff_t end = std::min(block.first + block.size, part_size * (part + 1));
    return Blocks{.size = std::max<std::ptrdiff_t>(0, end - begin), .first = begin};
  };
  std::vector<int> sent(processes), sent_from(processes), got(processes), got_at(processes);
  for (std::size_t p = 0; p < processes; ++p) {
    const Blocks to = common(own, static_cast<int>(p));
    sent[p] = static_cast<int>(2 * to.size);
    sent_from[p] = to.size == 0 ? 0 : static_cast<int>(2 * (to.first - own.first));
    const Blocks from = common(blocks[p], rank);
    got[p] = static_cast<int>(2 * from.size);
    got_at[p] = from.size == 0 ? 0 : static_cast<int>(2 * (from.first - part_size * rank));
  }
  std::vector<Complex> part(static_cast<std::size_t>(part_size));
  MPI_Alltoallv(result, sent.data(), sent_from.data(), MPI_DOUBLE, part.data(), got.data(),
                got_at.data(), MPI_DOUBLE, comm);
  return part;
}

}  // namespace

std::string_view reference_name() { return "FFTW over MPI"; }

std::vector<Complex> reference_part(const Grid& grid, MPI_Comm comm, double& library_s) {
  fftw_mpi_init();
  const auto size = static_cast<std::ptrdiff_t>(grid.size());
  Blocks input{};
  Blocks result{};
  const std::ptrdiff_t room =
      fftw_mpi_local_size_1d(size, comm, FFTW_FORWARD, FFTW_ESTIMATE, &input.size, &input.first,
                             &result.size, &result.first);
  const std::unique_ptr<fftw_complex, FftwFree> data(
      fftw_alloc_complex(static_cast<std::size_t>(room)));
  fftw_plan plan =
      fftw_mpi_plan_dft_1d(size, data.get(), data.get(), comm, FFTW_FORWARD, FFTW_ESTIMATE);
  for (int run = 0; run < 2; ++run) {  // the first one is not measured
    for (std::ptrdiff_t i = 0; i < input.size; ++i) {
      const Complex value = element(static_cast<std::size_t>(input.first + i));
      data.get()[i][0] = value.real();
      data.get()[i][1] = value.imag();
    }
    MPI_Barrier(comm);
    const double start = MPI_Wtime();
    fftw_execute(plan);
    MPI_Barrier(comm);
    library_s = MPI_Wtime() - start;
  }
  std::vector<Complex> part = in_equal_parts(data.get(), result, grid.size(), comm);
  fftw_destroy_plan(plan);
  return part;
}

#else

std::string_view reference_name() { return "FFTW in one process"; }

std::vector<Complex> reference_part(const Grid& grid, MPI_Comm comm, double& library_s) {
  library_s = 0;
  std::vector<Complex> part = input_part(grid, comm);
  const int count = static_cast<int>(2 * part.size());
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  std::vector<Complex> all(rank == 0 ? grid.size() : 0);
  MPI_Gather(part.data(), count, MPI_DOUBLE, all.data(), count, MPI_DOUBLE, 0, comm);
  if (rank == 0) RowTransform(grid.size()).run(all.data());
  MPI_Scatter(all.data(), count, MPI_DOUBLE, part.data(), count, MPI_DOUBLE, 0, comm);
  return part;
}

#endif

}  // namespace hycoll::fft
