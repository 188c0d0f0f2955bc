#ifndef HYCOLL_TOOLS_COMMAND_MEASURING_PERSISTENT_CONTESTANTS_H_
#define HYCOLL_TOOLS_COMMAND_MEASURING_PERSISTENT_CONTESTANTS_H_

#include <mpi.h>

#include <cstddef>
#include <memory>

#include "collectives/api/hycoll.h"
#include "tools/command/measuring/contestants.h"

namespace hycoll::command {

/// The forms of one call, each timed by itself between two readings of the clock: so all carry the
/// same cost of reading it. `caller` outlives them.
struct PersistentContestants {
  std::unique_ptr<Contestant> call;            ///< The blocking call.
  std::unique_ptr<Contestant> start;           ///< start(); what wait() takes does not count.
  std::unique_ptr<Contestant> start_and_wait;  ///< start() and wait().
  std::unique_ptr<Contestant> run;             ///< run().
};

/// Sets up a persistent call for each pair of buffers when it is first used, which all members do
/// alike.
PersistentContestants persistent_contestants(Communicator& caller, const Problem& problem,
                                             std::size_t count);
PersistentContestants persistent_contestants(Member& caller, const Problem& problem,
                                             std::size_t count);

/// The MPI library's blocking call, timed in the same way.
std::unique_ptr<Contestant> timed_native_contestant(MPI_Comm comm, const Problem& problem,
                                                    std::size_t count);

/// start and wait of the MPI library's persistent call, timed in the same way; null where the
/// library has none (kHasNativePersistent), or one that is wrong.
std::unique_ptr<Contestant> persistent_native_contestant(MPI_Comm comm, const Problem& problem,
                                                         std::size_t count);

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_MEASURING_PERSISTENT_CONTESTANTS_H_
