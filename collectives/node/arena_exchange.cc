#include "collectives/node/arena_exchange.h"

#include <cstdlib>
#include <string_view>

#include "heap/process_heap.h"
#include "threading/transport/mpi/check_mpi.h"

namespace hycoll {
namespace {

bool is_used_here() {
  const char* asked = std::getenv("HYCOLL_SHARED_HEAP");
  return process_heap().usage().peak_block_bytes > 0 ||
         (asked != nullptr && std::string_view(asked) == "1");
}

}  // namespace

ExchangedArenas exchange_arenas(JointSetup& setup, MPI_Comm node) {
  int size = 1;
  check_mpi(MPI_Comm_size(node, &size), "MPI_Comm_size");
  ExchangedArenas arenas;
  arenas.descriptions.resize(static_cast<std::size_t>(size));
  const ArenaDescription own = process_heap().describe();
  constexpr int kBytes = sizeof(ArenaDescription);
  setup.meet();
  JointSetup::complete("MPI_Iallgather", [&](MPI_Request* request) {
    return MPI_Iallgather(&own, kBytes, MPI_BYTE, arenas.descriptions.data(), kBytes, MPI_BYTE,
                          node, request);
  });
  arenas.mappings = std::make_unique<MappingCache>(arenas.descriptions);
  bool reaches_all = true;
  for (std::size_t process = 0; process < arenas.mappings->size(); ++process) {
    if (arenas.mappings->resolve(process, 0, 1) == nullptr) reaches_all = false;
  }
  const JointSetup::Numbers least = setup.least({reaches_all ? 1 : 0, is_used_here() ? 0 : 1});
  arenas.all_reachable = least[0] == 1;
  arenas.any_used = least[1] == 0;
  return arenas;
}

}  // namespace hycoll
