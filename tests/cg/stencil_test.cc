// The matrix-free stencil against its definition, on grids that are cut among imagined processes:
// all combinations of neighbours occur. Values are integers, so that sums are exact in any order.
#include "tools/cg/stencil.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <vector>

namespace hycoll::cg {
namespace stencil_test {

/// A vector over the whole grid, x fastest.
struct GlobalVector {
  GridSize size;
  std::vector<double> values;

  explicit GlobalVector(GridSize grid) : size(grid) {
    const int count = grid.x * grid.y * grid.z;
    for (int i = 0; i < count; ++i) values.push_back((i * 37) % 101 - 50 + i);
  }

  bool contains(int x, int y, int z) const {
    return x >= 0 && x < size.x && y >= 0 && y < size.y && z >= 0 && z < size.z;
  }
  double at(int x, int y, int z) const {
    return values[static_cast<std::size_t>(x + size.x * (y + size.y * z))];
  }

  /// A row of the matrix times this vector, as HPCG defines it.
  double product(int x, int y, int z) const {
    double sum = 26.0 * at(x, y, z);
    for (int i = 0; i < kDirectionCount; ++i) {
      const Direction step = direction_of(i);
      const bool self = step.x == 0 && step.y == 0 && step.z == 0;
      if (!self && contains(x + step.x, y + step.y, z + step.z)) {
        sum -= at(x + step.x, y + step.y, z + step.z);
      }
    }
    return sum;
  }
};

/// One process's cells [begin, begin + size) of the whole grid.
struct Part {
  GridSize begin;
  GridSize size;

  std::array<bool, kDirectionCount> neighbours(const GlobalVector& vector) const {
    std::array<bool, kDirectionCount> result{};
    for (int i = 0; i < kDirectionCount; ++i) {
      const Direction step = direction_of(i);
      result[static_cast<std::size_t>(i)] = vector.contains(
          begin.x + step.x * size.x, begin.y + step.y * size.y, begin.z + step.z * size.z);
    }
    return result;
  }

  /// Own cells, then the blocks of ghosts as the class describes them.
  std::vector<double> local_vector(const GlobalVector& vector) const {
    std::vector<double> local;
    append_block(vector, {0, 0, 0}, local);
    for (int i = 0; i < kDirectionCount; ++i) {
      const Direction step = direction_of(i);
      if (i != index_of({0, 0, 0}) && neighbours(vector)[static_cast<std::size_t>(i)]) {
        append_block(vector, step, local);
      }
    }
    return local;
  }

 private:
  static int first(int step, int extent) { return step < 0 ? -1 : step > 0 ? extent : 0; }
  static int last(int step, int extent) { return step < 0 ? 0 : step > 0 ? extent + 1 : extent; }

  void append_block(const GlobalVector& vector, Direction step, std::vector<double>& local) const {
    for (int z = first(step.z, size.z); z < last(step.z, size.z); ++z) {
      for (int y = first(step.y, size.y); y < last(step.y, size.y); ++y) {
        for (int x = first(step.x, size.x); x < last(step.x, size.x); ++x) {
          local.push_back(vector.at(begin.x + x, begin.y + y, begin.z + z));
        }
      }
    }
  }
};

/// Cuts a grid of processes x local cells, applies the operator to each part with `thread_count`
/// threads one after the other, and compares every element.
void check_product(GridSize local, GridSize processes, int thread_count) {
  CAPTURE(local.x);
  CAPTURE(local.y);
  CAPTURE(local.z);
  CAPTURE(processes.x);
  CAPTURE(processes.y);
  CAPTURE(processes.z);
  CAPTURE(thread_count);
  const GlobalVector vector({local.x * processes.x, local.y * processes.y, local.z * processes.z});
  for (int process = 0; process < processes.x * processes.y * processes.z; ++process) {
    const Part part{{process % processes.x * local.x, process / processes.x % processes.y * local.y,
                     process / processes.x / processes.y * local.z},
                    local};
    const StencilOperator stencil(local, part.neighbours(vector));
    const std::vector<double> input = part.local_vector(vector);
    REQUIRE(input.size() == stencil.row_count() + stencil.ghost_count());
    std::vector<double> output(stencil.row_count(), -12345.5);
    for (int thread = 0; thread < thread_count; ++thread) {
      stencil.apply(input.data(), output.data(), stencil.thread_rows(thread, thread_count));
    }
    std::size_t wrong = 0;
    for (std::size_t row = 0; row < output.size(); ++row) {
      const int i = static_cast<int>(row);
      const double expected =
          vector.product(part.begin.x + i % local.x, part.begin.y + i / local.x % local.y,
                         part.begin.z + i / local.x / local.y);
      if (output[row] != expected) ++wrong;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("directions and their indices are inverse") {
  for (int i = 0; i < kDirectionCount; ++i) CHECK(index_of(direction_of(i)) == i);
}

TEST_CASE("the product equals its definition, on one process") {
  for (int x = 1; x <= 4; ++x) {
    for (int y = 1; y <= 4; ++y) {
      for (int z = 1; z <= 4; ++z) check_product({x, y, z}, {1, 1, 1}, 1 + (x + y + z) % 3);
    }
  }
}

TEST_CASE("the product equals its definition, cut in all directions") {
  const GridSize locals[] = {{1, 1, 1}, {2, 1, 1}, {1, 3, 1}, {1, 1, 2}, {3, 2, 4}, {4, 5, 3}};
  for (const GridSize& local : locals) {
    for (int x = 1; x <= 3; ++x) {
      for (int y = 1; y <= 3; ++y) {
        for (int z = 1; z <= 3; ++z) check_product(local, {x, y, z}, 2);
      }
    }
  }
}

TEST_CASE("long lines are cut into pieces without a seam") {
  // Around one and two pieces of 512.
  for (const int x : {511, 512, 513, 1023, 1024, 1025, 1537}) {
    check_product({x, 2, 2}, {1, 1, 1}, 3);
    check_product({x, 1, 2}, {2, 2, 1}, 1);
  }
}

TEST_CASE("threads' rows are whole lines, in order, and cover everything once") {
  for (int lines = 1; lines <= 7; ++lines) {
    const StencilOperator stencil({5, lines, 1}, {});
    for (int thread_count = 1; thread_count <= 9; ++thread_count) {
      std::size_t next = 0;
      for (int thread = 0; thread < thread_count; ++thread) {
        const RowRange rows = stencil.thread_rows(thread, thread_count);
        CHECK(rows.begin == next);
        CHECK(rows.size() % 5 == 0);
        next = rows.end;
      }
      CHECK(next == stencil.row_count());
    }
  }
}

}  // namespace stencil_test
}  // namespace hycoll::cg
