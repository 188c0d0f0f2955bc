// The last process has a GPU's driver, and passes buffers in the GPU's memory in some calls.
// usage: devices DRIVER_LIBRARY [late]
//   late  it loads the driver when hycoll serves MPI_COMM_WORLD already, where it passes memory of
//         the host only from then on; GPU's memory it passes on a communicator made later

#include <dlfcn.h>
#include <mpi.h>

#include <cstddef>
#include <vector>

#include "tests/preload/support/programs.h"

namespace {

using programs::rank_of;
using programs::size_of;

constexpr int kCount = 1000;

/// Declares memory to be a GPU's, by a driver that this process has loaded.
using Declare = void (*)(const void* begin, std::size_t size_bytes);

Declare load(const char* library) {
  void* const handle = dlopen(library, RTLD_NOW);
  REQUIRE_HERE(handle != nullptr);
  const auto declare = reinterpret_cast<Declare>(dlsym(handle, "declare_device_memory"));
  REQUIRE_HERE(declare != nullptr);
  return declare;
}

void call_all(std::vector<int>& buffer, MPI_Comm communicator) {
  const int rank = rank_of(communicator);
  const int size = size_of(communicator);
  const int sum = size * (size + 1) / 2;
  const auto fill = [&](int value) { buffer.assign(kCount, value); };
  const auto expect = [&](int value) {
    for (const int element : buffer) REQUIRE_HERE(element == value);
  };
  fill(rank + 1);
  MPI_Allreduce(MPI_IN_PLACE, buffer.data(), kCount, MPI_INT, MPI_SUM, communicator);
  expect(sum);
  fill(rank + 1);
  std::vector<int> output(kCount, 0);
  MPI_Reduce(buffer.data(), output.data(), kCount, MPI_INT, MPI_SUM, 0, communicator);
  if (rank == 0) REQUIRE_HERE(output.front() == sum && output.back() == sum);
  fill(rank + 7);
  MPI_Bcast(buffer.data(), kCount, MPI_INT, 0, communicator);
  expect(7);
  // The input may be the GPU's, and has another description than the output.
  fill(rank + 3);
  const auto count = static_cast<std::size_t>(size);
  std::vector<int> all(2 * kCount * count, -1);
  MPI_Datatype spaced = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &spaced);
  MPI_Type_commit(&spaced);
  MPI_Allgather(buffer.data(), kCount, MPI_INT, all.data(), kCount, spaced, communicator);
  MPI_Type_free(&spaced);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const int owner = static_cast<int>(i / (2 * kCount));
    REQUIRE_HERE(all[i] == (i % 2 == 0 ? owner + 3 : -1));
  }
  MPI_Barrier(communicator);
  fill(rank + 1);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(MPI_IN_PLACE, buffer.data(), kCount, MPI_INT, MPI_SUM, communicator, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect(sum);
}

}  // namespace

int main(int argc, char** argv) {
  REQUIRE_HERE(argc == 2 || argc == 3);
  const bool is_late = argc == 3;
  MPI_Init(&argc, &argv);
  const bool is_last = rank_of(MPI_COMM_WORLD) + 1 == size_of(MPI_COMM_WORLD);
  std::vector<int> buffer(kCount);
  for (int round = 0; is_late && round < 4; ++round) call_all(buffer, MPI_COMM_WORLD);
  const Declare declare = is_last ? load(argv[1]) : nullptr;
  MPI_Comm communicator = MPI_COMM_WORLD;
  if (is_late) MPI_Comm_dup(MPI_COMM_WORLD, &communicator);
  for (int round = 0; round < 8; ++round) {
    if (is_last) declare(buffer.data(), round % 2 == 0 ? 0 : kCount * sizeof(int));
    call_all(buffer, communicator);
    if (is_last) declare(nullptr, 0);
    call_all(buffer, MPI_COMM_WORLD);
  }
  if (is_late) MPI_Comm_free(&communicator);
  const int rank = rank_of(MPI_COMM_WORLD);
  MPI_Finalize();
  if (rank == 0) std::puts("devices: ok");
  return 0;
}
