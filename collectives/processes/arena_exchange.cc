#include "collectives/processes/arena_exchange.h"

#include <array>
#include <cstdlib>
#include <string_view>

#include "heap/process_heap.h"
#include "threading/transport/mpi/mpi_endpoint.h"

namespace hycoll {
namespace {

bool is_used_here() {
  const char* asked = std::getenv("HYCOLL_SHARED_HEAP");
  return process_heap().usage().peak_block_bytes > 0 ||
         (asked != nullptr && std::string_view(asked) == "1");
}

}  // namespace

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
  // Of both numbers the smallest decides.
  std::array<int, 2> facts = {1, is_used_here() ? 0 : 1};
  auto& [reachable, unused] = facts;
  for (std::size_t process = 0; process < arenas.mappings->size(); ++process) {
    if (arenas.mappings->resolve(process, 0, 1) == nullptr) reachable = 0;
  }
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, facts.data(), 2, MPI_INT, MPI_MIN, node), "MPI_Allreduce");
  arenas.all_reachable = reachable == 1;
  arenas.any_used = unused == 0;
  return arenas;
}

}  // namespace hycoll
