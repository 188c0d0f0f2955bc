// An MPI program that a batch system starts; it knows nothing of hycoll.
// tests/launchers/slurm_cases.sh runs it.
//
// usage: launched_program          makes collectives and checks their results. Rank 0 then prints a
// line
//                                  for each rank: "rank 1 on host1: right; threads on CPUs 0-1 1"
//        launched_program --stay   rank 0 prints "staying" after some allreduces; all make further
//        ones
//                                  until they are ended
#include <mpi.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <set>
#include <string>
#include <vector>

namespace {

int rank_of_this_process() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int rank_count() {
  int count = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &count);
  return count;
}

void require(bool is_right, const char* collective, int length) {
  if (is_right) return;
  std::fprintf(stderr, "launched_program: wrong result of %s of %d elements on rank %d\n",
               collective, length, rank_of_this_process());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/// Element i of rank r's input.
long element(int rank, int i) { return 1'000'003L * rank + i; }

std::vector<long> input_of(int rank, int length) {
  std::vector<long> input(static_cast<std::size_t>(length));
  for (int i = 0; i < length; ++i) input[static_cast<std::size_t>(i)] = element(rank, i);
  return input;
}

void check_allreduce(int length) {
  const int ranks = rank_count();
  const std::vector<long> input = input_of(rank_of_this_process(), length);
  std::vector<long> output(input.size(), -1);
  MPI_Allreduce(input.data(), output.data(), length, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  bool is_right = true;
  for (int i = 0; i < length; ++i) {
    long sum = 0;
    for (int rank = 0; rank < ranks; ++rank) sum += element(rank, i);
    is_right = is_right && output[static_cast<std::size_t>(i)] == sum;
  }
  require(is_right, "allreduce", length);
}

void check_broadcast(int length, int root) {
  std::vector<long> buffer(static_cast<std::size_t>(length), -1);
  if (rank_of_this_process() == root) buffer = input_of(root, length);
  MPI_Bcast(buffer.data(), length, MPI_LONG, root, MPI_COMM_WORLD);
  require(buffer == input_of(root, length), "bcast", length);
}

/// Rank order matters here, wherever the ranks are.
void check_allgather(int length) {
  const std::vector<long> input = input_of(rank_of_this_process(), length);
  std::vector<long> output(input.size() * static_cast<std::size_t>(rank_count()), -1);
  MPI_Allgather(input.data(), length, MPI_LONG, output.data(), length, MPI_LONG, MPI_COMM_WORLD);
  std::vector<long> expected;
  for (int rank = 0; rank < rank_count(); ++rank) {
    const std::vector<long> block = input_of(rank, length);
    expected.insert(expected.end(), block.begin(), block.end());
  }
  require(output == expected, "allgather", length);
}

void check_collectives() {
  for (int round = 0; round < 2; ++round) {
    for (const int length : {1, 1'000, 20'011}) {
      check_allreduce(length);
      check_broadcast(length, rank_count() - 1);
      check_allgather(length);
    }
  }
}

/// Where the threads of this process may run, as Linux writes it: each mask once.
std::string masks_of_threads() {
  const std::string field = "Cpus_allowed_list:";
  std::set<std::string> masks;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream status(thread.path() / "status");
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with(field))
        masks.insert(line.substr(line.find_first_not_of(" \t", field.size())));
    }
  }
  std::string text;
  for (const std::string& mask : masks) text += " " + mask;
  return text;
}

void print_places() {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  std::array<char, 512> line{};
  std::snprintf(line.data(), line.size(), "rank %d on %s: right; threads on CPUs%s",
                rank_of_this_process(), host.data(), masks_of_threads().c_str());
  std::vector<char> lines(line.size() * static_cast<std::size_t>(rank_count()));
  MPI_Gather(line.data(), static_cast<int>(line.size()), MPI_CHAR, lines.data(),
             static_cast<int>(line.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
  if (rank_of_this_process() != 0) return;
  for (std::size_t at = 0; at < lines.size(); at += line.size()) std::puts(&lines[at]);
}

void stay() {
  constexpr int kLength = 50'021;
  constexpr int kBefore = 10;
  constexpr int kPauseUs = 20'000;
  for (long call = 0;; ++call) {
    check_allreduce(kLength);
    if (call == kBefore && rank_of_this_process() == 0) {
      std::puts("staying");
      std::fflush(stdout);
    }
    // One is late, and the others wait in the call.
    if (call > kBefore && rank_of_this_process() == 0) usleep(kPauseUs);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc == 2 && std::strcmp(argv[1], "--stay") == 0) stay();
  check_collectives();
  print_places();
  MPI_Finalize();
}
