// Collectives whose long messages are put into the receiving lanes' memory.

#include <doctest/doctest.h>
#include <hycoll/hycoll.h>
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tests/support/world.h"
#include "threading/transport/ucx/ucx_endpoint.h"
#include "threading/transport/ucx/ucx_library.h"

namespace hycoll::tests {
namespace {

using Values = std::vector<std::int32_t>;

/// Messages between 32 KiB and 512 KiB among them, and others.
constexpr std::size_t kCounts[] = {1'009, 60'000, 400'003, 1'000'001};

constexpr int kRounds = 6;

Values values_of(int rank, int round, std::size_t count) {
  Values values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = static_cast<std::int32_t>(i * 5 + static_cast<std::size_t>(rank) * 1'000'003 +
                                          static_cast<std::size_t>(round) * 77);
  }
  return values;
}

Options with_puts(const std::string& algorithm, Options::Puts puts) {
  Options options = Options::from_environment();
  options.layout = Options::Layout::per_node;
  options.transport = Options::Transport::ucx;
  options.puts = puts;
  options.algorithm = algorithm;
  options.workers = 2;
  options.lanes = 2;
  return options;
}

bool sums(Communicator& communicator, int round, std::size_t count) {
  Values values = values_of(world_rank(), round, count);
  Values expected(count);
  for (int rank = 0; rank < world_size(); ++rank) {
    const Values theirs = values_of(rank, round, count);
    std::ranges::transform(expected, theirs, expected.begin(), std::plus<>());
  }
  communicator.allreduce(values);
  return values == expected;
}

bool broadcasts(Communicator& communicator, int round, std::size_t count) {
  const int root = round % world_size();
  Values values = world_rank() == root ? values_of(root, round, count) : Values(count, -1);
  communicator.broadcast(values, root);
  return values == values_of(root, round, count);
}

bool exchanges(Communicator& communicator, int round, std::size_t count) {
  const std::size_t block = count / static_cast<std::size_t>(world_size());
  const Values sent =
      values_of(world_rank(), round, block * static_cast<std::size_t>(world_size()));
  Values received(sent.size(), -1);
  communicator.alltoall(sent, received, block);
  for (int rank = 0; rank < world_size(); ++rank) {
    const Values theirs = values_of(rank, round, sent.size());
    const auto at = static_cast<std::size_t>(rank) * block;
    const auto own = static_cast<std::size_t>(world_rank()) * block;
    if (!std::ranges::equal(std::span(received).subspan(at, block),
                            std::span(theirs).subspan(own, block))) {
      return false;
    }
  }
  return true;
}

struct Case {
  const char* algorithm;
  bool (*is_right)(Communicator& communicator, int round, std::size_t count);
  int most_nodes = 3;  ///< of more, its messages are short
};

TEST_CASE("collectives of long vectors put their messages, where that is asked for") {
  if (found_ucx().library == nullptr || world_size() == 1) return;
  for (const Case& collective :
       {Case{"allreduce:dpml-ring", sums}, Case{"broadcast:multi-leader-chain", broadcasts, 2},
        Case{"broadcast:multi-leader-scatter-ring-opt", broadcasts},
        Case{"alltoall:onmpml", exchanges}}) {
    CAPTURE(std::string(collective.algorithm));
    for (const auto puts : {Options::Puts::off, Options::Puts::on}) {
      Communicator communicator(MPI_COMM_WORLD, with_puts(collective.algorithm, puts));
      const bool is_on = puts == Options::Puts::on;
      CHECK((communicator.transport().find(" with puts") != std::string::npos) == is_on);
      const std::uint64_t puts_before = UcxEndpoint::put_count();
      for (int round = 0; round < kRounds; ++round) {
        for (const std::size_t count : kCounts) {
          CAPTURE(count);
          CHECK(collective.is_right(communicator, round, count));
        }
      }
      // Who only receives, as the end of a chain, puts nothing.
      std::uint64_t made = UcxEndpoint::put_count() - puts_before;
      MPI_Allreduce(MPI_IN_PLACE, &made, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
      CHECK((made > 0) == (is_on && world_size() <= collective.most_nodes));
    }
  }
}

}  // namespace
}  // namespace hycoll::tests
