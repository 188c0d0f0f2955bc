// The layout `processes` with buffers in the shared heap: each mixture of shared and private
// buffers over the members, in place and not, gives the same results as private buffers everywhere.
#include <doctest/doctest.h>
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "hycoll/heap.h"
#include "hycoll/hycoll.h"

namespace {

constexpr auto kType = hycoll::data_type_of<std::int64_t>();
const hycoll::Operation kSum = hycoll::Operator::sum;

enum class Where { shared_heap, own_memory };

class Buffer {
 public:
  Buffer(std::size_t count, Where where)
      : where_(where),
        shared_(where == Where::shared_heap ? count : 0),
        own_(where == Where::own_memory ? count : 0) {}
  std::int64_t* data() { return where_ == Where::shared_heap ? shared_.data() : own_.data(); }

 private:
  Where where_;
  std::vector<std::int64_t, hycoll::Allocator<std::int64_t>> shared_;
  std::vector<std::int64_t> own_;
};

std::int64_t value_of(int rank, std::size_t index) {
  return (rank + 1) * 1'000'003 + static_cast<std::int64_t>(index) * (rank + 7);
}

std::int64_t sum_of(int ranks, std::size_t index) {
  std::int64_t sum = 0;
  for (int rank = 0; rank < ranks; ++rank) sum += value_of(rank, index);
  return sum;
}

struct World {
  World() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
  }
  int rank = 0;
  int size = 1;
};

Where where_of(unsigned mask, int bit) {
  return (mask >> bit & 1) != 0 ? Where::shared_heap : Where::own_memory;
}

}  // namespace

TEST_CASE("allreduce over any mixture of shared and private buffers") {
  const World world;
  hycoll::Options options;
  options.layout = hycoll::Options::Layout::processes;
  options.staging_kib = 64;
  hycoll::Communicator communicator(MPI_COMM_WORLD, options);
  for (const std::size_t count : {1, 100, 5000, 40'000}) {
    for (unsigned mask = 0; mask < 16; ++mask) {
      CAPTURE(count);
      CAPTURE(mask);
      // Odd and even members differ.
      const unsigned own = world.rank % 2 == 0 ? mask : mask >> 2;
      Buffer input(count, where_of(own, 0));
      Buffer output(count, where_of(own, 1));
      for (std::size_t i = 0; i < count; ++i) input.data()[i] = value_of(world.rank, i);
      std::fill_n(output.data(), count, -1);
      communicator.run(hycoll::calls::allreduce(input.data(), output.data(), count, kType, kSum));
      for (std::size_t i = 0; i < count; ++i) {
        REQUIRE(output.data()[i] == sum_of(world.size, i));
        REQUIRE(input.data()[i] == value_of(world.rank, i));
      }
      communicator.run(hycoll::calls::allreduce(input.data(), input.data(), count, kType, kSum));
      for (std::size_t i = 0; i < count; ++i) {
        REQUIRE(input.data()[i] == sum_of(world.size, i));
      }
    }
  }
}
