#ifndef HYCOLL_COLLECTIVES_NODE_ARENA_EXCHANGE_H_
#define HYCOLL_COLLECTIVES_NODE_ARENA_EXCHANGE_H_

#include <mpi.h>

#include <memory>
#include <vector>

#include "heap/mapping_cache.h"
#include "threading/transport/mpi/joint_setup.h"

namespace hycoll {

/// The arenas of the processes of a communicator, as one process sees them.
struct ExchangedArenas {
  std::vector<ArenaDescription> descriptions;  ///< By rank.
  std::unique_ptr<MappingCache> mappings;      ///< By rank; never null.
  /// Whether every process has an arena that every other can access. The same on all processes.
  bool all_reachable = false;
  /// Whether any process uses its arena: it has or had blocks, or HYCOLL_SHARED_HEAP=1 asks for
  /// them. The same on all processes.
  bool any_used = false;
};

/// Tells all processes of `node` about one another's arenas, which are made where there are none
/// yet, and finds out together whether they can be accessed. Collective over `node`, whose set-up
/// this is a part of, and whose processes need not be on one machine. Throws Error (environment) if
/// an MPI function fails.
ExchangedArenas exchange_arenas(JointSetup& setup, MPI_Comm node);

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_NODE_ARENA_EXCHANGE_H_
