#ifndef HYCOLL_COLLECTIVES_API_HEAP_NEIGHBOURS_H_
#define HYCOLL_COLLECTIVES_API_HEAP_NEIGHBOURS_H_

#include <mpi.h>

#include "hycoll/heap.h"

#ifdef __cplusplus
#include <cstddef>
#include <memory>

extern "C" {
#else
#include <stddef.h>
#endif

/// hycoll::HeapNeighbours, below, for programs in C. Each function does what the member function of
/// the same name does. Those that return int return MPI_SUCCESS or an error class of MPI's:
/// MPI_ERR_ARG for arguments that are wrong, MPI_ERR_OTHER for what the system or MPI refuses; then
/// hycoll_error_text() says more.
typedef struct hycoll_neighbours hycoll_neighbours;

/// Collective over `communicator`. Writes to `*neighbours` what hycoll_neighbours_free takes; null
/// if it fails.
int hycoll_neighbours_create(MPI_Comm communicator, hycoll_neighbours** neighbours);

/// Collective over the neighbours. Frees `*neighbours`, and makes it null; null does nothing.
/// Before MPI_Finalize.
void hycoll_neighbours_free(hycoll_neighbours** neighbours);

int hycoll_neighbours_rank(const hycoll_neighbours* neighbours);
int hycoll_neighbours_size(const hycoll_neighbours* neighbours);

/// 1 or 0.
int hycoll_neighbours_all_reachable(const hycoll_neighbours* neighbours);

int hycoll_fence(hycoll_neighbours* neighbours);
int hycoll_put(hycoll_neighbours* neighbours, int neighbour, void* address, const void* source,
               size_t size_bytes);
int hycoll_get(hycoll_neighbours* neighbours, int neighbour, const void* address, void* destination,
               size_t size_bytes);
void* hycoll_resolve(hycoll_neighbours* neighbours, int neighbour, const void* address,
                     size_t size_bytes);

/// What the last function on this thread that did not return MPI_SUCCESS met; "" if there is none.
/// Valid until the next one fails.
const char* hycoll_error_text(void);

#ifdef __cplusplus
}

namespace hycoll {

/// The processes of one machine, for direct access to one another's blocks of the shared heap
/// (hycoll/heap.h): the second paper's RMA-fence, RMA-Put and RMA-Get.
///
/// Between two fences every process may put into and get from the others' blocks, as long as no two
/// touch the same bytes and one of them writes. A put or get is a copy by the caller: when it
/// returns, the bytes have been moved, and after the next fence the owner sees them.
///
/// Example: each process writes its rank into a block of its right neighbour's.
///
///     hycoll::HeapNeighbours neighbours(MPI_COMM_WORLD);
///     std::vector<int, hycoll::Allocator<int>> block(1, -1);
///     int* own = block.data();
///     std::vector<int*> blocks(static_cast<std::size_t>(neighbours.size()));
///     MPI_Allgather(&own, sizeof own, MPI_BYTE, blocks.data(), sizeof own, MPI_BYTE,
///                   MPI_COMM_WORLD);
///     const int right = (neighbours.rank() + 1) % neighbours.size();
///     const int rank = neighbours.rank();
///     neighbours.fence();
///     neighbours.put(right, blocks[static_cast<std::size_t>(right)], &rank, sizeof rank);
///     neighbours.fence();
///     check(block[0] == (rank + neighbours.size() - 1) % neighbours.size());
///
/// Different threads may put and get at once; fence is for one thread at a time.
/// Source: "Overlapped NUMA-aware multi-leader multi-port all-to-all", section 7.1.
class HeapNeighbours {
 public:
  /// Collective over `communicator`. The neighbours are its processes that can share memory with
  /// this one (MPI_COMM_TYPE_SHARED), in the order of their ranks. Every process gets its arena
  /// here if it has none yet. Errors: environment, if an MPI function fails.
  explicit HeapNeighbours(MPI_Comm communicator);
  ~HeapNeighbours();
  HeapNeighbours(const HeapNeighbours&) = delete;
  HeapNeighbours& operator=(const HeapNeighbours&) = delete;

  /// This process among its neighbours, and their number, itself included.
  int rank() const noexcept;
  /// The number of neighbours, this process included.
  int size() const noexcept;

  /// Whether every neighbour can access every neighbour's arena; the same on all of them. If not
  /// (containers with process namespaces of their own, other users), put and get may throw.
  bool all_reachable() const noexcept;

  /// Collective over the neighbours: what was put before is seen after.
  void fence();

  /// Copies `size_bytes` to, or from, an address that lies in a block of `neighbour`, as that
  /// process sees it. Errors: invalid_argument, if there is no such neighbour or the range is not
  /// in its arena; environment, if its arena cannot be accessed from here.
  void put(int neighbour, void* address, const void* source, std::size_t size_bytes);
  /// Copies from there to `destination`, otherwise as put().
  void get(int neighbour, const void* address, void* destination, std::size_t size_bytes);

  /// Where this process sees a neighbour's block; nullptr where put and get would throw.
  void* resolve(int neighbour, const void* address, std::size_t size_bytes) noexcept;

  /// The same for a place that hycoll::announce has told; nullptr also if no neighbour has it.
  void* resolve(const HeapAddress& place, std::size_t size_bytes) noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hycoll
#endif

#endif  // HYCOLL_COLLECTIVES_API_HEAP_NEIGHBOURS_H_
