// Systems over several processes, and the solver with every kind of reduction.
#include <doctest/doctest.h>
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/errors.h"
#include "tools/cg/distribution.h"
#include "tools/cg/reductions.h"
#include "tools/cg/solver.h"
#include "tools/cg/stencil.h"

namespace hycoll::cg {
namespace {

int rank_of(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

int size_of(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size;
}

/// Exchanges ghosts and multiplies inside a parallel region of two threads.
std::vector<double> product(const System& system, const std::vector<double>& own) {
  const LinearOperator& matrix = *system.matrix;
  REQUIRE(own.size() == matrix.row_count());
  std::vector<double> input(own.size() + matrix.ghost_count(), -12345.5);
  std::vector<double> output(own.size(), -12345.5);
  constexpr int kThreadCount = 2;
#pragma omp parallel for num_threads(kThreadCount) schedule(static, 1)
  for (int thread = 0; thread < kThreadCount; ++thread) {
    const RowRange rows = matrix.thread_rows(thread, kThreadCount);
    std::copy(own.data() + rows.begin, own.data() + rows.end, input.data() + rows.begin);
  }
#pragma omp parallel num_threads(kThreadCount)
  system.halo->exchange(input.data());
#pragma omp parallel for num_threads(kThreadCount) schedule(static, 1)
  for (int thread = 0; thread < kThreadCount; ++thread) {
    matrix.apply(input.data(), output.data(), matrix.thread_rows(thread, kThreadCount));
  }
  return output;
}

/// A value per cell of the whole grid, 0 beyond it: integers, so that sums are exact.
struct GridFunction {
  GridSize size;
  double at(int x, int y, int z) const {
    const bool inside = x >= 0 && x < size.x && y >= 0 && y < size.y && z >= 0 && z < size.z;
    return inside ? (x * 7 + y * 31 + z * 113) % 59 + 1 : 0.0;
  }
  double product(int x, int y, int z) const {
    double sum = 27.0 * at(x, y, z);
    for (int i = 0; i < kDirectionCount; ++i) {
      const Direction step = direction_of(i);
      sum -= at(x + step.x, y + step.y, z + step.z);
    }
    return sum;
  }
};

TEST_CASE("the stencil's product is right across processes") {
  for (const GridSize local : {GridSize{1, 1, 1}, {3, 2, 4}, {2, 5, 1}}) {
    const System system = make_stencil_system(local, MPI_COMM_WORLD);
    const GridSize processes = ProcessGrid(MPI_COMM_WORLD).size();
    REQUIRE(processes.x * processes.y * processes.z == size_of(MPI_COMM_WORLD));
    const GridFunction function{
        {local.x * processes.x, local.y * processes.y, local.z * processes.z}};
    const int rank = rank_of(MPI_COMM_WORLD);
    const int x = rank % processes.x * local.x;
    const int y = rank / processes.x % processes.y * local.y;
    const int z = rank / processes.x / processes.y * local.z;
    std::vector<double> own;
    std::vector<double> expected;
    for (int i = 0; i < local.x * local.y * local.z; ++i) {
      const int cell_x = x + i % local.x;
      const int cell_y = y + i / local.x % local.y;
      const int cell_z = z + i / local.x / local.y;
      own.push_back(function.at(cell_x, cell_y, cell_z));
      expected.push_back(function.product(cell_x, cell_y, cell_z));
    }
    CHECK(product(system, own) == expected);
    CHECK(product(system, std::vector<double>(own.size(), 1.0)) == system.right_hand_side);
    const auto cells = static_cast<std::int64_t>(own.size());
    CHECK(system.global_row_count == cells * size_of(MPI_COMM_WORLD));
  }
}

/// A symmetric matrix of integers with a dominant diagonal; on rank 0 only, as the reader has it.
SymmetricMatrix example_matrix(int row_count) {
  SymmetricMatrix matrix;
  if (rank_of(MPI_COMM_WORLD) != 0) return matrix;
  matrix.row_count = row_count;
  for (int i = 0; i < row_count; ++i) {
    for (int j = 0; j < row_count; ++j) {
      const int difference = std::abs(i - j);
      const bool present = difference <= 1 || (i * j) % 5 == 1 || difference == row_count - 1;
      const double value = i == j ? 4.0 * row_count + i : -1.0 - (i + j) % 3;
      if (present) matrix.entries.push_back({i, j, value});
    }
  }
  return matrix;
}

/// All processes' parts in rank order, on every process.
std::vector<double> gather(const std::vector<double>& part) {
  std::vector<int> counts(static_cast<std::size_t>(size_of(MPI_COMM_WORLD)));
  const int own_count = static_cast<int>(part.size());
  MPI_Allgather(&own_count, 1, MPI_INT, counts.data(), 1, MPI_INT, MPI_COMM_WORLD);
  std::vector<int> begins;
  int total = 0;
  for (const int count : counts) {
    begins.push_back(total);
    total += count;
  }
  std::vector<double> all(static_cast<std::size_t>(total));
  MPI_Allgatherv(part.data(), own_count, MPI_DOUBLE, all.data(), counts.data(), begins.data(),
                 MPI_DOUBLE, MPI_COMM_WORLD);
  return all;
}

TEST_CASE("a matrix's product is right with unequal blocks, and with processes without rows") {
  for (const int row_count : {1, 2, 3, 4, 7, 16, 23}) {
    CAPTURE(row_count);
    const SymmetricMatrix matrix = example_matrix(row_count);
    const System system = make_matrix_system(matrix, "example", MPI_COMM_WORLD);
    CHECK(system.global_row_count == row_count);
    const std::size_t rows = system.matrix->row_count();
    const int even_share = row_count / size_of(MPI_COMM_WORLD);
    CHECK(static_cast<int>(rows) >= even_share);
    CHECK(static_cast<int>(rows) <= even_share + 1);

    // Distinct values by global row: this process's first row follows from its predecessors.
    std::int64_t first_row = 0;
    const auto own_rows = static_cast<std::int64_t>(rows);
    MPI_Exscan(&own_rows, &first_row, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (rank_of(MPI_COMM_WORLD) == 0) first_row = 0;
    std::vector<double> own;
    for (std::int64_t i = 0; i < own_rows; ++i) {
      own.push_back(static_cast<double>((first_row + i) * 3 + 1));
    }
    const std::vector<double> result = gather(product(system, own));
    const std::vector<double> sums = gather(system.right_hand_side);
    if (rank_of(MPI_COMM_WORLD) != 0) continue;
    std::vector<double> expected(static_cast<std::size_t>(row_count), 0.0);
    std::vector<double> expected_sums(static_cast<std::size_t>(row_count), 0.0);
    for (const MatrixEntry& entry : matrix.entries) {
      expected[static_cast<std::size_t>(entry.row)] += entry.value * (entry.column * 3 + 1);
      expected_sums[static_cast<std::size_t>(entry.row)] += entry.value;
    }
    CHECK(result == expected);
    CHECK(sums == expected_sums);
  }
}

/// Whether all processes have the same bits.
bool same_everywhere(double value) {
  double least = 0.0;
  double greatest = 0.0;
  MPI_Allreduce(&value, &least, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&value, &greatest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return least == greatest;
}

/// Solves with every kind of reduction; all must find 1 with the same residuals.
void check_solutions(const System& system, int thread_count) {
  CAPTURE(system.description);
  CAPTURE(thread_count);
  const SolverLimits limits{.maximum_iterations = 200, .tolerance = 1e-10};
  const SolverLimits early{.maximum_iterations = 4, .tolerance = 1e-10};
  Solver solver(system, thread_count);
  double first_early_residual = -1.0;
  int first_iterations = -1;
  for (const ReductionKind kind : kAllReductionKinds) {
    CAPTURE(name_of(kind));
    const std::unique_ptr<Reducer> reducer = make_reducer(kind, MPI_COMM_WORLD, thread_count);
    const SolverResult early_result = solver.solve(*reducer, early);
    const SolverResult result = solver.solve(*reducer, limits);
    CHECK(result.status == SolverStatus::converged);
    CHECK(result.relative_residual <= 1.01e-10);
    CHECK(same_everywhere(result.relative_residual));
    CHECK(result.iterations > 0);
    CHECK(result.reduction_count == 2 * result.iterations);
    CHECK(result.reduction_seconds <= result.solve_seconds);
    double largest_error = 0.0;
    for (const double value : solver.solution()) {
      largest_error = std::max(largest_error, std::abs(value - 1.0));
    }
    CHECK(largest_error < 1e-8);
    if (first_iterations < 0) {
      first_iterations = result.iterations;
      first_early_residual = early_result.relative_residual;
    }
    CHECK(std::abs(result.iterations - first_iterations) <= 1);
    CHECK(std::abs(early_result.relative_residual - first_early_residual) <=
          1e-9 * first_early_residual + 1e-14);
  }
}

TEST_CASE("every kind of reduction solves the stencil's system") {
  for (int thread_count = 1; thread_count <= 3; ++thread_count) {
    check_solutions(make_stencil_system({4, 3, 5}, MPI_COMM_WORLD), thread_count);
  }
}

TEST_CASE("every kind of reduction solves a matrix's system") {
  for (int thread_count = 1; thread_count <= 3; ++thread_count) {
    check_solutions(make_matrix_system(example_matrix(23), "example", MPI_COMM_WORLD),
                    thread_count);
  }
}

TEST_CASE("processes and threads without rows take part") {
  check_solutions(make_matrix_system(example_matrix(2), "tiny", MPI_COMM_WORLD), 2);
}

TEST_CASE("processes may have different numbers of threads") {
  check_solutions(make_stencil_system({3, 3, 3}, MPI_COMM_WORLD), 1 + rank_of(MPI_COMM_WORLD) % 2);
}

TEST_CASE("a system may live on a part of the processes") {
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank_of(MPI_COMM_WORLD) % 2, 0, &part);
  {
    const System system = make_stencil_system({3, 3, 2}, part);
    Solver solver(system, 1);
    const std::unique_ptr<Reducer> reducer = make_reducer(ReductionKind::threads, part, 1);
    const SolverResult result = solver.solve(*reducer, {});
    CHECK(result.status == SolverStatus::converged);
  }
  MPI_Comm_free(&part);
}

TEST_CASE("the solver stops at the maximum of iterations") {
  const System system = make_stencil_system({4, 4, 4}, MPI_COMM_WORLD);
  Solver solver(system, 2);
  const std::unique_ptr<Reducer> reducer = make_reducer(ReductionKind::mpi, MPI_COMM_WORLD, 2);
  const SolverResult result = solver.solve(*reducer, {.maximum_iterations = 2, .tolerance = 1e-12});
  CHECK(result.status == SolverStatus::iterations_exhausted);
  CHECK(result.iterations == 2);
  CHECK(result.relative_residual > 1e-12);
  CHECK(result.relative_residual < 1.0);
}

TEST_CASE("an indefinite matrix is found out") {
  SymmetricMatrix matrix;
  if (rank_of(MPI_COMM_WORLD) == 0) {
    matrix = {.row_count = 2, .entries = {{0, 0, 1}, {0, 1, 3}, {1, 0, 3}, {1, 1, 2}}};
  }
  const System system = make_matrix_system(matrix, "indefinite", MPI_COMM_WORLD);
  Solver solver(system, 1);
  for (const ReductionKind kind : kAllReductionKinds) {
    const std::unique_ptr<Reducer> reducer = make_reducer(kind, MPI_COMM_WORLD, 1);
    CHECK(solver.solve(*reducer, {}).status == SolverStatus::not_positive_definite);
  }
}

TEST_CASE("errors of the input are thrown on every process") {
  CHECK_THROWS_WITH_AS(make_matrix_file_system("no/such/file.mtx", MPI_COMM_WORLD),
                       doctest::Contains("no/such/file.mtx"), Error);
  CHECK_THROWS_WITH_AS(make_stencil_system({4, 0, 4}, MPI_COMM_WORLD), doctest::Contains("4,0,4"),
                       Error);
  CHECK_THROWS_WITH_AS(make_stencil_system({2000, 2000, 2000}, MPI_COMM_WORLD),
                       doctest::Contains("2^31"), Error);
  // A path's Laplacian: all rows add up to 0.
  SymmetricMatrix laplacian;
  if (rank_of(MPI_COMM_WORLD) == 0) {
    laplacian = {
        .row_count = 3,
        .entries = {
            {0, 0, 1}, {0, 1, -1}, {1, 0, -1}, {1, 1, 2}, {1, 2, -1}, {2, 1, -1}, {2, 2, 1}}};
  }
  CHECK_THROWS_WITH_AS(make_matrix_system(laplacian, "laplacian", MPI_COMM_WORLD),
                       doctest::Contains("singular"), Error);
}

}  // namespace
}  // namespace hycoll::cg
