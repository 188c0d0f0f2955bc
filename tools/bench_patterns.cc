// Measures all-to-alls of unequal blocks (alltoallv) whose lengths change from call to call, as
// those of a sparse matrix's halo do, in turn with calls of one pattern: a thousand patterns, in
// each of which some blocks are empty, and the longest have the size that is asked for.
//
// usage: mpiexec -n RANKS bench_patterns [LONGEST_BYTES [THREADS [MORE_CALLS]]]
//
// Without threads an unmodified MPI program, to be run by itself and with libhycoll_pmpi.so
// preloaded. With threads these are the members of a hycoll::Team. Prints the medians of a call of
// one pattern, of one of ever other ones, and of their quotient; at the end how much memory the
// process has got besides.

#include <hycoll/hycoll.h>
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t kPatterns = 1000;
constexpr std::size_t kCallsInTurn = 50;
constexpr std::size_t kTurns = 200;

double resident_mib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::atof(line.c_str() + 6) / 1024;
  }
  return 0;
}

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// What one member sends and gets, in both forms that calls take.
struct Pattern {
  struct Side {
    std::vector<int> counts;
    std::vector<int> displacements;
    std::vector<std::size_t> wide_counts;
    std::size_t size_bytes = 0;

    void add(std::size_t bytes) {
      counts.push_back(static_cast<int>(bytes));
      displacements.push_back(static_cast<int>(size_bytes));
      wide_counts.push_back(bytes);
      size_bytes += bytes;
    }
  };

  Pattern(std::size_t number, std::size_t longest, int rank, int members) {
    const auto length = [&](int from, int to) {
      std::uint64_t x = number * 1'000'003 + static_cast<std::uint64_t>(from * 1009 + to);
      x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
      x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
      return x % 4 == 0 ? 0 : (x >> 8) % (longest + 1);
    };
    for (int other = 0; other < members; ++other) {
      sent.add(length(rank, other));
      received.add(length(other, rank));
    }
  }

  Side sent;
  Side received;
};

/// An all-to-all of a pattern.
using Exchange = std::function<void(const Pattern&)>;

/// One member's part.
void run(std::size_t longest, std::size_t more_calls, int rank, int members,
         const Exchange& exchange) {
  std::vector<Pattern> patterns;
  for (std::size_t number = 0; number < kPatterns; ++number) {
    patterns.emplace_back(number, longest, rank, members);
  }
  for (const Pattern& pattern : patterns) exchange(pattern);
  // Each turn takes some patterns, all of them one after the other, and each of them as often.
  std::vector<double> same_us;
  std::vector<double> changing_us;
  std::vector<double> quotients;
  constexpr std::size_t kAtOnce = 10;
  for (std::size_t turn = 0; turn < kTurns; ++turn) {
    const auto time = [&](const auto& pattern_of) {
      const double start = MPI_Wtime();
      for (std::size_t call = 0; call < kCallsInTurn; ++call) {
        exchange(patterns[(turn * kAtOnce + pattern_of(call)) % kPatterns]);
      }
      return 1e6 * (MPI_Wtime() - start) / kCallsInTurn;
    };
    constexpr std::size_t kTimes = kCallsInTurn / kAtOnce;
    same_us.push_back(time([](std::size_t call) { return call / kTimes; }));
    changing_us.push_back(time([](std::size_t call) { return call % kAtOnce; }));
    quotients.push_back(changing_us.back() / same_us.back());
  }
  const double before_mib = resident_mib();
  for (std::size_t call = 0; call < more_calls; ++call) {
    exchange(Pattern(kPatterns + call, longest, rank, members));
  }
  if (rank != 0) return;
  std::printf(
      "%zu bytes at most: %.3f us a call of the same pattern, %.3f us of others, %.2f times\n",
      longest, median(same_us), median(changing_us), median(quotients));
  if (more_calls == 0) return;
  std::printf("after %zu calls of further patterns %.2f MiB more memory\n", more_calls,
              resident_mib() - before_mib);
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int index, int otherwise) {
    return static_cast<std::size_t>(std::max(0, argc > index ? std::atoi(argv[index]) : otherwise));
  };
  const std::size_t longest = number(1, 1024);
  const std::size_t threads = number(2, 0);
  const std::size_t more_calls = number(3, 0);
  int level = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, threads > 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (threads == 0) {
    std::vector<std::byte> input(longest * static_cast<std::size_t>(size));
    std::vector<std::byte> output(input.size());
    run(longest, more_calls, rank, size, [&](const Pattern& pattern) {
      MPI_Alltoallv(input.data(), pattern.sent.counts.data(), pattern.sent.displacements.data(),
                    MPI_BYTE, output.data(), pattern.received.counts.data(),
                    pattern.received.displacements.data(), MPI_BYTE, MPI_COMM_WORLD);
    });
  } else {
    hycoll::Team team(MPI_COMM_WORLD, static_cast<int>(threads));
    std::vector<std::thread> members;
    for (int thread = 0; thread < static_cast<int>(threads); ++thread) {
      members.emplace_back([&, thread] {
        hycoll::Member member = team.join(thread);
        std::vector<std::byte> input(longest * static_cast<std::size_t>(member.size()));
        std::vector<std::byte> output(input.size());
        run(longest, more_calls, member.rank(), member.size(), [&](const Pattern& pattern) {
          member.alltoallv(input.data(), hycoll::PairCounts{pattern.sent.wide_counts},
                           output.data(), hycoll::PairCounts{pattern.received.wide_counts},
                           hycoll::ElementType(hycoll::DataType::uint8));
        });
      });
    }
    for (std::thread& member : members) member.join();
  }
  MPI_Finalize();
}
