#include "preload/session/consent.h"

#include <array>
#include <chrono>
#include <memory>
#include <new>
#include <thread>
#include <utility>

#include "threading/transport/mpi/joint_setup.h"

namespace hycoll::preload {
namespace {

/// What a process says, and the least of what all say.
using Votes = std::array<int, 2>;

int start(Votes& votes, MPI_Comm communicator, MPI_Request* request) {
  return PMPI_Iallreduce(&votes[0], &votes[1], 1, MPI_INT, MPI_MIN, communicator, request);
}

}  // namespace

bool Consent::is_given_by_all(MPI_Comm communicator) {
  Votes votes = {withdrawn_from_ == MPI_COMM_NULL ? 1 : 0, 0};
  JointSetup::complete("MPI_Iallreduce",
                       [&](MPI_Request* request) { return start(votes, communicator, request); });
  withdrawn_from_ = MPI_COMM_NULL;
  return votes[1] == 1;
}

void Consent::tell_those_that_ask() noexcept {
  constexpr std::chrono::milliseconds kPatience{100};
  const MPI_Comm communicator = std::exchange(withdrawn_from_, MPI_COMM_NULL);
  if (communicator == MPI_COMM_NULL) return;
  std::unique_ptr<Votes> votes(new (std::nothrow) Votes{0, 0});
  MPI_Request request = MPI_REQUEST_NULL;
  if (votes == nullptr || start(*votes, communicator, &request) != MPI_SUCCESS) return;
  const auto begin = std::chrono::steady_clock::now();
  for (int is_over = 0; is_over == 0;) {
    if (std::chrono::steady_clock::now() - begin > kPatience) {
      static_cast<void>(votes.release());  // the MPI library may still use it: nobody has asked
      return;
    }
    if (PMPI_Test(&request, &is_over, MPI_STATUS_IGNORE) != MPI_SUCCESS) return;
    if (is_over == 0) std::this_thread::yield();
  }
}

}  // namespace hycoll::preload
