// Random collectives of random sizes on random communicators, by several threads on communicators
// of their own. usage: stress [SECONDS [SEED [THREADS]]]

#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <thread>
#include <vector>

#include "tests/preload/programs.h"

namespace {

using programs::rank_of;
using programs::size_of;
using programs::value_of;

/// The sum of what ranks first..last-1 contribute to element `index`.
std::uint64_t sum_of(int first, int last, std::uint64_t index, std::uint64_t round) {
  std::uint64_t sum = 0;
  for (int rank = first; rank < last; ++rank) sum += value_of(rank, index, round);
  return sum;
}

class Player {
 public:
  /// All ranks' players of one number draw the same.
  Player(MPI_Comm parent, unsigned seed) : random_(seed) { MPI_Comm_dup(parent, &home_); }

  /// Plays until every rank has played for long enough.
  void play(double seconds) {
    const double start = MPI_Wtime();
    for (int go_on = 1; go_on != 0;) {
      game();
      const int here = MPI_Wtime() - start < seconds ? 1 : 0;
      PMPI_Allreduce(&here, &go_on, 1, MPI_INT, MPI_MIN, home_);
    }
    MPI_Comm_free(&home_);
  }

  std::uint64_t rounds() const { return round_; }

 private:
  std::uint64_t draw(std::uint64_t limit) { return random_() % limit; }

  /// Some rounds on a communicator made for them.
  void game() {
    MPI_Comm communicator = MPI_COMM_NULL;
    const int rank = rank_of(home_);
    const auto colours = static_cast<int>(1 + draw(2));
    const int key = draw(2) == 0 ? rank : -rank;
    MPI_Comm_split(home_, rank % colours, key, &communicator);
    // Both halves draw alike, though they play apart.
    const std::uint64_t rounds = 1 + draw(40);
    for (std::uint64_t r = 0; r < rounds; ++r) round(communicator);
    MPI_Comm_free(&communicator);
  }

  void round(MPI_Comm communicator) {
    ++round_;
    const int rank = rank_of(communicator);
    const int size = size_of(communicator);
    const std::uint64_t kind = draw(7);
    const std::uint64_t count = draw(10) == 0 ? draw(60000) : draw(draw(2) == 0 ? 8 : 600);
    const auto root = static_cast<int>(draw(1000) % static_cast<std::uint64_t>(size));
    const bool blocks = kind >= 5;
    const std::uint64_t inputs = blocks ? count * static_cast<std::uint64_t>(size) : count;
    input_.resize(inputs);
    for (std::uint64_t i = 0; i < inputs; ++i) input_[i] = value_of(rank, i, round_);
    output_.assign(count, 42);
    const auto n = static_cast<int>(count);
    const MPI_Datatype type = MPI_UINT64_T;
    std::vector<int> counts(static_cast<std::size_t>(size), n);
    if (draw(4) == 0) MPI_Barrier(communicator);
    switch (kind) {
      case 0:
      case 1:
        MPI_Allreduce(input_.data(), output_.data(), n, type, MPI_SUM, communicator);
        return check(0, size, 0);
      case 2:
        MPI_Reduce(input_.data(), output_.data(), n, type, MPI_SUM, root, communicator);
        if (rank == root) check(0, size, 0);
        return;
      case 3:
        MPI_Scan(input_.data(), output_.data(), n, type, MPI_SUM, communicator);
        return check(0, rank + 1, 0);
      case 4:
        MPI_Exscan(input_.data(), output_.data(), n, type, MPI_SUM, communicator);
        if (rank > 0) check(0, rank, 0);
        return;
      case 5:
        MPI_Reduce_scatter_block(input_.data(), output_.data(), n, type, MPI_SUM, communicator);
        return check(0, size, count * static_cast<std::uint64_t>(rank));
      default:
        MPI_Reduce_scatter(input_.data(), output_.data(), counts.data(), type, MPI_SUM,
                           communicator);
        return check(0, size, count * static_cast<std::uint64_t>(rank));
    }
  }

  void check(int first, int last, std::uint64_t offset) {
    for (std::uint64_t i = 0; i < output_.size(); ++i) {
      REQUIRE_HERE(output_[i] == sum_of(first, last, offset + i, round_));
    }
  }

  std::mt19937_64 random_;
  MPI_Comm home_ = MPI_COMM_NULL;
  std::uint64_t round_ = 0;
  std::vector<std::uint64_t> input_;
  std::vector<std::uint64_t> output_;
};

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 5;
  const auto seed = static_cast<unsigned>(argc > 2 ? std::atol(argv[2]) : 1);
  const int thread_count = argc > 3 ? std::atoi(argv[3]) : 2;
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, thread_count > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                  &provided);
  if (rank_of(MPI_COMM_WORLD) == 0) std::printf("stress: seed %u\n", seed);
  std::vector<Player> players;
  players.reserve(static_cast<std::size_t>(thread_count));
  for (int t = 0; t < thread_count; ++t) {
    players.emplace_back(MPI_COMM_WORLD, seed + 1000 * static_cast<unsigned>(t));
  }
  std::vector<std::thread> threads;
  for (int t = 1; t < thread_count; ++t) {
    threads.emplace_back([&, t] { players[static_cast<std::size_t>(t)].play(seconds); });
  }
  players.front().play(seconds);
  for (std::thread& thread : threads) thread.join();
  std::uint64_t rounds = 0;
  for (const Player& player : players) rounds += player.rounds();
  const int rank = rank_of(MPI_COMM_WORLD);
  MPI_Finalize();
  if (rank == 0) std::printf("stress: ok, %llu calls\n", static_cast<unsigned long long>(rounds));
  return 0;
}
