// Where a communicator's own memory lies, under real MPI.

#include <doctest/doctest.h>
#include <hycoll/hycoll.h>
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "collectives/calls/own_memory.h"
#include "numa/placement/pages.h"

namespace hycoll::tests {
namespace {

std::size_t total_bytes(const std::vector<std::span<const std::byte>>& parts) {
  std::size_t bytes = 0;
  for (const auto part : parts) bytes += part.size();
  return bytes;
}

PageCounts pages_of(const std::vector<std::span<const std::byte>>& parts) {
  PageCounts pages;
  for (const auto part : parts) pages += count_pages(part);
  return pages;
}

std::size_t sum_over_processes(std::size_t here) {
  auto sum = static_cast<std::uint64_t>(here);
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return static_cast<std::size_t>(sum);
}

TEST_CASE("leaders' exchange buffers and staging are there once a call has used them") {
  Options options = Options::from_environment();
  options.layout = Options::Layout::processes;
  options.algorithm = "onmpml";
  options.emulated_nodes = 2;
  Communicator communicator(MPI_COMM_WORLD, options);
  const auto members = static_cast<std::size_t>(communicator.size());
  CHECK(total_bytes(own_memory(communicator).exchange_buffers) == 0);

  constexpr std::size_t kBlockCount = 5000;
  const std::vector<std::int32_t> input(kBlockCount * members, communicator.rank());
  std::vector<std::int32_t> output(input.size(), -1);
  communicator.alltoall(input, output, kBlockCount);
  for (std::size_t i = 0; i < output.size(); ++i) {
    REQUIRE(output[i] == static_cast<std::int32_t>(i / kBlockCount));
  }

  const OwnMemory own = own_memory(communicator);
  const std::size_t exchange_bytes = sum_over_processes(total_bytes(own.exchange_buffers));
  const PageCounts exchange = pages_of(own.exchange_buffers);
  const PageCounts staging = pages_of(own.staging);
  // Two nodes of two members: each of four tiles of four blocks lies with its sender and with its
  // receiver, or, where it passes in slices, a part of it. Single members need no buffers.
  if (members == 4) {
    CHECK(exchange_bytes > 0);
    CHECK(exchange_bytes <= 2 * 2 * 4 * kBlockCount * sizeof(std::int32_t) + 4 * 4096);
    CHECK(total_bytes(own.staging) > 0);
  } else {
    CHECK(exchange_bytes == 0);
  }
  if (found_numa().library == nullptr) {
    CHECK(exchange.present() + staging.present() == 0);
    return;
  }
  CHECK(exchange.untold + staging.untold == 0);
  if (members == 4) {
    CHECK(sum_over_processes(exchange.present()) > 0);
    CHECK(staging.present() > 0);
  }
}

}  // namespace
}  // namespace hycoll::tests
