#include "collectives/job/clock_offset.h"

#include <array>
#include <cstdint>
#include <limits>
#include <random>

#include "core/base/ticks.h"
#include "threading/transport/mpi/mpi_endpoint.h"
#include "threading/transport/mpi/mpi_types.h"

namespace hycoll {
namespace {

/// The first ones set up connections.
constexpr int kClockMessages = 16;
constexpr int kClockTag = 0;

void send_clock(std::int64_t clock, int rank, MPI_Comm communicator) {
  JointSetup::complete("MPI_Isend", [&](MPI_Request* request) {
    return MPI_Isend(&clock, 1, MPI_INT64_T, rank, kClockTag, communicator, request);
  });
}

/// Answers one of those who ask.
void answer(MPI_Comm communicator) {
  std::int64_t theirs = 0;
  MPI_Status status;
  check_mpi(MPI_Recv(&theirs, 1, MPI_INT64_T, MPI_ANY_SOURCE, kClockTag, communicator, &status),
            "MPI_Recv");
  send_clock(nanoseconds(), status.MPI_SOURCE, communicator);
}

/// Asks the first process.
ClockOffset ask(MPI_Comm communicator) {
  ClockOffset best;
  best.error_ns = std::numeric_limits<std::int64_t>::max();
  for (int message = 0; message < kClockMessages; ++message) {
    const std::int64_t begin = nanoseconds();
    send_clock(begin, 0, communicator);
    std::int64_t theirs = 0;
    check_mpi(MPI_Recv(&theirs, 1, MPI_INT64_T, 0, kClockTag, communicator, MPI_STATUS_IGNORE),
              "MPI_Recv");
    const std::int64_t end = nanoseconds();
    const std::int64_t error = (end - begin) / 2;
    if (error < best.error_ns) {
      best.error_ns = error;
      best.offset_ns = theirs - (begin + error);
    }
  }
  return best;
}

}  // namespace

ClockOffset agree_on_clock(JointSetup& setup, MPI_Comm communicator, int machine_count) {
  TracedCommunicator traced;
  check_mpi(MPI_Comm_rank(communicator, &traced.rank), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(communicator, &traced.size), "MPI_Comm_size");
  if (traced.rank == 0) {
    std::random_device random;
    // 0 stands for none.
    traced.id = std::uint64_t{random()} << 32 | random() | 1;
  }
  setup.meet();
  JointSetup::complete("MPI_Ibcast", [&](MPI_Request* request) {
    return MPI_Ibcast(&traced.id, 1, MPI_UINT64_T, 0, communicator, request);
  });
  if (machine_count == 1) return {.communicator = traced};

  const auto here = MpiCommunicator::of_machine(setup, communicator);
  int rank_here = 0;
  check_mpi(MPI_Comm_rank(here->handle(), &rank_here), "MPI_Comm_rank");
  setup.meet();
  ClockOffset offset;
  if (traced.rank == 0) {
    for (int m = 0; m < kClockMessages * (machine_count - 1); ++m) answer(communicator);
  } else if (rank_here == 0) {
    offset = ask(communicator);
  }
  std::array<std::int64_t, 2> numbers = {offset.offset_ns, offset.error_ns};
  setup.meet();
  JointSetup::complete("MPI_Ibcast", [&](MPI_Request* request) {
    return MPI_Ibcast(numbers.data(), 2, MPI_INT64_T, 0, here->handle(), request);
  });
  return {.communicator = traced, .offset_ns = numbers[0], .error_ns = numbers[1]};
}

}  // namespace hycoll
