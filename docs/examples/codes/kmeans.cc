// k-means in C++ with oneTBB: tasks add points to the nearest of some centres, in a copy of the
// sums for each thread. The copies of all threads of all processes become one, and centres move
// there. Two ways take turns:
//
//   MPI      one thread adds the copies up, and calls MPI_Allreduce
//   hycoll   allreduce_combinable() takes the copies as they are: all workers add them up
//
// usage: mpiexec -n P ./kmeans [points of a process] [dimensions] [centres] [steps] [blocks]
#include <hycoll/hycoll.h>
#include <tbb/blocked_range.h>
#include <tbb/combinable.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>
#include <vector>

namespace {

struct Problem {
  std::size_t dimensions;
  std::size_t centre_count;
  std::vector<double> points;
  std::vector<double> centres;

  // For each centre the sum of its points, and their number.
  std::size_t sum_count() const { return centre_count * (dimensions + 1); }
};

std::size_t nearest_centre(const Problem& problem, const double* point) {
  std::size_t nearest = 0;
  double least = std::numeric_limits<double>::max();
  for (std::size_t c = 0; c < problem.centre_count; ++c) {
    double distance = 0;
    for (std::size_t d = 0; d < problem.dimensions; ++d) {
      const double apart = point[d] - problem.centres[c * problem.dimensions + d];
      distance += apart * apart;
    }
    if (distance < least) {
      least = distance;
      nearest = c;
    }
  }
  return nearest;
}

using Copies = tbb::combinable<std::vector<double>>;

void add_points(const Problem& problem, Copies& copies) {
  const std::size_t count = problem.points.size() / problem.dimensions;
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, count, 256), [&](const auto& range) {
    std::vector<double>& sums = copies.local();
    for (std::size_t i = range.begin(); i < range.end(); ++i) {
      const double* const point = &problem.points[i * problem.dimensions];
      double* const sum = &sums[nearest_centre(problem, point) * (problem.dimensions + 1)];
      for (std::size_t d = 0; d < problem.dimensions; ++d) sum[d] += point[d];
      ++sum[problem.dimensions];
    }
  });
}

void move_centres(Problem& problem, const std::vector<double>& sums) {
  for (std::size_t c = 0; c < problem.centre_count; ++c) {
    const double* const sum = &sums[c * (problem.dimensions + 1)];
    if (sum[problem.dimensions] == 0) continue;
    for (std::size_t d = 0; d < problem.dimensions; ++d) {
      problem.centres[c * problem.dimensions + d] = sum[d] / sum[problem.dimensions];
    }
  }
}

/// Seconds of a step's sums, over all steps. `communicator` null: by MPI.
double run(Problem& problem, int steps, hycoll::Communicator* communicator) {
  std::copy_n(problem.points.begin(), problem.centres.size(), problem.centres.begin());
  MPI_Bcast(problem.centres.data(), static_cast<int>(problem.centres.size()), MPI_DOUBLE, 0,
            MPI_COMM_WORLD);
  std::vector<double> sums(problem.sum_count());
  double seconds = 0;
  for (int step = 0; step < steps; ++step) {
    Copies copies([&] { return std::vector<double>(problem.sum_count()); });
    add_points(problem, copies);
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    if (communicator != nullptr) {
      communicator->allreduce_combinable(copies, std::span(sums));
    } else {
      std::fill(sums.begin(), sums.end(), 0);
      copies.combine_each([&](const std::vector<double>& copy) {
        for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += copy[i];
      });
      MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_DOUBLE, MPI_SUM,
                    MPI_COMM_WORLD);
    }
    seconds += MPI_Wtime() - start;
    move_centres(problem, sums);
  }
  return seconds;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<long>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

int argument(int argc, char** argv, int place, int otherwise) {
  return argc > place ? std::atoi(argv[place]) : otherwise;
}

}  // namespace

int main(int argc, char** argv) {
  int level = 0;
  int rank = 0;
  int processes = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  bool is_right = true;
  {
    Problem problem{.dimensions = static_cast<std::size_t>(argument(argc, argv, 2, 16)),
                    .centre_count = static_cast<std::size_t>(argument(argc, argv, 3, 512)),
                    .points = {},
                    .centres = {}};
    const auto count = static_cast<std::size_t>(argument(argc, argv, 1, 4000));
    problem.points.resize(std::max(count, problem.centre_count) * problem.dimensions);
    problem.centres.resize(problem.centre_count * problem.dimensions);
    std::mt19937 random(static_cast<unsigned>(rank));
    std::uniform_real_distribution<double> drawn(0, 1);
    for (double& value : problem.points) value = drawn(random);
    const int steps = argument(argc, argv, 4, 10);
    const int blocks = argument(argc, argv, 5, 5);

    hycoll::Communicator communicator(MPI_COMM_WORLD);
    std::vector<double> seconds[2];
    std::vector<double> centres[2];
    for (int block = 0; block < blocks; ++block) {
      for (int way = 0; way < 2; ++way) {
        seconds[way].push_back(run(problem, steps, way == 0 ? nullptr : &communicator));
        centres[way] = problem.centres;
      }
    }
    if (rank == 0) {
      std::printf("%d processes, %zu numbers to add up\n", processes, problem.sum_count());
      for (int way = 0; way < 2; ++way) {
        std::printf("%s %9.2f us a step\n", way == 0 ? "MPI   " : "hycoll",
                    1e6 * median(seconds[way]) / steps);
      }
    }
    // Sums in another order differ in their last digits, and a point may then have another centre.
    std::size_t different = 0;
    for (std::size_t i = 0; i < centres[0].size(); ++i) {
      different += std::abs(centres[0][i] - centres[1][i]) > 1e-6 ? 1 : 0;
    }
    is_right = different * 100 <= centres[0].size();
    if (!is_right)
      std::fprintf(stderr, "%zu of %zu coordinates differ\n", different, centres[0].size());
  }
  MPI_Finalize();
  return is_right ? 0 : 1;
}
