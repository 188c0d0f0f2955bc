// Ranks that put into and get from one another's blocks of the shared heap.
#include <doctest/doctest.h>
#include <mpi.h>

#include <cstdint>
#include <numeric>
#include <vector>

#include "core/base/errors.h"
#include "hycoll/heap_neighbours.h"

namespace {

std::int32_t value_of(int from, int to, std::size_t index) {
  return from * 1'000'003 + to * 10'007 + static_cast<std::int32_t>(index);
}

std::vector<std::uint64_t> gather(std::uint64_t own, int size) {
  std::vector<std::uint64_t> all(static_cast<std::size_t>(size));
  MPI_Allgather(&own, 1, MPI_UINT64_T, all.data(), 1, MPI_UINT64_T, MPI_COMM_WORLD);
  return all;
}

using Block = std::vector<std::int32_t, hycoll::Allocator<std::int32_t>>;

}  // namespace

TEST_CASE("an all-to-all by puts, and its inverse by gets") {
  hycoll::HeapNeighbours neighbours(MPI_COMM_WORLD);
  const int size = neighbours.size();
  const int rank = neighbours.rank();
  REQUIRE(neighbours.all_reachable());
  const auto parts = static_cast<std::size_t>(size);
  for (const std::size_t count : {0, 1, 17, 1000, 100'000}) {
    CAPTURE(count);
    Block received(parts * count, -1);
    Block fetched(parts * count, -1);
    const auto addresses = gather(reinterpret_cast<std::uint64_t>(received.data()), size);
    neighbours.fence();
    for (int to = 0; to < size; ++to) {
      Block sent(count);
      for (std::size_t i = 0; i < count; ++i) sent[i] = value_of(rank, to, i);
      auto* there = reinterpret_cast<std::int32_t*>(addresses[static_cast<std::size_t>(to)]);
      neighbours.put(to, there + static_cast<std::size_t>(rank) * count, sent.data(), count * 4);
    }
    neighbours.fence();
    for (int from = 0; from < size; ++from) {
      const std::int32_t* part = received.data() + static_cast<std::size_t>(from) * count;
      for (std::size_t i = 0; i < count; ++i) REQUIRE(part[i] == value_of(from, rank, i));
    }
    for (int owner = 0; owner < size; ++owner) {
      const auto* there =
          reinterpret_cast<std::int32_t*>(addresses[static_cast<std::size_t>(owner)]);
      std::int32_t* part = fetched.data() + static_cast<std::size_t>(owner) * count;
      neighbours.get(owner, there + static_cast<std::size_t>(rank) * count, part, count * 4);
      for (std::size_t i = 0; i < count; ++i) REQUIRE(part[i] == value_of(rank, owner, i));
    }
    neighbours.fence();
  }
}

TEST_CASE("an announced place leads every neighbour to the block, by any mapping") {
  hycoll::HeapNeighbours first(MPI_COMM_WORLD);
  hycoll::HeapNeighbours second(MPI_COMM_WORLD);
  Block block(5000);
  for (std::size_t i = 0; i < block.size(); ++i) block[i] = value_of(first.rank(), 0, i);
  const auto place = hycoll::announce(block.data());
  REQUIRE(place);
  const auto arenas = gather(place->arena, first.size());
  const auto offsets = gather(place->offset, first.size());
  first.fence();
  for (int owner = 0; owner < first.size(); ++owner) {
    const auto index = static_cast<std::size_t>(owner);
    const hycoll::HeapAddress there{arenas[index], offsets[index]};
    const auto* seen = static_cast<const std::int32_t*>(first.resolve(there, 20'000));
    REQUIRE(seen != nullptr);
    for (std::size_t i = 0; i < block.size(); ++i) REQUIRE(seen[i] == value_of(owner, 0, i));
    // Mapped once for both.
    CHECK(second.resolve(there, 20'000) == seen);
  }
  CHECK(first.resolve(hycoll::HeapAddress{place->arena ^ 1, 0}, 1) == nullptr);
  first.fence();
}

TEST_CASE("addresses outside the heap and unknown neighbours are refused") {
  hycoll::HeapNeighbours neighbours(MPI_COMM_WORLD);
  int local = 0;
  Block block(10);
  const auto kind_of = [&](int neighbour, void* address, std::size_t size_bytes) {
    try {
      neighbours.get(neighbour, address, &local, size_bytes);
    } catch (const hycoll::Error& error) {
      return error.kind() == hycoll::ErrorKind::invalid_argument;
    }
    return false;
  };
  const int last = neighbours.size() - 1;
  CHECK(kind_of(-1, block.data(), 4));
  CHECK(kind_of(neighbours.size(), block.data(), 4));
  CHECK(kind_of(last, &local, 4));
  CHECK(kind_of(last, nullptr, 4));
  CHECK(kind_of(neighbours.rank(), block.data(), SIZE_MAX));
  CHECK_FALSE(kind_of(neighbours.rank(), block.data(), 4));
}

TEST_CASE("arenas stay reachable over many rendezvous, and are let go of") {
  for (int round = 0; round < 20; ++round) {
    hycoll::HeapNeighbours neighbours(MPI_COMM_WORLD);
    REQUIRE(neighbours.all_reachable());
  }
}
