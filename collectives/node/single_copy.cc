#include "collectives/node/single_copy.h"

#include <fmt/format.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <random>

#include "core/base/errors.h"
#include "threading/transport/mpi/mpi_endpoint.h"

namespace hycoll {
namespace {

using Transfer = ssize_t (*)(pid_t, const iovec*, unsigned long, const iovec*, unsigned long,
                             unsigned long);

/// Returns 0, or the number of the error.
int transfer(Transfer function, pid_t process, std::uint64_t address, void* here,
             std::size_t size_bytes) {
  while (size_bytes > 0) {
    const iovec near{.iov_base = here, .iov_len = size_bytes};
    const iovec far{.iov_base = reinterpret_cast<void*>(address), .iov_len = size_bytes};
    const ssize_t moved = function(process, &near, 1, &far, 1, 0);
    if (moved < 0 && errno == EINTR) continue;
    if (moved <= 0) return moved < 0 ? errno : EFAULT;
    here = static_cast<std::byte*>(here) + moved;
    address += static_cast<std::uint64_t>(moved);
    size_bytes -= static_cast<std::size_t>(moved);
  }
  return 0;
}

[[noreturn]] void throw_refused(const char* function, int rank, pid_t process, int error) {
  throw Error(ErrorKind::environment,
              fmt::format("{}, for a buffer of process {} of this machine (pid {}), failed: {}; "
                          "Options::single_copy_kib = 0 (HYCOLL_SINGLE_COPY_KIB) does without",
                          function, rank, process, std::strerror(error)));
}

/// What a process shows to the others.
struct Sample {
  std::int64_t process = 0;
  std::uint64_t address = 0;  ///< Of `token`, in its memory.
  std::uint64_t token = 0;
};

/// Whether this process may copy from and to the others; 0, or the number of an error.
int probe(const std::vector<Sample>& samples) {
  for (const Sample& sample : samples) {
    const auto process = static_cast<pid_t>(sample.process);
    std::uint64_t token = 0;
    if (const int error =
            transfer(process_vm_readv, process, sample.address, &token, sizeof(token))) {
      return error;
    }
    // In a container with processes of its own the number means another process.
    if (token != sample.token) return ESRCH;
    // Changes nothing: it stands there already.
    if (const int error =
            transfer(process_vm_writev, process, sample.address, &token, sizeof(token))) {
      return error;
    }
  }
  return 0;
}

/// All processes of a node call this; one says it, and whoever has heard it does not say it again.
void say_once(int error, int rank) {
  static std::atomic<bool> said{false};
  // Orders nothing but itself.
  if (said.exchange(true, std::memory_order_relaxed) || rank != 0) return;
  std::fprintf(stderr,
               "hycoll: the processes of a machine copy long vectors twice, through shared memory, "
               "for process_vm_readv failed: %s (see /proc/sys/kernel/yama/ptrace_scope, or the "
               "container's rights; HYCOLL_SINGLE_COPY_KIB=0 keeps this line away)\n",
               std::strerror(error));
}

}  // namespace

SingleCopy::SingleCopy(JointSetup& setup, MPI_Comm node) {
  int rank = 0;
  int size = 1;
  check_mpi(MPI_Comm_rank(node, &rank), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(node, &size), "MPI_Comm_size");
  if (size == 1) return;
  std::random_device device;
  // Read and written by the others.
  std::atomic<std::uint64_t> token{static_cast<std::uint64_t>(device()) << 32 | device()};
  const Sample own{.process = getpid(),
                   .address = reinterpret_cast<std::uint64_t>(&token),
                   .token = token.load(std::memory_order_relaxed)};
  std::vector<Sample> samples(static_cast<std::size_t>(size));
  processes_.resize(samples.size());
  constexpr int kBytes = sizeof(Sample);
  setup.meet();
  JointSetup::complete("MPI_Iallgather", [&](MPI_Request* request) {
    return MPI_Iallgather(&own, kBytes, MPI_BYTE, samples.data(), kBytes, MPI_BYTE, node, request);
  });
  // Nobody's token ends before all have met.
  const auto obstacle = static_cast<int>(setup.most(probe(samples)));
  is_permitted_ = obstacle == 0;
  if (!is_permitted_) say_once(obstacle, rank);
  std::ranges::transform(samples, processes_.begin(),
                         [](const Sample& sample) { return static_cast<pid_t>(sample.process); });
}

void SingleCopy::read(int rank, std::uint64_t address, void* destination,
                      std::size_t size_bytes) const {
  const pid_t process = processes_[static_cast<std::size_t>(rank)];
  if (const int error = transfer(process_vm_readv, process, address, destination, size_bytes)) {
    throw_refused("process_vm_readv", rank, process, error);
  }
}

void SingleCopy::write(int rank, std::uint64_t address, const void* source,
                       std::size_t size_bytes) const {
  const pid_t process = processes_[static_cast<std::size_t>(rank)];
  // The function only reads there.
  void* const here = const_cast<void*>(source);
  if (const int error = transfer(process_vm_writev, process, address, here, size_bytes)) {
    throw_refused("process_vm_writev", rank, process, error);
  }
}

}  // namespace hycoll
