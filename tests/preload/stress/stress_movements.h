#ifndef HYCOLL_TESTS_PRELOAD_STRESS_STRESS_MOVEMENTS_H_
#define HYCOLL_TESTS_PRELOAD_STRESS_STRESS_MOVEMENTS_H_

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "tests/preload/support/programs.h"
#include "tests/support/guarded_memory.h"

namespace programs {

/// Nobody may touch what lies behind them, where they are guarded.
using Integers = std::vector<std::uint64_t, GuardedAllocator<std::uint64_t>>;

/// A collective that moves blocks of integers, of lengths that follow from the call's number: an
/// all-to-all, an allgather, or a gather and a scatter; for the stress test.
class StressMovement {
 public:
  StressMovement(std::uint64_t number, MPI_Comm communicator, std::size_t longest, int root)
      : number_(number),
        communicator_(communicator),
        longest_(longest),
        root_(root),
        rank_(rank_of(communicator)),
        size_(size_of(communicator)) {}

  /// Makes it, blocking or not, and compares the results.
  void call_and_check() const {
    switch (number_ % 5) {
      case 0:
      case 1:
        return alltoallv();
      case 2:
        return alltoall();
      case 3:
        return allgatherv();
      default:
        return gatherv_and_scatterv();
    }
  }

 private:
  struct Blocks {
    std::vector<int> counts;
    std::vector<int> begins;
    Integers data;

    /// With `length` integers, from `first` on.
    void add(std::size_t length, std::uint64_t first) {
      counts.push_back(static_cast<int>(length));
      begins.push_back(static_cast<int>(data.size()));
      data.reserve(data.size() + length);  // no more: the guard lies behind
      for (std::size_t i = 0; i < length; ++i) data.push_back(first + i);
    }
    Integers nothing() const { return Integers(data.size(), 42); }
  };

  /// Some are empty, most are short.
  std::size_t length_of(int from, int to) const {
    const std::uint64_t drawn = value_of(from, static_cast<std::uint64_t>(to), number_);
    if (drawn % 4 == 0) return 0;
    const std::size_t most = drawn % 4 == 1 ? longest_ : longest_ / 16;
    return static_cast<std::size_t>((drawn >> 8) % (most + 1));
  }
  std::uint64_t first_of(int from, int to) const {
    return value_of(from, 1000 + static_cast<std::uint64_t>(to), number_) >> 1;
  }
  bool is_nonblocking() const { return number_ % 3 == 0; }

  void require_equal(const Integers& is, const Integers& expected) const {
    if (is == expected) return;
    std::fprintf(stderr, "call %llu moves wrong blocks, rank %d of %d\n",
                 static_cast<unsigned long long>(number_), rank_, size_);
    REQUIRE_HERE(is == expected);
  }

  void alltoallv() const {
    Blocks sent;
    Blocks received;
    for (int other = 0; other < size_; ++other) {
      sent.add(length_of(rank_, other), first_of(rank_, other));
      received.add(length_of(other, rank_), first_of(other, rank_));
    }
    Integers output = received.nothing();
    if (is_nonblocking()) {
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Ialltoallv(sent.data.data(), sent.counts.data(), sent.begins.data(), MPI_UINT64_T,
                     output.data(), received.counts.data(), received.begins.data(), MPI_UINT64_T,
                     communicator_, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
      MPI_Alltoallv(sent.data.data(), sent.counts.data(), sent.begins.data(), MPI_UINT64_T,
                    output.data(), received.counts.data(), received.begins.data(), MPI_UINT64_T,
                    communicator_);
    }
    require_equal(output, received.data);
  }

  void alltoall() const {
    const std::size_t length = longest_ / static_cast<std::size_t>(size_);
    Blocks sent;
    Blocks received;
    for (int other = 0; other < size_; ++other) {
      sent.add(length, first_of(rank_, other));
      received.add(length, first_of(other, rank_));
    }
    Integers output = received.nothing();
    MPI_Alltoall(sent.data.data(), static_cast<int>(length), MPI_UINT64_T, output.data(),
                 static_cast<int>(length), MPI_UINT64_T, communicator_);
    require_equal(output, received.data);
  }

  /// Every process's block, for all.
  Blocks blocks_of_all() const {
    Blocks blocks;
    for (int from = 0; from < size_; ++from) blocks.add(length_of(from, 0), first_of(from, 0));
    return blocks;
  }
  Integers own_of(const Blocks& all) const {
    const auto rank = static_cast<std::size_t>(rank_);
    const auto begin = all.data.begin() + all.begins[rank];
    return {begin, begin + all.counts[rank]};
  }

  void allgatherv() const {
    const Blocks all = blocks_of_all();
    const Integers own = own_of(all);
    Integers output = all.nothing();
    MPI_Allgatherv(own.data(), static_cast<int>(own.size()), MPI_UINT64_T, output.data(),
                   all.counts.data(), all.begins.data(), MPI_UINT64_T, communicator_);
    require_equal(output, all.data);
  }

  void gatherv_and_scatterv() const {
    const Blocks all = blocks_of_all();
    Integers own = own_of(all);
    const auto own_count = static_cast<int>(own.size());
    const Integers expected = own;
    Integers gathered = all.nothing();
    if (is_nonblocking()) {
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Igatherv(own.data(), own_count, MPI_UINT64_T, gathered.data(), all.counts.data(),
                   all.begins.data(), MPI_UINT64_T, root_, communicator_, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
      MPI_Gatherv(own.data(), own_count, MPI_UINT64_T, gathered.data(), all.counts.data(),
                  all.begins.data(), MPI_UINT64_T, root_, communicator_);
    }
    require_equal(gathered, rank_ == root_ ? all.data : all.nothing());
    own.assign(own.size(), 42);
    MPI_Scatterv(gathered.data(), all.counts.data(), all.begins.data(), MPI_UINT64_T, own.data(),
                 own_count, MPI_UINT64_T, root_, communicator_);
    require_equal(own, expected);
  }

  std::uint64_t number_;
  MPI_Comm communicator_;
  std::size_t longest_;
  int root_;
  int rank_;
  int size_;
};

}  // namespace programs

#endif  // HYCOLL_TESTS_PRELOAD_STRESS_STRESS_MOVEMENTS_H_
