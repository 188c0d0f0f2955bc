/* The shared heap in C: blocks, usage, and a ring of puts and gets between the processes of a
 * machine. */

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "hycoll/heap.h"
#include "hycoll/heap_neighbours.h"

#define CHECK(condition)                                                                        \
  do {                                                                                          \
    if (!(condition)) {                                                                         \
      fprintf(stderr, "%s:%d: %s (%s)\n", __FILE__, __LINE__, #condition, hycoll_error_text()); \
      MPI_Abort(MPI_COMM_WORLD, 1);                                                             \
    }                                                                                           \
  } while (0)

enum { kCount = 10000 };

static int32_t value_of(int rank, int round, size_t index) {
  return (int32_t)(rank * 1000003 + round * 10007 + (int32_t)index);
}

/* Every process puts into the next one's first half, and fetches the previous one's second half. */
static void ring(hycoll_neighbours* neighbours, int round) {
  const int rank = hycoll_neighbours_rank(neighbours);
  const int size = hycoll_neighbours_size(neighbours);
  const int next = (rank + 1) % size;
  const int previous = (rank + size - 1) % size;
  const size_t bytes = kCount * sizeof(int32_t);
  int32_t* block = hycoll_malloc(2 * bytes);
  CHECK(block != NULL);
  memset(block, 0xff, 2 * bytes);
  static int32_t sent[kCount];
  static int32_t fetched[kCount];
  for (size_t i = 0; i < kCount; ++i) {
    sent[i] = value_of(rank, round, i);
    block[kCount + i] = -value_of(rank, round, i);
    fetched[i] = 42;
  }
  uint64_t own = (uint64_t)(uintptr_t)block;
  uint64_t of_next = 0;
  uint64_t of_previous = 0;
  MPI_Sendrecv(&own, 1, MPI_UINT64_T, previous, 0, &of_next, 1, MPI_UINT64_T, next, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Sendrecv(&own, 1, MPI_UINT64_T, next, 1, &of_previous, 1, MPI_UINT64_T, previous, 1,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK(hycoll_fence(neighbours) == MPI_SUCCESS);
  CHECK(hycoll_put(neighbours, next, (void*)(uintptr_t)of_next, sent, bytes) == MPI_SUCCESS);
  const int32_t* second_half = (const int32_t*)(uintptr_t)of_previous + kCount;
  CHECK(hycoll_get(neighbours, previous, second_half, fetched, bytes) == MPI_SUCCESS);
  const int32_t* seen = hycoll_resolve(neighbours, previous, second_half, bytes);
  CHECK(seen != NULL);
  CHECK(memcmp(seen, fetched, bytes) == 0);
  CHECK(hycoll_fence(neighbours) == MPI_SUCCESS);
  for (size_t i = 0; i < kCount; ++i) {
    CHECK(block[i] == value_of(previous, round, i));
    CHECK(fetched[i] == -value_of(previous, round, i));
    CHECK(block[kCount + i] == -value_of(rank, round, i));
  }
  struct hycoll_heap_usage usage;
  hycoll_get_heap_usage(&usage);
  CHECK(usage.block_count == 1 && usage.block_bytes >= 2 * bytes);
  CHECK(usage.mapped_arenas == (size_t)size - 1 && usage.private_fallbacks == 0);
  CHECK(size == 1 || usage.mapping_hits > 0);
  hycoll_free(block);
}

static void refusals(hycoll_neighbours* neighbours) {
  int here = 0;
  CHECK(hycoll_put(neighbours, -1, &here, &here, sizeof here) == MPI_ERR_ARG);
  CHECK(strstr(hycoll_error_text(), "neighbour is -1") != NULL);
  CHECK(hycoll_get(neighbours, 0, &here, &here, sizeof here) == MPI_ERR_ARG);
  CHECK(strstr(hycoll_error_text(), "not in the shared heap") != NULL);
  CHECK(hycoll_resolve(neighbours, 0, &here, sizeof here) == NULL);
  CHECK(hycoll_fence(NULL) == MPI_ERR_ARG);
  CHECK(strstr(hycoll_error_text(), "hycoll_neighbours_create") != NULL);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  hycoll_neighbours* neighbours = NULL;
  hycoll_neighbours_free(&neighbours);
  CHECK(hycoll_neighbours_create(MPI_COMM_WORLD, &neighbours) == MPI_SUCCESS);
  CHECK(hycoll_neighbours_all_reachable(neighbours) == 1);
  CHECK(strcmp(hycoll_error_text(), "") == 0);
  for (int round = 0; round < 5; ++round) ring(neighbours, round);
  refusals(neighbours);
  hycoll_neighbours_free(&neighbours);
  CHECK(neighbours == NULL);
  MPI_Finalize();
  return 0;
}
