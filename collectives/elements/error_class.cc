#include "collectives/elements/error_class.h"

#include <mpi.h>

namespace hycoll {

int error_class(const Error& error) noexcept {
  if (dynamic_cast<const RootError*>(&error) != nullptr) return MPI_ERR_ROOT;
  if (dynamic_cast<const BufferError*>(&error) != nullptr) return MPI_ERR_BUFFER;
  if (dynamic_cast<const SizeError*>(&error) != nullptr) return MPI_ERR_TRUNCATE;
  switch (error.kind()) {
    case ErrorKind::invalid_argument:
      return MPI_ERR_ARG;
    case ErrorKind::user_operator:
      return MPI_ERR_OP;
    case ErrorKind::mismatch:
    case ErrorKind::unsupported:
    case ErrorKind::environment:
    case ErrorKind::timeout:
      break;
  }
  return MPI_ERR_OTHER;
}

}  // namespace hycoll
