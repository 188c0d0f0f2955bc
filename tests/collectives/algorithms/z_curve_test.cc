// The Z-curve through a rectangle, and pieces of it.

#include "collectives/algorithms/alltoall/z_curve.h"

#include <doctest/doctest.h>

#include <cmath>
#include <set>
#include <utility>
#include <vector>

namespace hycoll {
namespace z_curve_test {

using Cells = std::vector<std::pair<int, int>>;

Cells cells_of(NumberRange rows, NumberRange columns, CurvePiece piece) {
  Cells cells;
  visit_z_curve(rows, columns, piece,
                [&](int row, int column) { cells.emplace_back(row, column); });
  return cells;
}

Cells all_cells(NumberRange rows, NumberRange columns) {
  return cells_of(rows, columns, share_of_curve(rows, columns, 1, 0));
}

TEST_CASE("quarters follow each other, and so do theirs") {
  const Cells expected = {{5, 10}, {5, 11}, {6, 10}, {6, 11}, {5, 12}, {5, 13}, {6, 12}, {6, 13},
                          {7, 10}, {7, 11}, {8, 10}, {8, 11}, {7, 12}, {7, 13}, {8, 12}, {8, 13}};
  CHECK(all_cells({5, 4}, {10, 4}) == expected);
  CHECK(all_cells({0, 1}, {0, 3}) == Cells{{0, 0}, {0, 1}, {0, 2}});
  CHECK(all_cells({0, 3}, {7, 1}) == Cells{{0, 7}, {1, 7}, {2, 7}});
  CHECK(all_cells({0, 0}, {0, 3}).empty());
  CHECK(all_cells({0, 3}, {0, 0}).empty());
}

TEST_CASE("pieces are the curve, cut") {
  for (int rows = 1; rows <= 9; ++rows) {
    for (int columns = 1; columns <= 9; ++columns) {
      const NumberRange row_range{0, rows};
      const NumberRange column_range{0, columns};
      const Cells all = all_cells(row_range, column_range);
      CHECK(all.size() == static_cast<std::size_t>(rows * columns));
      CHECK(std::set(all.begin(), all.end()).size() == all.size());
      for (const int shares : {1, 2, 3, 7, 16, 100}) {
        Cells joined;
        std::size_t least = all.size();
        std::size_t most = 0;
        for (int share = 0; share < shares; ++share) {
          const CurvePiece piece = share_of_curve(row_range, column_range, shares, share);
          const Cells cells = cells_of(row_range, column_range, piece);
          CHECK(cells.size() == static_cast<std::size_t>(piece.count));
          least = std::min(least, cells.size());
          most = std::max(most, cells.size());
          joined.insert(joined.end(), cells.begin(), cells.end());
        }
        CHECK(joined == all);
        CHECK(most - least <= 1);
      }
    }
  }
}

TEST_CASE("a piece has few rows and columns for its cells") {
  for (const int side : {16, 23, 64, 100, 128}) {
    for (const int shares : {2, 4, 7, 16, 48, 64, 128}) {
      for (int share = 0; share < shares; ++share) {
        const NumberRange range{0, side};
        const Cells cells = cells_of(range, range, share_of_curve(range, range, shares, share));
        std::set<int> rows;
        std::set<int> columns;
        for (const auto& [row, column] : cells) {
          rows.insert(row);
          columns.insert(column);
        }
        const double most = 3 * std::sqrt(static_cast<double>(cells.size())) + 2;
        CHECK(static_cast<double>(rows.size()) <= most);
        CHECK(static_cast<double>(columns.size()) <= most);
      }
    }
  }
}

}  // namespace z_curve_test
}  // namespace hycoll
