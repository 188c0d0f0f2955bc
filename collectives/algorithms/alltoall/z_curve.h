#ifndef HYCOLL_COLLECTIVES_ALGORITHMS_ALLTOALL_Z_CURVE_H_
#define HYCOLL_COLLECTIVES_ALGORITHMS_ALLTOALL_Z_CURVE_H_

#include <cstdint>
#include <utility>

#include "core/schedule/number_range.h"

namespace hycoll {

/// Neighbouring cells of a curve, by their numbers on it.
struct CurvePiece {
  std::int64_t first;
  std::int64_t count;
};

/// Of a rectangle's cells one of so many shares, as equal as can be.
constexpr CurvePiece share_of_curve(NumberRange rows, NumberRange columns, int share_count,
                                    int share) {
  const std::int64_t cells = std::int64_t{rows.count} * columns.count;
  const std::int64_t first = cells * share / share_count;
  return {.first = first, .count = cells * (share + 1) / share_count - first};
}

/// Calls visit(row, column) for the cells of a piece of the curve through a rectangle that fills
/// each quarter of it before the next one, and so on inside: the Z-curve, in Morton's order where
/// the sides are equal powers of two. Whatever the size of a cache, what is visited in a row that
/// fits into it has about as many rows as columns. A piece of n cells of a square has some 3
/// sqrt(n) rows and as many columns at most. Takes the time of its cells, and of the logarithm of
/// the rest.
///
/// Source: G. M. Morton, A Computer Oriented Geodetic Data Base, 1966; S. Li, Y. Zhang, T. Hoefler,
/// Cache-Oblivious MPI All-to-All Communications Based on Morton Order, 2017.
template <class Visit>
void visit_z_curve(NumberRange rows, NumberRange columns, CurvePiece piece, const Visit& visit) {
  const std::int64_t cells = std::int64_t{rows.count} * columns.count;
  if (cells == 0 || piece.first >= cells || piece.first + piece.count <= 0) return;
  if (cells == 1) return visit(rows.first, columns.first);
  const auto halves = [](NumberRange range) {
    const int first = (range.count + 1) / 2;
    return std::pair(NumberRange{range.first, first},
                     NumberRange{range.first + first, range.count - first});
  };
  const auto [upper, lower] = halves(rows);
  const auto [left, right] = halves(columns);
  for (const NumberRange& some_rows : {upper, lower}) {
    for (const NumberRange& some_columns : {left, right}) {
      visit_z_curve(some_rows, some_columns, piece, visit);
      piece.first -= std::int64_t{some_rows.count} * some_columns.count;
    }
  }
}

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ALGORITHMS_ALLTOALL_Z_CURVE_H_
