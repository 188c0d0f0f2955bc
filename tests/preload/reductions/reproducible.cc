// Sums whose bits depend on the order of additions, as HYCOLL_REPRODUCIBLE=1 promises them: the
// same in every call from the first one on, for every size, position and root.

#include <mpi.h>

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "tests/preload/support/programs.h"

namespace {

using programs::rank_of;
using programs::size_of;
using programs::value_of;

/// Of wildly different magnitudes and signs.
double element(int rank, std::size_t index) {
  const auto hash = value_of(rank, index, 1);
  const double mantissa = 1.0 + static_cast<double>(hash % 1'000'003) / 1e6;
  return std::ldexp(hash % 2 == 0 ? mantissa : -mantissa, static_cast<int>(hash / 7 % 80) - 40);
}

/// Elements from `first` on.
std::vector<double> window(int rank, std::size_t first, std::size_t count) {
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = element(rank, first + i);
  return values;
}

constexpr std::size_t kLongest = 60'000;

/// Another communicator, whose first call must have the same bits.
class Trial {
 public:
  explicit Trial(std::vector<double> expected) : expected_(std::move(expected)) {
    MPI_Comm_dup(MPI_COMM_WORLD, &communicator_);
  }
  ~Trial() { MPI_Comm_free(&communicator_); }
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  void allreduce(std::size_t first, std::size_t count) {
    std::vector<double> values = window(rank_of(communicator_), first, count);
    MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(count), MPI_DOUBLE, MPI_SUM,
                  communicator_);
    check(first, values);
  }

  void reduce(std::size_t first, std::size_t count) {
    const std::vector<double> values = window(rank_of(communicator_), first, count);
    for (int root = 0; root < size_of(communicator_); ++root) {
      std::vector<double> sums(count);
      MPI_Reduce(values.data(), sums.data(), static_cast<int>(count), MPI_DOUBLE, MPI_SUM, root,
                 communicator_);
      if (rank_of(communicator_) == root) check(first, sums);
    }
  }

  void iallreduce(std::size_t first, std::size_t count) {
    std::vector<double> values = window(rank_of(communicator_), first, count);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallreduce(MPI_IN_PLACE, values.data(), static_cast<int>(count), MPI_DOUBLE, MPI_SUM,
                   communicator_, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(first, values);
  }

  /// Whatever its bits are, they are those of every prefix of this size.
  void scan(std::size_t first, std::size_t count) {
    const std::vector<double> values = window(rank_of(communicator_), first, count);
    std::vector<double> together(count);
    MPI_Scan(values.data(), together.data(), static_cast<int>(count), MPI_DOUBLE, MPI_SUM,
             communicator_);
    for (std::size_t i = 0; i < count; i += count / 4 + 1) {
      double alone = 0;
      MPI_Scan(&values[i], &alone, 1, MPI_DOUBLE, MPI_SUM, communicator_);
      REQUIRE_HERE(alone == together[i]);
    }
  }

 private:
  void check(std::size_t first, const std::vector<double>& values) const {
    for (std::size_t i = 0; i < values.size(); ++i) {
      REQUIRE_HERE(values[i] == expected_[first + i]);
    }
  }

  std::vector<double> expected_;
  MPI_Comm communicator_ = MPI_COMM_NULL;
};

}  // namespace

int main(int argc, char** argv) {
  int provided = MPI_THREAD_SINGLE;  // nonblocking calls of several machines need more
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  std::vector<double> expected = window(rank_of(MPI_COMM_WORLD), 0, kLongest);
  MPI_Allreduce(MPI_IN_PLACE, expected.data(), static_cast<int>(kLongest), MPI_DOUBLE, MPI_SUM,
                MPI_COMM_WORLD);
  const std::size_t firsts[] = {17, 30'001};
  const std::size_t counts[] = {1, 700, 20'000};
  for (const std::size_t first : firsts) {
    for (const std::size_t count : counts) {
      Trial trial(expected);
      for (int i = 0; i < 3; ++i) trial.allreduce(first, count);
      trial.reduce(first, count);
      trial.iallreduce(first, count);
      trial.scan(first, count);
    }
  }
  const int rank = rank_of(MPI_COMM_WORLD);
  MPI_Finalize();
  if (rank == 0) std::puts("reproducible: ok");
  return 0;
}
