#include "threading/transport/mpi/check_mpi.h"

#include <fmt/format.h>
#include <mpi.h>

#include <array>

#include "core/base/errors.h"

namespace hycoll {

void check_mpi(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  int error_class = 0;
  MPI_Error_class(code, &error_class);
  if (error_class == MPI_ERR_TRUNCATE) {
    throw Error(
        ErrorKind::mismatch,
        fmt::format("{}: {}. A process passed a larger count or type than this one; all members "
                    "must pass the same. HYCOLL_CHECK=1 names them",
                    what, text.data()));
  }
  throw Error(ErrorKind::environment, fmt::format("{} failed: {}", what, text.data()));
}

}  // namespace hycoll
