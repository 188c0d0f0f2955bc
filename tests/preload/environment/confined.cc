// Allreduces on several communicators, after ranks have lost ways to share memory with the others,
// as in containers of their own. usage: confined
// free|limited|unread|apart|small|small-hidden|full-hidden|hidden

#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <cerrno>
#include <string_view>
#include <vector>

#include "tests/preload/support/programs.h"

namespace {

bool machine_is_unread = false;

}  // namespace

/// In the place of hwloc's.
extern "C" __attribute__((visibility("default"))) int hwloc_topology_load(void* topology) {
  if (machine_is_unread) {
    errno = ENOMEM;
    return -1;
  }
  return reinterpret_cast<int (*)(void*)>(dlsym(RTLD_NEXT, "hwloc_topology_load"))(topology);
}

namespace {

/// Files, those in memory too, may have 64 KiB.
void limit_files() {
  rlimit limit{};
  REQUIRE_HERE(getrlimit(RLIMIT_FSIZE, &limit) == 0);
  limit.rlim_cur = 64 * 1024;
  REQUIRE_HERE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

/// What is mounted from now on is seen by this process only.
void mount_alone() {
  REQUIRE_HERE(unshare(CLONE_NEWNS) == 0);
  REQUIRE_HERE(mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0);
}

/// A small /dev/shm of its own.
void shrink_shared_memory() {
  REQUIRE_HERE(mount("none", "/dev/shm", "tmpfs", 0, "size=16k") == 0);
}

/// Leaves 1 MiB of the /dev/shm that all processes have: room for what short calls need.
void fill_shared_memory() {
  constexpr std::size_t kLeftBytes = 1 << 20;
  struct statvfs room {};
  REQUIRE_HERE(statvfs("/dev/shm", &room) == 0);
  const std::size_t free_bytes = room.f_bfree * room.f_bsize;
  REQUIRE_HERE(free_bytes > kLeftBytes);
  const int file = open("/dev/shm/filling", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR);
  REQUIRE_HERE(file >= 0);
  REQUIRE_HERE(posix_fallocate(file, 0, static_cast<off_t>(free_bytes - kLeftBytes)) == 0);
}

/// No way to the others' descriptors.
void hide_processes() { REQUIRE_HERE(mount("none", "/proc", "tmpfs", 0, "size=64k") == 0); }

void reduce(MPI_Comm communicator) {
  const int size = programs::size_of(communicator);
  const int rank = programs::rank_of(communicator);
  for (std::uint64_t round = 0; round < 6; ++round) {
    std::vector<std::uint64_t> vector(round % 2 == 0 ? 1 : 50'000);
    for (std::size_t i = 0; i < vector.size(); ++i) vector[i] = programs::value_of(rank, i, round);
    MPI_Allreduce(MPI_IN_PLACE, vector.data(), static_cast<int>(vector.size()), MPI_UINT64_T,
                  MPI_SUM, communicator);
    for (std::size_t i = 0; i < vector.size(); ++i) {
      std::uint64_t sum = 0;
      for (int r = 0; r < size; ++r) sum += programs::value_of(r, i, round);
      REQUIRE_HERE(vector[i] == sum);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rank = programs::rank_of(MPI_COMM_WORLD);
  const std::string_view how = argc > 1 ? argv[1] : "";
  const bool is_last = rank == programs::size_of(MPI_COMM_WORLD) - 1;
  if (is_last && how == "limited") limit_files();
  machine_is_unread = is_last && how == "unread";
  const bool is_apart = is_last && how == "apart";
  if (how != "free" && how != "limited" && how != "unread") mount_alone();
  if (is_apart || how.starts_with("small")) shrink_shared_memory();
  if (is_apart || how.ends_with("hidden")) hide_processes();
  if (is_last && how.starts_with("full")) fill_shared_memory();
  PMPI_Barrier(MPI_COMM_WORLD);  // which hycoll does not count
  reduce(MPI_COMM_WORLD);
  // In the reverse order another process comes first.
  MPI_Comm reversed = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
  reduce(reversed);
  MPI_Comm_free(&reversed);
  MPI_Finalize();
  return 0;
}
