#include "hycoll/heap_neighbours.h"

#include <fmt/format.h>

#include <atomic>
#include <cstring>

#include "collectives/arena_exchange.h"
#include "core/errors.h"
#include "threading/mpi_endpoint.h"

namespace hycoll {

struct HeapNeighbours::State {
  explicit State(MPI_Comm communicator) {
    check_mpi(MPI_Comm_split_type(communicator, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node),
              "MPI_Comm_split_type");
    check_mpi(MPI_Comm_rank(node, &rank), "MPI_Comm_rank");
    check_mpi(MPI_Comm_size(node, &size), "MPI_Comm_size");
    arenas = exchange_arenas(node);
  }
  ~State() {
    if (node != MPI_COMM_NULL) MPI_Comm_free(&node);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  std::byte* resolve(int neighbour, const void* address, std::size_t size_bytes) {
    if (neighbour < 0 || neighbour >= size) return nullptr;
    return arenas.mappings->resolve_address(static_cast<std::size_t>(neighbour),
                                            reinterpret_cast<std::uintptr_t>(address), size_bytes);
  }

  std::byte* require(int neighbour, const void* address, std::size_t size_bytes) {
    if (neighbour < 0 || neighbour >= size) {
      throw Error(
          ErrorKind::invalid_argument,
          fmt::format("neighbour is {}, but there are {}; use 0 to {}", neighbour, size, size - 1));
    }
    if (size_bytes == 0) return nullptr;  // Nothing is touched, wherever it lies.
    std::byte* const here = resolve(neighbour, address, size_bytes);
    if (here != nullptr) return here;
    const auto process = static_cast<std::size_t>(neighbour);
    if (arenas.mappings->resolve(process, 0, 1) == nullptr) {
      throw Error(ErrorKind::environment,
                  fmt::format("the shared heap of neighbour {} cannot be accessed from neighbour "
                              "{}; do they run as one user, in one process namespace?",
                              neighbour, rank));
    }
    throw Error(ErrorKind::invalid_argument,
                fmt::format("address {} (and {} bytes from it) is not in the shared heap of "
                            "neighbour {}; allocate the block there with hycoll::allocate",
                            address, size_bytes, neighbour));
  }

  MPI_Comm node = MPI_COMM_NULL;
  int rank = 0;
  int size = 1;
  ExchangedArenas arenas;
};

HeapNeighbours::HeapNeighbours(MPI_Comm communicator)
    : state_(std::make_unique<State>(communicator)) {}

HeapNeighbours::~HeapNeighbours() = default;

int HeapNeighbours::rank() const noexcept { return state_->rank; }
int HeapNeighbours::size() const noexcept { return state_->size; }
bool HeapNeighbours::all_reachable() const noexcept { return state_->arenas.all_reachable; }

void HeapNeighbours::fence() {
  // MPI's barrier orders the processes, but promises nothing about memory that it does not know of.
  // The two fences pair with those of the neighbours: stores before the one are seen after the
  // other.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  check_mpi(MPI_Barrier(state_->node), "MPI_Barrier");
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

void HeapNeighbours::put(int neighbour, void* address, const void* source, std::size_t size_bytes) {
  std::byte* const there = state_->require(neighbour, address, size_bytes);
  if (size_bytes > 0) std::memcpy(there, source, size_bytes);
}

void HeapNeighbours::get(int neighbour, const void* address, void* destination,
                         std::size_t size_bytes) {
  const std::byte* const there = state_->require(neighbour, address, size_bytes);
  if (size_bytes > 0) std::memcpy(destination, there, size_bytes);
}

void* HeapNeighbours::resolve(int neighbour, const void* address, std::size_t size_bytes) noexcept {
  return state_->resolve(neighbour, address, size_bytes);
}

void* HeapNeighbours::resolve(const HeapAddress& place, std::size_t size_bytes) noexcept {
  const auto& descriptions = state_->arenas.descriptions;
  for (std::size_t process = 0; process < descriptions.size(); ++process) {
    if (descriptions[process].id == place.arena) {
      return state_->arenas.mappings->resolve(process, place.offset, size_bytes);
    }
  }
  return nullptr;
}

}  // namespace hycoll
