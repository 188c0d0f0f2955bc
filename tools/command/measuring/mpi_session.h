#ifndef HYCOLL_TOOLS_COMMAND_MEASURING_MPI_SESSION_H_
#define HYCOLL_TOOLS_COMMAND_MEASURING_MPI_SESSION_H_

#include <mpi.h>

#include <functional>
#include <string>

#include "tools/command/line/commands.h"

namespace hycoll::command {

/// How MPI is initialised.
enum class ThreadLevel {
  single,    ///< As a program of one rank per core does it.
  multiple,  ///< As hycoll needs it.
};

/// MPI while it is initialised.
struct MpiSession {
  MPI_Comm world;  ///< A duplicate of MPI_COMM_WORLD.
  int rank;
  int size;
  int local_rank;            ///< Among the processes of this machine.
  int local_size;            ///< The processes of this machine.
  std::string thread_level;  ///< What the library provides: "MPI_THREAD_MULTIPLE".

  bool speaks() const noexcept { return rank == 0; }

  /// Returns when all processes have called it. They sleep meanwhile, so that rank 0 can measure an
  /// idle machine. Slow: do not use it near measurements.
  void wait_idly() const;
};

/// Returns when all processes of a communicator have called it; as MpiSession::wait_idly.
void meet_idly(MPI_Comm comm);

/// Initialises MPI, runs `body` on every process and finalises. When body throws Error on all
/// processes rank 0 says why and the status is kUsage; when it does not do so on all within two
/// seconds, the job is aborted, so that nobody waits for those that failed.
ExitStatus run_with_mpi(ThreadLevel level,
                        const std::function<ExitStatus(const MpiSession&)>& body);

/// "MPICH 4.0.2", "Open MPI 4.1.4", or the first line of what the library says of itself. May be
/// called before MPI is initialised.
std::string mpi_library_name();

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_MEASURING_MPI_SESSION_H_
