#ifndef HYCOLL_TESTS_PRELOAD_MOVEMENTS_TRIALS_H_
#define HYCOLL_TESTS_PRELOAD_MOVEMENTS_TRIALS_H_

#include <mpi.h>

#include <array>
#include <cstdio>

#include "tests/preload/movements/descriptions.h"
#include "tests/preload/support/programs.h"

// How the programs that move data make their calls. Buffers are made of a trial and a communicator;
// they have call(), start(request) and check().

namespace programs {

template <class Buffers, class Trial>
void blocking(const Trial& trial, MPI_Comm communicator) {
  Buffers buffers(trial, communicator);
  REQUIRE_HERE(buffers.call() == MPI_SUCCESS);
  buffers.check();
}

/// Two trials are under way, waited for or tested by what the round says.
template <class Buffers, class Trial>
void two_under_way(const Trial& trial, const Trial& next, MPI_Comm communicator) {
  Buffers first(trial, communicator);
  Buffers second(next, communicator);
  std::array<MPI_Request, 2> requests = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  first.start(&requests[0]);
  second.start(&requests[1]);
  if (trial.round % 2 == 0) {
    MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
  } else {
    for (int is_over = 0; is_over == 0;) {
      MPI_Testall(2, requests.data(), &is_over, MPI_STATUSES_IGNORE);
    }
  }
  first.check();
  second.check();
}

/// The same trial, and one of another round.
template <class Buffers, class Trial>
void nonblocking(const Trial& trial, MPI_Comm communicator) {
  Trial next = trial;
  next.round += 5000;
  two_under_way<Buffers>(trial, next, communicator);
}

/// Every process has an input and an output, each of equal blocks.
struct InputOutputTrial {
  int count = 0;  ///< Integers of a block.
  int input_way = 0;
  int output_way = 0;
  bool is_in_place = false;
  int round = 0;
};

/// All ways to describe input and output, the same on all processes and each its own, and in place
/// on all, for blocks of several lengths.
template <class Buffers>
void in_all_ways(MPI_Comm communicator) {
  const int rank = rank_of(communicator);
  int round = 0;
  const auto in_both_forms = [&](InputOutputTrial trial) {
    trial.round = ++round;
    blocking<Buffers>(trial, communicator);
    nonblocking<Buffers>(trial, communicator);
  };
  for (const int count : {6, 60, 3000, 30'000}) {
    for (int input_way = 0; input_way < kWays; ++input_way) {
      for (int output_way = 0; output_way < kWays; ++output_way) {
        for (const int shift : {0, rank}) {
          in_both_forms({.count = count,
                         .input_way = (input_way + shift) % kWays,
                         .output_way = (output_way + 2 * shift) % kWays});
        }
      }
    }
    for (int way = 0; way < kWays; ++way) {
      in_both_forms({.count = count, .input_way = way, .output_way = way, .is_in_place = true});
    }
  }
  blocking<Buffers>(
      InputOutputTrial{.count = 300'000, .input_way = 0, .output_way = 4, .round = ++round},
      communicator);
}

/// An intercommunicator of the even and the odd processes, as one of these sees it.
struct EvenAndOdd {
  MPI_Comm between;
  int is_odd;  ///< 1 or 0: of the process.
  int others;  ///< The processes of the other group, whose ranks are 2 i + 1 - is_odd.
};

/// Calls body(groups), if there are two processes.
template <class Body>
void between_even_and_odd(MPI_Comm communicator, const Body& body) {
  if (size_of(communicator) < 2) return;
  const int rank = rank_of(communicator);
  EvenAndOdd groups{.between = MPI_COMM_NULL, .is_odd = rank % 2, .others = 0};
  MPI_Comm group = MPI_COMM_NULL;
  MPI_Comm_split(communicator, groups.is_odd, rank, &group);
  MPI_Intercomm_create(group, 0, communicator, 1 - groups.is_odd, 5, &groups.between);
  MPI_Comm_remote_size(groups.between, &groups.others);
  body(groups);
  MPI_Comm_free(&groups.between);
  MPI_Comm_free(&group);
}

/// The main function of a program: calls body(communicator) with a copy of MPI_COMM_WORLD.
template <class Body>
int run(int argc, char** argv, const char* name, const Body& body) {
  MPI_Init(&argc, &argv);
  MPI_Comm communicator = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &communicator);
  const int rank = rank_of(communicator);
  body(communicator);
  MPI_Comm_free(&communicator);
  MPI_Finalize();
  if (rank == 0) std::printf("%s: ok\n", name);
  return 0;
}

}  // namespace programs

#endif  // HYCOLL_TESTS_PRELOAD_MOVEMENTS_TRIALS_H_
