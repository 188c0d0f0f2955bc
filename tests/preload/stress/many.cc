// Every blocking collective among many processes, with results that are known: the MPI library is
// asked for little, for its own calls take long where processes share cores.

#include <mpi.h>

#include <array>
#include <cstdio>
#include <vector>

#include "tests/preload/support/programs.h"

namespace {

using programs::rank_of;
using programs::size_of;

using Vector = std::vector<std::int64_t>;

std::int64_t factor(std::size_t index) { return static_cast<std::int64_t>(index % 97) + 1; }

/// What a rank contributes; the sum over the first `ranks` ones.
std::int64_t value(int rank, std::size_t index) { return (rank + 1) * factor(index); }
std::int64_t sum(int ranks, std::size_t index) { return ranks * (ranks + 1) / 2 * factor(index); }

class Trial {
 public:
  Trial(MPI_Comm communicator, std::size_t count)
      : communicator_(communicator),
        rank_(rank_of(communicator)),
        size_(size_of(communicator)),
        input_(values(count)) {}

  void run() {
    allreduce();
    for (const int root : {0, size_ / 2 + 1, size_ - 1}) {
      reduce(root % size_);
      broadcast(root % size_);
    }
    scans();
    reduce_scatters();
    allgather();
    gather_and_scatter(size_ / 2 + 1);
    MPI_Barrier(communicator_);
  }

 private:
  Vector values(std::size_t count) const {
    Vector made(count);
    for (std::size_t i = 0; i < count; ++i) made[i] = value(rank_, i);
    return made;
  }
  int count() const { return static_cast<int>(input_.size()); }
  /// The elements are those of the vector from `first` on, added up over so many ranks.
  static void check(const Vector& got, int ranks, std::size_t first = 0) {
    for (std::size_t i = 0; i < got.size(); ++i) REQUIRE_HERE(got[i] == sum(ranks, first + i));
  }

  void allreduce() {
    Vector output(input_.size(), -1);
    MPI_Allreduce(input_.data(), output.data(), count(), MPI_INT64_T, MPI_SUM, communicator_);
    check(output, size_);
  }

  void reduce(int root) {
    Vector output(input_.size(), -1);
    MPI_Reduce(input_.data(), output.data(), count(), MPI_INT64_T, MPI_SUM, root, communicator_);
    if (rank_ == root) check(output, size_);
  }

  void broadcast(int root) {
    Vector vector = input_;
    MPI_Bcast(vector.data(), count(), MPI_INT64_T, root, communicator_);
    for (std::size_t i = 0; i < vector.size(); ++i) REQUIRE_HERE(vector[i] == value(root, i));
  }

  void scans() {
    Vector output = input_;
    MPI_Scan(MPI_IN_PLACE, output.data(), count(), MPI_INT64_T, MPI_SUM, communicator_);
    check(output, rank_ + 1);
    MPI_Exscan(input_.data(), output.data(), count(), MPI_INT64_T, MPI_SUM, communicator_);
    check(output, rank_ == 0 ? 1 : rank_);  // the first one's stays as it was
  }

  /// Blocks of one length, and of as many different ones as there are.
  void reduce_scatters() {
    const auto size = static_cast<std::size_t>(size_);
    const auto rank = static_cast<std::size_t>(rank_);
    const std::size_t block = input_.size() / size + 1;
    Vector output(block, -1);
    MPI_Reduce_scatter_block(values(block * size).data(), output.data(), static_cast<int>(block),
                             MPI_INT64_T, MPI_SUM, communicator_);
    check(output, size_, block * rank);
    std::vector<int> counts;
    std::size_t before = 0;
    std::size_t total = 0;
    for (std::size_t r = 0; r < size; ++r) {
      if (r == rank) before = total;
      counts.push_back(static_cast<int>(block + r % 3));
      total += block + r % 3;
    }
    output.assign(block + rank % 3, -1);
    MPI_Reduce_scatter(values(total).data(), output.data(), counts.data(), MPI_INT64_T, MPI_SUM,
                       communicator_);
    check(output, size_, before);
  }

  void gather_and_scatter(int root) {
    const std::size_t block = input_.size() / static_cast<std::size_t>(size_) + 1;
    const auto count = static_cast<int>(block);
    const Vector own = values(block);
    Vector all(rank_ == root ? block * static_cast<std::size_t>(size_) : 0, -1);
    MPI_Gather(own.data(), count, MPI_INT64_T, all.data(), count, MPI_INT64_T, root, communicator_);
    for (std::size_t i = 0; i < all.size(); ++i) {
      REQUIRE_HERE(all[i] == value(static_cast<int>(i / block), i % block));
    }
    Vector back(block, -1);
    MPI_Scatter(all.data(), count, MPI_INT64_T, back.data(), count, MPI_INT64_T, root,
                communicator_);
    REQUIRE_HERE(back == own);
  }

  void allgather() {
    const std::size_t block = input_.size() / static_cast<std::size_t>(size_) + 1;
    const Vector own = values(block);
    Vector all(block * static_cast<std::size_t>(size_), -1);
    MPI_Allgather(own.data(), static_cast<int>(block), MPI_INT64_T, all.data(),
                  static_cast<int>(block), MPI_INT64_T, communicator_);
    for (std::size_t i = 0; i < all.size(); ++i) {
      REQUIRE_HERE(all[i] == value(static_cast<int>(i / block), i % block));
    }
  }

  MPI_Comm communicator_;
  int rank_;
  int size_;
  Vector input_;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rank = rank_of(MPI_COMM_WORLD);
  MPI_Comm reversed = MPI_COMM_NULL;
  MPI_Comm thirds = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 3, rank, &thirds);
  for (const MPI_Comm communicator : {MPI_COMM_WORLD, reversed, thirds}) {
    for (const std::size_t count : {1, 40, 3'000, 70'000}) Trial(communicator, count).run();
  }
  MPI_Comm_free(&thirds);
  MPI_Comm_free(&reversed);
  MPI_Finalize();
  if (rank == 0) std::puts("many: ok");
  return 0;
}
