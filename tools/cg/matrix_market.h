#ifndef HYCOLL_TOOLS_CG_MATRIX_MARKET_H_
#define HYCOLL_TOOLS_CG_MATRIX_MARKET_H_

#include <cstdint>
#include <istream>
#include <string>
#include <vector>

namespace hycoll::cg {

/// One nonzero of a matrix, with row and column counted from 0.
struct MatrixEntry {
  std::int32_t row = 0;
  std::int32_t column = 0;
  double value = 0.0;
  friend bool operator==(const MatrixEntry&, const MatrixEntry&) = default;
};

/// A symmetric matrix with both triangles, sorted by row and then column, each place once.
struct SymmetricMatrix {
  std::int32_t row_count = 0;
  std::vector<MatrixEntry> entries;
};

/// Reads a Matrix Market file: coordinate; real, integer or pattern (whose entries are 1);
/// symmetric, of which one triangle is listed, or general.
///
/// Errors: invalid_argument, naming the line and the remedy, if the input is no such file, is
/// incomplete, lists a place twice, is not square, or cannot be positive definite because a
/// diagonal entry is not above 0; also if a general matrix is not symmetric (to a relative 1e-12),
/// since conjugate gradients solve symmetric positive definite systems only. `name` stands for the
/// input in messages.
///
/// Source: R. Boisvert, R. Pozo, K. Remington, The Matrix Market Exchange Formats: Initial Design,
/// NISTIR 5935, 1996.
SymmetricMatrix read_matrix_market(std::istream& input, const std::string& name);

/// The same from a file. Error: invalid_argument if it cannot be opened.
SymmetricMatrix read_matrix_market_file(const std::string& path);

}  // namespace hycoll::cg

#endif  // HYCOLL_TOOLS_CG_MATRIX_MARKET_H_
