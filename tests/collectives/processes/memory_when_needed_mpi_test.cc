// Communicators that provide the memory that their processes share when they need it
// (Options::Memory::when_needed).

#include <doctest/doctest.h>
#include <hycoll/hycoll.h>
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "collectives/node/memory_charge.h"
#include "tests/support/process_options.h"

namespace hycoll {
namespace {

constexpr std::size_t kLongCount = 30'000;
/// Of a process, for short calls.
constexpr std::size_t kLittleBytes = 64 * 1024;

int world_size() {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

Options when_needed(int emulated_nodes = 0) {
  Options options = tests::options_with(emulated_nodes);
  options.memory = Options::Memory::when_needed;
  return options;
}

/// Room for all memory of one communicator, and for what short calls need of others.
Options with_little_room() {
  Options options = when_needed();
  options.staging_kib = 1024;
  options.staging_limit_mib = 2 * world_size();
  return options;
}

std::vector<std::int64_t> contribution(std::size_t count) {
  std::vector<std::int64_t> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = 1000 * static_cast<std::int64_t>(i) + world_rank();
  }
  return values;
}

bool is_sum(const std::vector<std::int64_t>& values) {
  const std::int64_t size = world_size();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] != size * 1000 * static_cast<std::int64_t>(i) + size * (size - 1) / 2) {
      return false;
    }
  }
  return true;
}

bool sums_up(Communicator& communicator, std::size_t count) {
  std::vector<std::int64_t> values = contribution(count);
  communicator.allreduce(values);
  return is_sum(values);
}

/// Whether a call that is driven has been made, with the right result.
bool drives(Communicator& communicator, std::size_t count) {
  std::vector<std::int64_t> values = contribution(count);
  DrivenCall call = communicator.drive(
      calls::allreduce(values.data(), values.data(), count, DataType::int64, Operator::sum));
  while (!call.advance()) {
  }
  call.deliver();
  return is_sum(values);
}

TEST_CASE("channels take nothing from communicators, and both stay within one limit") {
  using Account = MemoryCharge::Account;
  const std::size_t before = MemoryCharge::all_bytes();
  const auto take = [&](Account account, std::size_t bytes) {
    return MemoryCharge::take(account, bytes, {.account_bytes = 100, .all_bytes = before + 150});
  };
  {
    const std::optional<MemoryCharge> channel = take(Account::channels, 100);
    CHECK(channel);
    CHECK_FALSE(take(Account::channels, 1));
    const std::optional<MemoryCharge> communicator = take(Account::communicators, 50);
    CHECK(communicator);
    CHECK(MemoryCharge::all_bytes() == before + 150);
    CHECK_FALSE(take(Account::communicators, 1));
    CHECK(MemoryCharge::all_bytes() == before + 150);
    CHECK(MemoryCharge::peak_bytes() >= before + 150);
  }
  CHECK(MemoryCharge::all_bytes() == before);
  CHECK(take(Account::communicators, 100));
}

TEST_CASE("short calls take little memory, and the first long one the rest") {
  for (const int nodes : {0, 2}) {
    CAPTURE(nodes);
    const std::size_t before = MemoryCharge::all_bytes();
    {
      Communicator communicator(MPI_COMM_WORLD, when_needed(nodes));
      for (const std::size_t count : {1u, 2u, 1u}) CHECK(sums_up(communicator, count));
      communicator.barrier();
      CHECK(MemoryCharge::all_bytes() - before < kLittleBytes);
      CHECK(sums_up(communicator, kLongCount));
      CHECK(MemoryCharge::all_bytes() - before > 512 * 1024);
      for (const std::size_t count : {std::size_t{1}, kLongCount, std::size_t{700}}) {
        CHECK(sums_up(communicator, count));
      }
    }
    CHECK(MemoryCharge::all_bytes() == before);
  }
}

TEST_CASE("a call that must not wait for memory is refused; the next blocking one provides it") {
  Communicator communicator(MPI_COMM_WORLD, when_needed());
  for (int call = 0; call < 5; ++call) CHECK(sums_up(communicator, 1));
  CHECK(drives(communicator, 1));
  CHECK_THROWS_AS(drives(communicator, kLongCount), MemoryRefused);
  CHECK(drives(communicator, 1));
  CHECK(sums_up(communicator, 1));  // like the one that was made last
  CHECK(drives(communicator, kLongCount));
  CHECK(sums_up(communicator, kLongCount));
}

TEST_CASE("long calls are refused on all processes where there is no room for the memory") {
  Options options = when_needed();
  options.staging_limit_mib = world_size() / 2;
  const std::size_t before = MemoryCharge::all_bytes();
  Communicator communicator(MPI_COMM_WORLD, options);
  for (int round = 0; round < 6; ++round) {
    CHECK(sums_up(communicator, 1));
    CHECK_THROWS_AS(sums_up(communicator, kLongCount), MemoryRefused);
    CHECK(MemoryCharge::all_bytes() - before < kLittleBytes);
  }
}

TEST_CASE("there is room again when another communicator has given its memory back") {
  const Options options = with_little_room();
  {
    Communicator first(MPI_COMM_WORLD, options);
    CHECK(sums_up(first, kLongCount));
  }
  Communicator second(MPI_COMM_WORLD, options);
  Communicator third(MPI_COMM_WORLD, options);
  {
    Communicator first(MPI_COMM_WORLD, options);
    CHECK(sums_up(first, kLongCount));
    CHECK_THROWS_AS(sums_up(second, kLongCount), MemoryRefused);
    CHECK(sums_up(first, kLongCount));
    CHECK(sums_up(third, 1));
  }
  int refused = 0;
  for (int call = 0; call < 3; ++call) {
    bool is_right = true;
    try {
      is_right = sums_up(second, kLongCount);
    } catch (const MemoryRefused&) {
      ++refused;
    }
    CHECK(is_right);
  }
  CHECK(refused == 1);
  CHECK(sums_up(third, 1));
  CHECK_THROWS_AS(sums_up(third, kLongCount), MemoryRefused);
}

TEST_CASE("reproducible calls, whose agreements are no short ones, have their memory at once") {
  Options options = when_needed();
  options.bits = Bits::reproducible;
  Communicator communicator(MPI_COMM_WORLD, options);
  CHECK(sums_up(communicator, 1));
  CHECK(sums_up(communicator, kLongCount));
}

TEST_CASE("one process that has no room is enough") {
  // Uneven limits cannot be asked for; a communicator of this process's and others takes the room.
  const Options options = with_little_room();
  MPI_Comm half = MPI_COMM_NULL;
  const bool is_in = world_rank() >= world_size() / 2;
  MPI_Comm_split(MPI_COMM_WORLD, is_in ? 1 : MPI_UNDEFINED, world_rank(), &half);
  {
    std::unique_ptr<Communicator> part;
    if (is_in) {
      part = std::make_unique<Communicator>(half, options);
      std::vector<std::int64_t> values(kLongCount, 1);
      part->allreduce(values);
    }
    int size = 0;
    if (is_in) MPI_Comm_size(half, &size);
    int largest = 0;
    MPI_Allreduce(&size, &largest, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    Communicator all(MPI_COMM_WORLD, options);
    const std::size_t before = MemoryCharge::all_bytes();
    if (largest > 1) {
      CHECK_THROWS_AS(sums_up(all, kLongCount), MemoryRefused);
      CHECK(MemoryCharge::all_bytes() == before);
    }
    CHECK(sums_up(all, 1));
  }
  if (half != MPI_COMM_NULL) MPI_Comm_free(&half);
}

}  // namespace
}  // namespace hycoll
