#ifndef HYCOLL_COLLECTIVES_ELEMENTS_ERROR_CLASS_H_
#define HYCOLL_COLLECTIVES_ELEMENTS_ERROR_CLASS_H_

#include "core/base/errors.h"

namespace hycoll {

/// The error class of MPI that is nearest to an Error: MPI_ERR_ROOT, MPI_ERR_BUFFER,
/// MPI_ERR_TRUNCATE (sizes), MPI_ERR_ARG, MPI_ERR_OP, and MPI_ERR_OTHER for what MPI has no class
/// for.
int error_class(const Error& error) noexcept;

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ELEMENTS_ERROR_CLASS_H_
