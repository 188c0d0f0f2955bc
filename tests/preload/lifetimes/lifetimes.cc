// Communicators that live for a few calls, short or long, and are used until they are gone. Results
// are right whoever serves them, though MPI libraries give the handles of freed communicators to
// new ones; and calls that take long are hycoll's after a few, which the report tells (run.sh).

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "tests/preload/support/programs.h"

namespace {

using programs::rank_of;
using programs::size_of;

/// 8 MiB: a few of these calls take longer than preparing hycoll on any machine.
constexpr std::size_t kLongCount = std::size_t{1} << 20;
constexpr int kLongCalls = 24;
constexpr int kShortLived = 40;

void sum_often(MPI_Comm communicator, std::size_t count, int calls) {
  const int rank = programs::rank_of(communicator);
  const int size = programs::size_of(communicator);
  std::vector<long> input(count);
  std::vector<long> output(count);
  for (int call = 0; call < calls; ++call) {
    for (std::size_t i = 0; i < count; ++i) input[i] = static_cast<long>(i % 97) + call + rank;
    MPI_Allreduce(input.data(), output.data(), static_cast<int>(count), MPI_LONG, MPI_SUM,
                  communicator);
    for (std::size_t i = 0; i < count; ++i) {
      const long expected =
          size * (static_cast<long>(i % 97) + call) + static_cast<long>(size) * (size - 1) / 2;
      REQUIRE_HERE(output[i] == expected);
    }
  }
}

/// Collectives that show who is who in a communicator.
void check_ranks(MPI_Comm communicator) {
  const int rank = rank_of(communicator);
  const int size = size_of(communicator);
  for (int root = 0; root < size; ++root) {
    int told = rank == root ? 40 + root : -1;
    MPI_Bcast(&told, 1, MPI_INT, root, communicator);
    REQUIRE_HERE(told == 40 + root);
  }
  int sum = 0;
  MPI_Scan(&rank, &sum, 1, MPI_INT, MPI_SUM, communicator);
  REQUIRE_HERE(sum == rank * (rank + 1) / 2);
  std::vector<int> all(static_cast<std::size_t>(size), -1);
  MPI_Gather(&rank, 1, MPI_INT, all.data(), 1, MPI_INT, size - 1, communicator);
  for (int i = 0; rank == size - 1 && i < size; ++i) {
    REQUIRE_HERE(all[static_cast<std::size_t>(i)] == i);
  }
}

/// The same processes, in one of two orders.
MPI_Comm ordered(MPI_Comm communicator, unsigned order) {
  MPI_Comm made = MPI_COMM_NULL;
  const int rank = rank_of(communicator);
  MPI_Comm_split(communicator, 0, order % 2 == 0 ? rank : -rank, &made);
  return made;
}

/// A communicator's last collectives, as it is freed. One in two callbacks makes another one
/// meanwhile, and frees it.
int use_dying(MPI_Comm communicator, int /*key*/, void* value, void* /*state*/) {
  const auto number = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(value));
  for (unsigned call = 0; call < 1 + number % 3; ++call) check_ranks(communicator);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(communicator, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (number % 2 == 0) return MPI_SUCCESS;
  MPI_Comm made = ordered(communicator, number);
  for (int call = 0; call < 3; ++call) check_ranks(made);
  MPI_Comm_free(&made);
  return MPI_SUCCESS;
}

/// Delete callbacks run before and after hycoll's own: some attributes are set before it has seen
/// the communicator, others after.
void use_until_gone(MPI_Comm home) {
  constexpr int kRounds = 20;
  std::array<int, 4> keys{};
  for (int& key : keys) MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &use_dying, &key, nullptr);
  std::minstd_rand random(38);  // alike on all processes
  for (int round = 0; round < kRounds; ++round) {
    MPI_Comm dying = ordered(home, static_cast<unsigned>(random()));
    const std::size_t early = random() % (keys.size() + 1);
    const std::size_t all = early + random() % (keys.size() + 1 - early);
    const auto set = [&](std::size_t first, std::size_t last) {
      for (std::size_t k = first; k < last; ++k) {
        MPI_Comm_set_attr(dying, keys[k], reinterpret_cast<void*>(std::uintptr_t{random()}));
      }
    };
    set(0, early);
    for (auto calls = random() % 6; calls > 0; --calls) check_ranks(dying);
    set(early, all);
    switch (random() % 3) {
      case 0:
        MPI_Comm_free(&dying);
        break;
      case 1:
        PMPI_Comm_free(&dying);  // as tools and Fortran's interfaces do
        break;
      default:
        MPI_Comm_disconnect(&dying);
    }
    MPI_Comm next = ordered(home, static_cast<unsigned>(random()));
    for (auto calls = random() % 6; calls > 0; --calls) check_ranks(next);
    MPI_Comm_free(&next);
  }
  for (int& key : keys) MPI_Comm_free_keyval(&key);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  for (int lived = 0; lived < kShortLived; ++lived) {
    MPI_Comm communicator = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &communicator);
    sum_often(communicator, 1, lived);
    MPI_Comm_free(&communicator);
  }
  use_until_gone(MPI_COMM_WORLD);
  sum_often(MPI_COMM_WORLD, kLongCount, kLongCalls);
  MPI_Finalize();
  return 0;
}
