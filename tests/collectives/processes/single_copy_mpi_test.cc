// Copies between processes by the kernel, and what happens where it refuses them.

#include <doctest/doctest.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "collectives/node/single_copy.h"
#include "core/base/errors.h"
#include "tests/support/call_sweeps.h"
#include "tests/support/forbidden_copies.h"

namespace hycoll::tests {
namespace {

struct World {
  World() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
  }
  int rank = 0;
  int size = 1;
};

SingleCopy copies_of_world() {
  JointSetup setup(MPI_COMM_WORLD);
  return SingleCopy(setup, MPI_COMM_WORLD);
}

TEST_CASE("a process copies from and to every other one") {
  const World world;
  if (world.size == 1) {
    CHECK_FALSE(copies_of_world().is_permitted());
    return;
  }
  const SingleCopy copies = copies_of_world();
  REQUIRE(copies.is_permitted());
  constexpr std::size_t kWords = 100'000;
  std::vector<std::uint64_t> shown(kWords);
  for (std::size_t i = 0; i < kWords; ++i) {
    shown[i] = i * 7 + static_cast<std::size_t>(world.rank);
  }
  std::vector<std::uint64_t> inbox(static_cast<std::size_t>(world.size), 0);
  struct Places {
    std::uint64_t shown;
    std::uint64_t inbox;
  };
  const Places own{.shown = reinterpret_cast<std::uint64_t>(shown.data()),
                   .inbox = reinterpret_cast<std::uint64_t>(inbox.data())};
  std::vector<Places> all(static_cast<std::size_t>(world.size));
  MPI_Allgather(&own, sizeof(own), MPI_BYTE, all.data(), sizeof(own), MPI_BYTE, MPI_COMM_WORLD);
  for (int rank = 0; rank < world.size; ++rank) {
    const Places& theirs = all[static_cast<std::size_t>(rank)];
    std::vector<std::uint64_t> copy(kWords);
    copies.read(rank, theirs.shown, copy.data(), kWords * sizeof(std::uint64_t));
    for (std::size_t i = 0; i < kWords; ++i) {
      REQUIRE(copy[i] == i * 7 + static_cast<std::size_t>(rank));
    }
    const std::uint64_t greeting = 1000 + static_cast<std::uint64_t>(world.rank);
    copies.write(rank, theirs.inbox + sizeof(greeting) * static_cast<std::size_t>(world.rank),
                 &greeting, sizeof(greeting));
    CHECK_THROWS_WITH_AS(copies.read(rank, 64, copy.data(), 8),
                         doctest::Contains("HYCOLL_SINGLE_COPY_KIB"), Error);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (int rank = 0; rank < world.size; ++rank) {
    CHECK(inbox[static_cast<std::size_t>(rank)] == 1000 + static_cast<std::uint64_t>(rank));
  }
}

/// What `body` writes to stderr.
template <class Body>
std::string stderr_of(const Body& body) {
  std::FILE* file = std::tmpfile();
  std::fflush(stderr);
  const int before = dup(STDERR_FILENO);
  dup2(fileno(file), STDERR_FILENO);
  body();
  std::fflush(stderr);
  dup2(before, STDERR_FILENO);
  close(before);
  std::string text(static_cast<std::size_t>(std::ftell(file)), '\0');
  std::rewind(file);
  text.resize(std::fread(text.data(), 1, text.size(), file));
  std::fclose(file);
  return text;
}

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

TEST_CASE("long vectors are copied by the kernel; if it refuses one, every member gets an error") {
  const World world;
  if (world.size == 1) return;
  Options options;
  options.layout = Options::Layout::processes;
  options.single_copy_kib = 100;
  Communicator communicator(MPI_COMM_WORLD, options);
  std::vector<double> vector(100 * 1024 / sizeof(double), 1);
  communicator.allreduce(vector);
  CHECK(vector.back() == world.size);
  if (world.rank == world.size - 1) forbid_process_vm_readv();
  // Long enough for the others to be busy when this one is refused.
  std::vector<double> longer(std::size_t{4} * 1024 * 1024);
  const Call call = calls::allreduce(longer);
  const std::vector<std::function<void()>> ways = {
      [&] { communicator.run(call); },
      [&] { communicator.start(call).wait(); },
      [&] {
        DrivenCall driven = communicator.drive(call);
        while (!driven.advance()) driven.look_for_trouble();
        driven.deliver();
      },
  };
  for (const std::function<void()>& way : ways) {
    std::ranges::fill(longer, 1);
    CHECK_THROWS_WITH_AS(way(), doctest::Contains("process_vm_readv"), Error);
    // Nobody writes into it any more.
    std::ranges::fill(longer, -1);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(std::ranges::count(longer, -1) == std::ssize(longer));
  }
  // Shorter ones are not.
  vector.assign(vector.size() - 1, 1);
  communicator.allreduce(vector);
  CHECK(vector.back() == world.size);
}

// The last one: what is forbidden stays so.
TEST_CASE("where one process may not, all stage, and one of them says so once") {
  const World world;
  Options options;
  options.layout = Options::Layout::processes;
  options.single_copy_kib = 32;
  if (world.rank == world.size - 1) forbid_process_vm_readv();
  const std::string said = stderr_of([&] {
    for (int i = 0; i < 2; ++i) {
      Communicator communicator(MPI_COMM_WORLD, options);
      CHECK(sweep_calls(communicator, {100, 50'000}) == "");
    }
  });
  const bool speaks = world.rank == 0 && world.size > 1;
  CHECK(lines_of(said) == (speaks ? 1 : 0));
  if (speaks) CHECK(said.find("process_vm_readv failed: Operation not permitted") != said.npos);
  options.single_copy_kib = 0;
  const std::string said_then = stderr_of([&] { Communicator(MPI_COMM_WORLD, options).barrier(); });
  CHECK(said_then == "");
}

}  // namespace
}  // namespace hycoll::tests
