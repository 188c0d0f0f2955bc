#ifndef HYCOLL_TOOLS_APPLICATION_COLLECTIVE_ERROR_H_
#define HYCOLL_TOOLS_APPLICATION_COLLECTIVE_ERROR_H_

#include <mpi.h>

#include <exception>
#include <string>

#include "core/base/errors.h"

namespace hycoll::application {

/// Runs `action` on rank 0 only. If it throws, every process throws an Error invalid_argument with
/// its message. Collective over `comm`.
template <class Action>
void on_rank_0(MPI_Comm comm, Action&& action) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  std::string message;
  if (rank == 0) {
    try {
      action();
    } catch (const std::exception& error) {
      message = error.what();
    }
  }
  int length = static_cast<int>(message.size());
  MPI_Bcast(&length, 1, MPI_INT, 0, comm);
  if (length == 0) return;
  message.resize(static_cast<std::size_t>(length));
  MPI_Bcast(message.data(), length, MPI_CHAR, 0, comm);
  throw Error(ErrorKind::invalid_argument, message);
}

}  // namespace hycoll::application

#endif  // HYCOLL_TOOLS_APPLICATION_COLLECTIVE_ERROR_H_
