#ifndef HYCOLL_COLLECTIVES_ELEMENTS_WIDE_REDUCER_H_
#define HYCOLL_COLLECTIVES_ELEMENTS_WIDE_REDUCER_H_

#include <memory>

#include "core/base/types.h"
#include "core/kernels/reducer.h"
#include "threading/transport/mpi/mpi_types.h"

namespace hycoll {

/// Reductions of types that C does not have everywhere, and MPI libraries therefore get wrong:
/// Fortran's REAL(16), COMPLEX(16) and INTEGER(16). MPICH 4.0 and Open MPI 4.1 take MPI_REAL16 for
/// a long double or do not know it in MPI_SUM, and lack some of the others.
///
/// Folds from the left; the minimum and the maximum are as those of the kernels. Null for other
/// representations, for operators that are not defined on them, and where the compiler has no such
/// types.
std::shared_ptr<const ForeignReducer> make_wide_reducer(Operator op, Representation representation);

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ELEMENTS_WIDE_REDUCER_H_
