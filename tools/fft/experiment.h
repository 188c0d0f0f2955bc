#ifndef HYCOLL_TOOLS_FFT_EXPERIMENT_H_
#define HYCOLL_TOOLS_FFT_EXPERIMENT_H_

#include <mpi.h>

#include <span>
#include <vector>

#include "tools/fft/exchanges.h"
#include "tools/fft/six_step.h"

namespace hycoll::fft {

/// What is to be measured.
struct Settings {
  Grid grid;
  std::vector<Layout> layouts;  ///< Each once.
  int thread_count = 1;         ///< Of each process.
  int repetitions = 5;
};

/// The times of one transform: those of the slowest member in each phase, and of the whole between
/// two barriers.
struct Run {
  double whole_s = 0;
  PhaseTimes phases{};
};

/// One layout's transforms.
struct Variant {
  Layout layout;
  std::vector<Run> runs;
  double relative_error = 0;  ///< Of the result, in the Euclidean norm, over all processes.
};

/// Element `index` of the vector that is transformed.
Complex element(std::size_t index);

/// This process's part of the vector: equal parts, in the order of ranks.
std::vector<Complex> input_part(const Grid& grid, MPI_Comm comm);

/// Transforms the vector in every layout, in turns, and compares each result with the reference,
/// this process's part of it. Collective over `comm`. Throws Error (invalid_argument) if the grid
/// cannot be shared by the members.
std::vector<Variant> run_experiment(const Settings& settings, std::span<const Complex> reference,
                                    MPI_Comm comm);

/// Throws Error (invalid_argument), which names the remedy, unless the members of every layout can
/// have equal parts.
void require_equal_parts(const Settings& settings, int process_count);

}  // namespace hycoll::fft

#endif  // HYCOLL_TOOLS_FFT_EXPERIMENT_H_
