#include "tools/cg/distribution.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/errors.h"
#include "core/base/partition.h"
#include "tools/application/collective_error.h"
#include "tools/cg/csr.h"

namespace hycoll::cg {
namespace {

/// The processes and the rows of each.
struct RowBlocks {
  RowBlocks(std::int32_t row_count, MPI_Comm communicator) : comm(communicator) {
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &process_count);
    const Partition partition =
        Partition::balanced(static_cast<std::size_t>(row_count), process_count);
    for (int process = 0; process <= process_count; ++process) {
      begins.push_back(process < process_count
                           ? static_cast<std::int32_t>(partition.range(process).begin)
                           : row_count);
    }
  }

  std::int32_t begin(int process) const { return begins[static_cast<std::size_t>(process)]; }
  std::int32_t count(int process) const { return begin(process + 1) - begin(process); }

  MPI_Comm comm;
  int rank = 0;
  int process_count = 1;
  std::vector<std::int32_t> begins;  // one more than processes
};

/// The running sum of counts, as MPI's vector collectives want it.
std::vector<int> displacements(const std::vector<int>& counts) {
  std::vector<int> begins(counts.size(), 0);
  for (std::size_t i = 1; i < counts.size(); ++i) begins[i] = begins[i - 1] + counts[i - 1];
  return begins;
}

int total(const std::vector<int>& counts) {
  int sum = 0;
  for (const int count : counts) sum += count;
  return sum;
}

/// Sends every process the entries of its rows.
std::vector<MatrixEntry> scatter_entries(const std::vector<MatrixEntry>& all,
                                         const RowBlocks& blocks) {
  std::vector<int> counts(static_cast<std::size_t>(blocks.process_count), 0);
  if (blocks.rank == 0) {
    for (const MatrixEntry& entry : all) {
      const auto next = std::upper_bound(blocks.begins.begin(), blocks.begins.end(), entry.row);
      ++counts[static_cast<std::size_t>(next - blocks.begins.begin() - 1)];
    }
  }
  int own_count = 0;
  MPI_Scatter(counts.data(), 1, MPI_INT, &own_count, 1, MPI_INT, 0, blocks.comm);
  MPI_Datatype entry_type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(static_cast<int>(sizeof(MatrixEntry)), MPI_BYTE, &entry_type);
  MPI_Type_commit(&entry_type);
  std::vector<MatrixEntry> own(static_cast<std::size_t>(own_count));
  const std::vector<int> begins = displacements(counts);
  MPI_Scatterv(all.data(), counts.data(), begins.data(), entry_type, own.data(), own_count,
               entry_type, 0, blocks.comm);
  MPI_Type_free(&entry_type);
  return own;
}

/// The columns outside the own block that the entries use, ascending: the ghosts. Owners are in
/// ascending order too, since blocks are.
std::vector<std::int32_t> ghost_columns(const std::vector<MatrixEntry>& entries,
                                        const RowBlocks& blocks) {
  const std::int32_t begin = blocks.begin(blocks.rank);
  const std::int32_t end = blocks.begin(blocks.rank + 1);
  std::vector<std::int32_t> columns;
  for (const MatrixEntry& entry : entries) {
    if (entry.column < begin || entry.column >= end) columns.push_back(entry.column);
  }
  std::sort(columns.begin(), columns.end());
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  return columns;
}

/// Tells the owners of the ghosts what to send. The matrix is symmetric, so that those who are
/// asked are those who ask, but nothing here relies on it.
std::vector<Neighbour> plan_exchange(const std::vector<std::int32_t>& ghosts,
                                     const RowBlocks& blocks) {
  const std::size_t processes = static_cast<std::size_t>(blocks.process_count);
  std::vector<int> receive_counts(processes, 0);
  for (const std::int32_t column : ghosts) {
    const auto next = std::upper_bound(blocks.begins.begin(), blocks.begins.end(), column);
    ++receive_counts[static_cast<std::size_t>(next - blocks.begins.begin() - 1)];
  }
  std::vector<int> send_counts(processes, 0);
  MPI_Alltoall(receive_counts.data(), 1, MPI_INT, send_counts.data(), 1, MPI_INT, blocks.comm);
  const std::vector<int> receive_begins = displacements(receive_counts);
  const std::vector<int> send_begins = displacements(send_counts);
  std::vector<std::int32_t> rows(static_cast<std::size_t>(total(send_counts)));
  MPI_Alltoallv(ghosts.data(), receive_counts.data(), receive_begins.data(), MPI_INT32_T,
                rows.data(), send_counts.data(), send_begins.data(), MPI_INT32_T, blocks.comm);
  for (std::int32_t& row : rows) row -= blocks.begin(blocks.rank);

  std::vector<Neighbour> neighbours;
  for (std::size_t process = 0; process < processes; ++process) {
    if (receive_counts[process] == 0 && send_counts[process] == 0) continue;
    const auto first = rows.begin() + send_begins[process];
    neighbours.push_back({.rank = static_cast<int>(process),
                          .send_rows = {first, first + send_counts[process]},
                          .receive_begin = static_cast<std::size_t>(receive_begins[process]),
                          .receive_count = static_cast<std::size_t>(receive_counts[process])});
  }
  return neighbours;
}

CsrMatrix local_matrix(const std::vector<MatrixEntry>& entries,
                       const std::vector<std::int32_t>& ghosts, const RowBlocks& blocks) {
  const std::int32_t begin = blocks.begin(blocks.rank);
  const std::int32_t row_count = blocks.count(blocks.rank);
  CsrMatrix matrix;
  matrix.row_offsets.assign(static_cast<std::size_t>(row_count) + 1, 0);
  for (const MatrixEntry& entry : entries) {
    ++matrix.row_offsets[static_cast<std::size_t>(entry.row - begin) + 1];
    const std::int32_t own_column = entry.column - begin;
    const bool own = own_column >= 0 && own_column < row_count;
    const auto ghost = std::lower_bound(ghosts.begin(), ghosts.end(), entry.column);
    matrix.columns.push_back(own ? own_column
                                 : row_count + static_cast<std::int32_t>(ghost - ghosts.begin()));
    matrix.values.push_back(entry.value);
  }
  for (std::size_t row = 0; row < static_cast<std::size_t>(row_count); ++row) {
    matrix.row_offsets[row + 1] += matrix.row_offsets[row];
  }
  return matrix;
}

/// The row sums, so that 1 in every row is the exact solution. Throws on all processes if all of
/// them are 0, up to rounding: then there is nothing to solve.
std::vector<double> row_sums(const CsrMatrix& matrix, const std::string& name, MPI_Comm comm) {
  constexpr double kRounding = 1e-14;
  std::vector<double> sums;
  int nonzero = 0;
  for (std::size_t row = 0; row + 1 < matrix.row_offsets.size(); ++row) {
    double sum = 0.0;
    double magnitude = 0.0;
    for (std::size_t k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++k) {
      sum += matrix.values[k];
      magnitude += std::abs(matrix.values[k]);
    }
    if (std::abs(sum) > kRounding * magnitude) nonzero = 1;
    sums.push_back(sum);
  }
  MPI_Allreduce(MPI_IN_PLACE, &nonzero, 1, MPI_INT, MPI_MAX, comm);
  if (nonzero == 0) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("{}: every row sums up to 0, so the matrix is singular; conjugate "
                            "gradients need a positive definite one (a Laplacian becomes one when "
                            "its diagonal is raised)",
                            name));
  }
  return sums;
}

}  // namespace

System make_matrix_system(const SymmetricMatrix& matrix, const std::string& name, MPI_Comm comm) {
  std::int64_t sizes[] = {matrix.row_count, static_cast<std::int64_t>(matrix.entries.size())};
  MPI_Bcast(sizes, 2, MPI_INT64_T, 0, comm);
  const auto [row_count, entry_count] = sizes;
  if (entry_count > std::numeric_limits<std::int32_t>::max()) {
    throw Error(ErrorKind::unsupported,
                fmt::format("{}: {} nonzeros; expected fewer than 2^31, choose a smaller matrix",
                            name, entry_count));
  }
  const RowBlocks blocks(static_cast<std::int32_t>(row_count), comm);
  const std::vector<MatrixEntry> entries = scatter_entries(matrix.entries, blocks);
  const std::vector<std::int32_t> ghosts = ghost_columns(entries, blocks);
  CsrMatrix local = local_matrix(entries, ghosts, blocks);

  System system;
  system.right_hand_side = row_sums(local, name, comm);
  system.halo = std::make_unique<Halo>(comm, plan_exchange(ghosts, blocks),
                                       static_cast<std::size_t>(blocks.count(blocks.rank)));
  system.matrix = std::make_unique<CsrOperator>(std::move(local), ghosts.size());
  system.global_row_count = row_count;
  system.global_nonzero_count = entry_count;
  system.description = fmt::format("matrix {}, rows in {} block{}", name, blocks.process_count,
                                   blocks.process_count == 1 ? "" : "s");
  return system;
}

System make_matrix_file_system(const std::string& path, MPI_Comm comm) {
  SymmetricMatrix matrix;
  application::on_rank_0(comm, [&] { matrix = read_matrix_market_file(path); });
  return make_matrix_system(matrix, path, comm);
}

}  // namespace hycoll::cg
