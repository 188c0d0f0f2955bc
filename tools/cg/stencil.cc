#include "tools/cg/stencil.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>

#include "core/base/errors.h"
#include "core/base/partition.h"

namespace hycoll::cg {
namespace {

/// The number of cells in a range [0, extent) at a step: all of them, or one layer.
constexpr int layer(int step, int extent) noexcept { return step == 0 ? extent : 1; }

/// The steps that lead from coordinate -1..extent to the block that holds it.
constexpr int step_to(int coordinate, int extent) noexcept {
  return coordinate < 0 ? -1 : coordinate >= extent ? 1 : 0;
}

/// The rows of the layer of cells that faces a direction, x fastest.
std::vector<std::int32_t> rows_facing(Direction direction, GridSize size) {
  const auto begin = [](int step, int extent) { return step > 0 ? extent - 1 : 0; };
  std::vector<std::int32_t> rows;
  for (int z = 0; z < layer(direction.z, size.z); ++z) {
    for (int y = 0; y < layer(direction.y, size.y); ++y) {
      for (int x = 0; x < layer(direction.x, size.x); ++x) {
        rows.push_back(
            begin(direction.x, size.x) + x +
            size.x * (begin(direction.y, size.y) + y + size.y * (begin(direction.z, size.z) + z)));
      }
    }
  }
  return rows;
}

std::array<bool, kDirectionCount> neighbours_of(const ProcessGrid& grid) {
  std::array<bool, kDirectionCount> has_neighbour{};
  for (int i = 0; i < kDirectionCount; ++i) {
    has_neighbour[static_cast<std::size_t>(i)] = grid.neighbour(direction_of(i)) >= 0;
  }
  return has_neighbour;
}

/// The row sums, so that 1 in every row is the exact solution: 27 less the points of the cube
/// around a cell that lie in the grid.
std::vector<double> row_sums(GridSize size, const ProcessGrid& grid) {
  const auto reach = [&grid](int coordinate, int extent, Direction down, Direction up) {
    const bool below = coordinate > 0 || grid.neighbour(down) >= 0;
    const bool above = coordinate + 1 < extent || grid.neighbour(up) >= 0;
    return 1 + static_cast<int>(below) + static_cast<int>(above);
  };
  std::vector<double> sums;
  for (int z = 0; z < size.z; ++z) {
    const int reach_z = reach(z, size.z, {0, 0, -1}, {0, 0, 1});
    for (int y = 0; y < size.y; ++y) {
      const int reach_y = reach(y, size.y, {0, -1, 0}, {0, 1, 0});
      for (int x = 0; x < size.x; ++x) {
        const int reach_x = reach(x, size.x, {-1, 0, 0}, {1, 0, 0});
        sums.push_back(27.0 - reach_x * reach_y * reach_z);
      }
    }
  }
  return sums;
}

void require_valid(GridSize size) {
  const std::int64_t limit = std::numeric_limits<std::int32_t>::max();
  const bool positive = size.x >= 1 && size.y >= 1 && size.z >= 1;
  if (!positive || std::int64_t{size.x} * size.y > limit ||
      std::int64_t{size.x} * size.y * size.z > limit) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("size {},{},{}: expected at least 1 cell in each direction and fewer "
                            "than 2^31 cells per process; choose a size like 32 or 64,64,32",
                            size.x, size.y, size.z));
  }
}

}  // namespace

StencilOperator::StencilOperator(GridSize size, std::array<bool, kDirectionCount> has_neighbour)
    : size_(size),
      has_neighbour_(has_neighbour),
      row_count_(static_cast<std::size_t>(size.x) * static_cast<std::size_t>(size.y) *
                 static_cast<std::size_t>(size.z)),
      outside_(static_cast<std::size_t>(size.x), 0.0) {
  has_neighbour_[index_of({0, 0, 0})] = false;
  for (std::size_t i = 0; i < has_neighbour_.size(); ++i) {
    block_begin_[i] = ghost_count_;
    if (has_neighbour_[i]) ghost_count_ += block_size(direction_of(static_cast<int>(i)));
  }
}

std::size_t StencilOperator::block_size(Direction direction) const noexcept {
  return static_cast<std::size_t>(layer(direction.x, size_.x)) *
         static_cast<std::size_t>(layer(direction.y, size_.y)) *
         static_cast<std::size_t>(layer(direction.z, size_.z));
}

std::size_t StencilOperator::block_begin(Direction direction) const noexcept {
  return block_begin_[static_cast<std::size_t>(index_of(direction))];
}

RowRange StencilOperator::thread_rows(int thread, int thread_count) const {
  const std::size_t line_count =
      static_cast<std::size_t>(size_.y) * static_cast<std::size_t>(size_.z);
  const ElementRange lines = Partition::balanced(line_count, thread_count).range(thread);
  const std::size_t length = static_cast<std::size_t>(size_.x);
  return {lines.begin * length, lines.end * length};
}

void StencilOperator::apply(const double* input, double* output, RowRange rows) const {
  const std::size_t length = static_cast<std::size_t>(size_.x);
  const std::size_t lines_per_plane = static_cast<std::size_t>(size_.y);
  for (std::size_t row = rows.begin; row < rows.end; row += length) {
    const std::size_t line = row / length;
    apply_line(input, output + row, static_cast<int>(line % lines_per_plane),
               static_cast<int>(line / lines_per_plane));
  }
}

/// The cells of the line (y, z), which may lie one beyond the own cells: those with own x
/// coordinates for x_step 0, else the single one before or behind them.
const double* StencilOperator::cells(const double* input, int x_step, int y, int z) const {
  const Direction direction{x_step, step_to(y, size_.y), step_to(z, size_.z)};
  const std::size_t index = static_cast<std::size_t>(index_of(direction));
  const bool own = direction.x == 0 && direction.y == 0 && direction.z == 0;
  if (!own && !has_neighbour_[index]) return outside_.data();
  const double* const block = own ? input : input + row_count_ + block_begin_[index];
  const int block_y = direction.y == 0 ? y : 0;
  const int block_z = direction.z == 0 ? z : 0;
  return block + static_cast<std::size_t>(layer(direction.x, size_.x)) *
                     (static_cast<std::size_t>(block_y) +
                      static_cast<std::size_t>(layer(direction.y, size_.y)) *
                          static_cast<std::size_t>(block_z));
}

void StencilOperator::apply_line(const double* input, double* output, int y, int z) const {
  // The nine lines of the 3 x 3 x length box are added up first: the cube around a cell is then
  // three neighbouring sums, 12 additions instead of 27.
  std::array<const double*, 9> lines{};
  double before = 0.0;
  double behind = 0.0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const int line_y = y + static_cast<int>(i % 3) - 1;
    const int line_z = z + static_cast<int>(i / 3) - 1;
    lines[i] = cells(input, 0, line_y, line_z);
    before += *cells(input, -1, line_y, line_z);
    behind += *cells(input, 1, line_y, line_z);
  }
  const double* const own = cells(input, 0, y, z);
  const std::size_t length = static_cast<std::size_t>(size_.x);

  // In pieces that stay in the first-level cache. sums[i] belongs to cell begin + i - 1.
  constexpr std::size_t kPiece = 512;
  std::array<double, kPiece + 2> sums;
  const auto sum_at = [&lines](std::size_t x) {
    return ((lines[0][x] + lines[1][x]) + (lines[2][x] + lines[3][x])) +
           ((lines[4][x] + lines[5][x]) + (lines[6][x] + lines[7][x])) + lines[8][x];
  };
  for (std::size_t begin = 0; begin < length; begin += kPiece) {
    const std::size_t count = std::min(kPiece, length - begin);
    sums[0] = begin == 0 ? before : sum_at(begin - 1);
    for (std::size_t i = 0; i < count; ++i) sums[i + 1] = sum_at(begin + i);
    sums[count + 1] = begin + count == length ? behind : sum_at(begin + count);
    for (std::size_t i = 0; i < count; ++i) {
      output[begin + i] = 27.0 * own[begin + i] - (sums[i] + sums[i + 1] + sums[i + 2]);
    }
  }
}

ProcessGrid::ProcessGrid(MPI_Comm comm) {
  int rank = 0;
  int count = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &count);
  std::array<int, 3> extents{};  // descending
  MPI_Dims_create(count, 3, extents.data());
  size_ = {extents[2], extents[1], extents[0]};
  position_ = {rank % size_.x, rank / size_.x % size_.y, rank / size_.x / size_.y};
}

int ProcessGrid::neighbour(Direction direction) const noexcept {
  const int x = position_.x + direction.x;
  const int y = position_.y + direction.y;
  const int z = position_.z + direction.z;
  const bool inside = x >= 0 && x < size_.x && y >= 0 && y < size_.y && z >= 0 && z < size_.z;
  return inside ? x + size_.x * (y + size_.y * z) : -1;
}

System make_stencil_system(GridSize local_size, MPI_Comm comm) {
  require_valid(local_size);
  const ProcessGrid grid(comm);
  auto matrix = std::make_unique<StencilOperator>(local_size, neighbours_of(grid));
  std::vector<Neighbour> neighbours;
  for (int i = 0; i < kDirectionCount; ++i) {
    const Direction direction = direction_of(i);
    const int rank = grid.neighbour(direction);
    if (rank < 0 || i == index_of({0, 0, 0})) continue;
    neighbours.push_back({.rank = rank,
                          .send_rows = rows_facing(direction, local_size),
                          .receive_begin = matrix->block_begin(direction),
                          .receive_count = matrix->block_size(direction)});
  }

  System system;
  system.halo = std::make_unique<Halo>(comm, std::move(neighbours), matrix->row_count());
  system.matrix = std::move(matrix);
  system.right_hand_side = row_sums(local_size, grid);
  const GridSize processes = grid.size();
  const auto global = [](int local, int count) { return std::int64_t{local} * count; };
  const std::int64_t x = global(local_size.x, processes.x);
  const std::int64_t y = global(local_size.y, processes.y);
  const std::int64_t z = global(local_size.z, processes.z);
  system.global_row_count = x * y * z;
  // Pairs of neighbouring points, each point with itself included, factorise by direction.
  system.global_nonzero_count = (3 * x - 2) * (3 * y - 2) * (3 * z - 2);
  system.description = fmt::format("27-point stencil, {} x {} x {} cells on {} x {} x {} processes",
                                   x, y, z, processes.x, processes.y, processes.z);
  return system;
}

}  // namespace hycoll::cg
