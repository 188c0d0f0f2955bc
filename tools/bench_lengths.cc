// Measures allreduces each of which has a length of its own, beside others, in turn with them, of a
// few lengths that return: what a length costs that has not been seen before. At the end makes a
// million more, of ever other lengths, and says how much memory the process has got besides.
//
// usage: mpiexec -n RANKS bench_lengths [FROM_BYTES [TO_BYTES [THREADS [MORE_CALLS]]]]
//
// Without threads an unmodified MPI program, to be run by itself and with libhycoll_pmpi.so
// preloaded. With threads these are the members of a hycoll::Team.

#include <hycoll/hycoll.h>
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t kLengthsThatReturn = 8;
constexpr std::size_t kCallsInTurn = 50;
constexpr int kPasses = 3;

/// An allreduce of so many bytes.
using Allreduce = std::function<void(std::size_t)>;

double resident_mib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::atof(line.c_str() + 6) / 1024;
  }
  return 0;
}

struct Times {
  double new_us = 0;
  double seen_us = 0;
};

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Of a call, the median over turns.
Times measure(const std::vector<std::size_t>& lengths, const Allreduce& allreduce) {
  std::vector<double> new_us;
  std::vector<double> seen_us;
  std::size_t next = 0;
  const std::size_t step = lengths.size() / kLengthsThatReturn;
  const auto time = [&](const auto& length_of) {
    const double start = MPI_Wtime();
    for (std::size_t call = 0; call < kCallsInTurn; ++call) allreduce(length_of(call));
    return 1e6 * (MPI_Wtime() - start) / kCallsInTurn;
  };
  while (next + kCallsInTurn <= lengths.size()) {
    seen_us.push_back(
        time([&](std::size_t call) { return lengths[call % kLengthsThatReturn * step]; }));
    new_us.push_back(time([&](std::size_t call) { return lengths[next + call]; }));
    next += kCallsInTurn;
  }
  return {.new_us = median(new_us), .seen_us = median(seen_us)};
}

/// One member's part.
void run(std::size_t from, std::size_t to, std::size_t more_calls, const Allreduce& allreduce,
         bool reports) {
  std::vector<std::size_t> lengths;
  for (std::size_t length = from; length < to; ++length) lengths.push_back(length);
  std::ranges::shuffle(lengths, std::mt19937_64(1));  // the same on all members
  for (std::size_t call = 0; call < 2000; ++call) allreduce(lengths[call % kLengthsThatReturn]);
  for (int pass = 0; pass < kPasses; ++pass) {
    const auto [new_us, seen_us] = measure(lengths, allreduce);
    if (!reports) continue;
    std::printf("pass %d: %zu lengths %.3f us a call, lengths that return %.3f us\n", pass + 1,
                lengths.size(), new_us, seen_us);
  }
  const double before_mib = resident_mib();
  std::mt19937_64 random(2);
  for (std::size_t call = 0; call < more_calls; ++call) allreduce(1 + random() % (1 << 14));
  if (!reports || more_calls == 0) return;
  std::printf("after %zu calls of further lengths %.2f MiB more memory\n", more_calls,
              resident_mib() - before_mib);
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int index, int otherwise) {
    return static_cast<std::size_t>(std::max(0, argc > index ? std::atoi(argv[index]) : otherwise));
  };
  const std::size_t from = std::max<std::size_t>(number(1, 1000), 1);
  const std::size_t to = std::max(number(2, 21'000), from + kCallsInTurn);
  const std::size_t threads = number(3, 0);
  const std::size_t more_calls = number(4, 1'000'000);
  int level = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, threads > 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::size_t most = std::max<std::size_t>(to, 1 << 14);
  if (threads == 0) {
    std::vector<std::int8_t> input(most, 1);
    std::vector<std::int8_t> output(most);
    const Allreduce allreduce = [&](std::size_t length) {
      MPI_Allreduce(input.data(), output.data(), static_cast<int>(length), MPI_INT8_T, MPI_SUM,
                    MPI_COMM_WORLD);
    };
    run(from, to, more_calls, allreduce, rank == 0);
  } else {
    hycoll::Team team(MPI_COMM_WORLD, static_cast<int>(threads));
    std::vector<std::thread> members;
    for (int thread = 0; thread < static_cast<int>(threads); ++thread) {
      members.emplace_back([&, thread] {
        hycoll::Member member = team.join(thread);
        std::vector<std::int8_t> input(most, 1);
        std::vector<std::int8_t> output(most);
        const Allreduce allreduce = [&](std::size_t length) {
          member.allreduce(input.data(), output.data(), length, hycoll::DataType::int8,
                           hycoll::Operator::sum);
        };
        run(from, to, more_calls, allreduce, member.rank() == 0);
      });
    }
    for (std::thread& member : members) member.join();
  }
  MPI_Finalize();
}
