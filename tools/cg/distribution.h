#ifndef HYCOLL_TOOLS_CG_DISTRIBUTION_H_
#define HYCOLL_TOOLS_CG_DISTRIBUTION_H_

#include <mpi.h>

#include <string>

#include "tools/cg/linear_operator.h"
#include "tools/cg/matrix_market.h"

namespace hycoll::cg {

/// Distributes the rows of `matrix` in blocks that differ by at most one row; the right-hand side
/// is the matrix times 1. Collective over `comm`; `matrix` is read on rank 0 only. Processes
/// without rows are legal. Errors, the same on all processes: invalid_argument if the right-hand
/// side is 0, unsupported if the matrix has 2^31 nonzeros or more.
System make_matrix_system(const SymmetricMatrix& matrix, const std::string& name, MPI_Comm comm);

/// The same from a Matrix Market file that rank 0 reads. Errors as read_matrix_market_file and
/// above, the same on all processes.
System make_matrix_file_system(const std::string& path, MPI_Comm comm);

}  // namespace hycoll::cg

#endif  // HYCOLL_TOOLS_CG_DISTRIBUTION_H_
