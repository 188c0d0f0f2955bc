#include "hycoll/heap_neighbours.h"

#include <fmt/format.h>

#include <atomic>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "collectives/node/arena_exchange.h"
#include "core/base/errors.h"
#include "core/base/lifetime.h"
#include "threading/transport/mpi/mpi_endpoint.h"

namespace hycoll {

struct HeapNeighbours::State {
  State(JointSetup& setup, MPI_Comm communicator)
      : node(MpiCommunicator::of_machine(setup, communicator)) {
    check_mpi(MPI_Comm_rank(node->handle(), &rank), "MPI_Comm_rank");
    check_mpi(MPI_Comm_size(node->handle(), &size), "MPI_Comm_size");
    arenas = exchange_arenas(setup, node->handle());
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

  std::shared_ptr<const MpiCommunicator> node;
  int rank = 0;
  int size = 1;
  ExchangedArenas arenas;
};

HeapNeighbours::HeapNeighbours(MPI_Comm communicator)
    : state_(JointSetup::run(communicator, [&](JointSetup& setup) {
        return std::make_unique<State>(setup, communicator);
      })) {}

HeapNeighbours::~HeapNeighbours() = default;

int HeapNeighbours::rank() const noexcept { return state_->rank; }
int HeapNeighbours::size() const noexcept { return state_->size; }
bool HeapNeighbours::all_reachable() const noexcept { return state_->arenas.all_reachable; }

void HeapNeighbours::fence() {
  // MPI's barrier orders the processes, but promises nothing about memory that it does not know of.
  // The two fences pair with those of the neighbours: stores before the one are seen after the
  // other.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  check_mpi(MPI_Barrier(state_->node->handle()), "MPI_Barrier");
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

struct hycoll_neighbours {
  explicit hycoll_neighbours(MPI_Comm communicator) : neighbours(communicator) {}
  hycoll::HeapNeighbours neighbours;
};

namespace {

/// Of the thread's last failure.
struct ErrorText {
  std::string text;
};

std::string& error_text() { return hycoll::of_this_thread<ErrorText>().text; }

int failed(int error_class, const char* text) {
  error_text() = text;
  return error_class;
}

/// MPI_SUCCESS, or the class of what `body` throws.
template <class Body>
int error_class_of(const Body& body) {
  try {
    body();
    return MPI_SUCCESS;
  } catch (const hycoll::Error& error) {
    const bool is_argument = error.kind() == hycoll::ErrorKind::invalid_argument;
    return failed(is_argument ? MPI_ERR_ARG : MPI_ERR_OTHER, error.what());
  } catch (const std::exception& error) {
    return failed(MPI_ERR_OTHER, error.what());
  }
}

/// The same for functions of some neighbours.
template <class Body>
int error_class_of(hycoll_neighbours* neighbours, const Body& body) {
  if (neighbours == nullptr) {
    return failed(MPI_ERR_ARG, "neighbours is null; make some with hycoll_neighbours_create");
  }
  return error_class_of([&] { body(neighbours->neighbours); });
}

}  // namespace

extern "C" {

int hycoll_neighbours_create(MPI_Comm communicator, hycoll_neighbours** neighbours) {
  *neighbours = nullptr;
  return error_class_of([&] { *neighbours = new hycoll_neighbours(communicator); });
}

void hycoll_neighbours_free(hycoll_neighbours** neighbours) {
  delete std::exchange(*neighbours, nullptr);
}

int hycoll_neighbours_rank(const hycoll_neighbours* neighbours) {
  return neighbours->neighbours.rank();
}

int hycoll_neighbours_size(const hycoll_neighbours* neighbours) {
  return neighbours->neighbours.size();
}

int hycoll_neighbours_all_reachable(const hycoll_neighbours* neighbours) {
  return neighbours->neighbours.all_reachable() ? 1 : 0;
}

int hycoll_fence(hycoll_neighbours* neighbours) {
  return error_class_of(neighbours, [](hycoll::HeapNeighbours& heap) { heap.fence(); });
}

int hycoll_put(hycoll_neighbours* neighbours, int neighbour, void* address, const void* source,
               size_t size_bytes) {
  return error_class_of(neighbours, [&](hycoll::HeapNeighbours& heap) {
    heap.put(neighbour, address, source, size_bytes);
  });
}

int hycoll_get(hycoll_neighbours* neighbours, int neighbour, const void* address, void* destination,
               size_t size_bytes) {
  return error_class_of(neighbours, [&](hycoll::HeapNeighbours& heap) {
    heap.get(neighbour, address, destination, size_bytes);
  });
}

void* hycoll_resolve(hycoll_neighbours* neighbours, int neighbour, const void* address,
                     size_t size_bytes) {
  return neighbours == nullptr ? nullptr
                               : neighbours->neighbours.resolve(neighbour, address, size_bytes);
}

const char* hycoll_error_text(void) { return error_text().c_str(); }
}
