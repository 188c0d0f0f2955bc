// An MPI program that finds out whether its ranks run on separate hosts; tests/hosts/hosts_test.sh
// runs it.
//
// usage: hosts_program HOSTS RANKS_PER_HOST     checks, prints "separate hosts: HOSTS" on rank 0
//        hosts_program --stay                   prints "staying" on rank 0 and stays until it is
//        ended
#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <set>
#include <string>
#include <vector>

namespace {

void fail(const std::string& message) {
  std::fprintf(stderr, "hosts_program: %s\n", message.c_str());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

void stay() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    std::puts("staying");
    std::fflush(stdout);
  }
  sleep(120);
}

std::set<std::string> host_names(int rank_count) {
  constexpr int kNameBytes = 64;
  std::array<char, kNameBytes> name{};
  gethostname(name.data(), name.size() - 1);
  std::vector<char> names(static_cast<std::size_t>(rank_count) * kNameBytes);
  MPI_Allgather(name.data(), kNameBytes, MPI_CHAR, names.data(), kNameBytes, MPI_CHAR,
                MPI_COMM_WORLD);
  std::set<std::string> distinct;
  for (int rank = 0; rank < rank_count; ++rank) {
    distinct.insert(&names[static_cast<std::size_t>(rank) * kNameBytes]);
  }
  return distinct;
}

// The number of ranks that see a file which rank 0 makes in /dev/shm.
int ranks_seeing_shared_memory() {
  const char* path = "/dev/shm/hosts_program";
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    close(open(path, O_CREAT | O_RDWR, 0600));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const int seen = access(path, F_OK) == 0 ? 1 : 0;
  int ranks = 0;
  MPI_Allreduce(&seen, &ranks, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) {
    unlink(path);
  }
  return ranks;
}

void check_allreduce(int rank, int rank_count) {
  constexpr int kCount = 100'003;
  std::vector<long> input(kCount);
  std::vector<long> output(kCount, -1);
  std::iota(input.begin(), input.end(), static_cast<long>(rank) * kCount);
  MPI_Allreduce(input.data(), output.data(), kCount, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  const long rank_sum = static_cast<long>(rank_count) * (rank_count - 1) / 2;
  for (long index = 0; index < kCount; ++index) {
    const long expected = rank_sum * kCount + index * rank_count;
    const long found = output[static_cast<std::size_t>(index)];
    if (found != expected) {
      fail("allreduce: element " + std::to_string(index) + " is " + std::to_string(found) +
           ", expected " + std::to_string(expected));
    }
  }
}

void check_separation(int host_count, int ranks_per_host) {
  int rank = 0;
  int rank_count = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &rank_count);
  if (rank_count != host_count * ranks_per_host) {
    fail("the job has " + std::to_string(rank_count) + " ranks");
  }
  const std::size_t names = host_names(rank_count).size();
  if (names != static_cast<std::size_t>(host_count)) {
    fail("the ranks see " + std::to_string(names) + " host names");
  }
  const int seeing = ranks_seeing_shared_memory();
  if (seeing != ranks_per_host) {
    fail(std::to_string(seeing) + " ranks share rank 0's /dev/shm");
  }
  check_allreduce(rank, rank_count);
  if (rank == 0) {
    std::printf("separate hosts: %d\n", host_count);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc == 2 && std::strcmp(argv[1], "--stay") == 0) {
    stay();
  } else if (argc == 3) {
    check_separation(std::atoi(argv[1]), std::atoi(argv[2]));
  } else {
    fail("usage: hosts_program HOSTS RANKS_PER_HOST | --stay");
  }
  MPI_Finalize();
  return 0;
}
