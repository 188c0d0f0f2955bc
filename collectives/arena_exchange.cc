#include "collectives/arena_exchange.h"

#include "heap/process_heap.h"
#include "threading/mpi_endpoint.h"

namespace hycoll {

ExchangedArenas exchange_arenas(MPI_Comm node) {
  int size = 1;
  check_mpi(MPI_Comm_size(node, &size), "MPI_Comm_size");
  ExchangedArenas arenas;
  arenas.descriptions.resize(static_cast<std::size_t>(size));
  const ArenaDescription own = process_heap().describe();
  constexpr int kBytes = sizeof(ArenaDescription);
  check_mpi(
      MPI_Allgather(&own, kBytes, MPI_BYTE, arenas.descriptions.data(), kBytes, MPI_BYTE, node),
      "MPI_Allgather");
  arenas.mappings = std::make_unique<MappingCache>(arenas.descriptions);
  int reachable = 1;
  for (std::size_t process = 0; process < arenas.mappings->size(); ++process) {
    if (arenas.mappings->resolve(process, 0, 1) == nullptr) reachable = 0;
  }
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &reachable, 1, MPI_INT, MPI_MIN, node), "MPI_Allreduce");
  arenas.all_reachable = reachable == 1;
  return arenas;
}

}  // namespace hycoll
