// When the preload library prepares itself for a communicator: alike on all processes, and not for
// those that see few and short calls.
#include <doctest/doctest.h>
#include <mpi.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "preload/session/payback.h"

namespace hycoll::preload {
namespace {

using std::chrono::duration;
using std::chrono::milliseconds;

/// Of a communicator that has lived for some time, and how many ticks that is.
struct Life {
  explicit Life(milliseconds time) : ticks_lived(ticks()) {
    std::this_thread::sleep_for(time);
    ticks_lived = ticks() - ticks_lived;
  }

  Payback payback;
  std::uint64_t ticks_lived;
};

int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

/// By process: what it has decided.
std::vector<int> decisions(bool own) {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::vector<int> all(static_cast<std::size_t>(size));
  const int number = own ? 1 : 0;
  MPI_Allgather(&number, 1, MPI_INT, all.data(), 1, MPI_INT, MPI_COMM_WORLD);
  return all;
}

TEST_CASE("processes compare after 4 calls, 8, 16, and so on") {
  Payback payback;
  std::vector<int> looks;
  for (int call = 0; call < 100; ++call) {
    if (payback.is_due()) {
      looks.push_back(payback.calls());
      CHECK_FALSE(payback.pays(MPI_COMM_SELF));  // the calls have taken no time
    }
    payback.count_call();
  }
  CHECK(looks == std::vector<int>{4, 8, 16, 32, 64});
}

TEST_CASE("calls that take long soon pay, and only if they do on all processes") {
  for (const bool is_long_everywhere : {true, false}) {
    Life life(milliseconds(20));
    const bool is_long = is_long_everywhere || world_rank() == 0;
    for (int call = 0; call < 4; ++call) {
      life.payback.count_call();
      life.payback.add(is_long ? life.ticks_lived / 4 : 0);
    }
    int size = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int expected = is_long_everywhere || size == 1 ? 1 : 0;
    CHECK(decisions(life.payback.pays(MPI_COMM_WORLD)) ==
          std::vector<int>(static_cast<std::size_t>(size), expected));
  }
}

TEST_CASE("calls that are not timed count like those that are") {
  for (const int untimed : {0, 1000}) {
    Life life(milliseconds(10));
    life.payback.count_call();
    life.payback.add(life.ticks_lived / 1000);
    for (int call = 0; call < untimed; ++call) life.payback.count_call();
    CHECK(life.payback.pays(MPI_COMM_SELF) == (untimed > 0));
  }
}

TEST_CASE("the least that preparing has taken one of the processes is what calls have to earn") {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const auto pays = [] {
    Life life(milliseconds(20));
    life.payback.count_call();
    life.payback.add(life.ticks_lived);
    return life.payback.pays(MPI_COMM_WORLD);
  };
  CHECK(pays());
  Payback::note_preparation(size, duration<double>(3600));
  CHECK_FALSE(pays());
  Payback::note_preparation(size, duration<double>(7200));
  CHECK_FALSE(pays());
  Payback::note_preparation(size, duration<double>(world_rank() == 0 ? 1e-6 : 7200));
  CHECK(pays());
}

}  // namespace
}  // namespace hycoll::preload
