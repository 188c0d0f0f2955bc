// An arena's blocks: alignment, contents, limits, memory that comes back, threads, forks.
#include <doctest/doctest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <thread>
#include <vector>

#include "core/base/pages.h"
#include "heap/arena.h"

using hycoll::Arena;
using hycoll::ArenaLimits;

namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

ArenaLimits limits_of(std::size_t capacity_bytes, std::size_t kept_bytes = 64 * kMiB) {
  ArenaLimits limits;
  limits.capacity_bytes = capacity_bytes;
  limits.kept_bytes = kept_bytes;
  return limits;
}

struct Block {
  unsigned char* address;
  std::size_t size_bytes;
  unsigned seed;
};

unsigned char byte_of(unsigned seed, std::size_t index) {
  return static_cast<unsigned char>((seed * 2654435761u + index * 40503u) >> 8);
}

void fill(const Block& block) {
  for (std::size_t i = 0; i < block.size_bytes; ++i) block.address[i] = byte_of(block.seed, i);
}

bool holds(const Block& block, std::size_t size_bytes) {
  for (std::size_t i = 0; i < size_bytes; ++i) {
    if (block.address[i] != byte_of(block.seed, i)) return false;
  }
  return true;
}

bool is_zero(const unsigned char* bytes, std::size_t size_bytes) {
  return std::all_of(bytes, bytes + size_bytes, [](unsigned char byte) { return byte == 0; });
}

// Random allocations, resizes and frees by one thread; every block keeps its contents.
void exercise(Arena& arena, unsigned seed, int steps) {
  std::mt19937 random(seed);
  const auto pick = [&](std::size_t low, std::size_t high) {
    return std::uniform_int_distribution<std::size_t>(low, high)(random);
  };
  std::vector<Block> blocks;
  for (int step = 0; step < steps; ++step) {
    const std::size_t choice = pick(0, 9);
    if (choice < 5 || blocks.empty()) {
      const std::size_t size = pick(0, std::size_t{1} << pick(1, 18));
      const std::size_t alignment = std::size_t{1} << pick(0, 14);
      const bool zero = pick(0, 1) == 1;
      Block block{static_cast<unsigned char*>(arena.allocate(
                      size, alignment, zero ? Arena::Content::zero : Arena::Content::any)),
                  size, static_cast<unsigned>(random())};
      REQUIRE(block.address != nullptr);
      REQUIRE(arena.contains(block.address));
      CHECK(reinterpret_cast<std::uintptr_t>(block.address) %
                std::max<std::size_t>(alignment, 64) ==
            0);
      if (size >= Arena::kPagedBytes) {
        CHECK(reinterpret_cast<std::uintptr_t>(block.address) % Arena::kPageBytes == 0);
      }
      CHECK(arena.size_of(block.address) >= std::max<std::size_t>(size, 1));
      if (zero) {
        REQUIRE(is_zero(block.address, size));
      }
      fill(block);
      blocks.push_back(block);
    } else {
      const std::size_t index = pick(0, blocks.size() - 1);
      Block& block = blocks[index];
      REQUIRE(holds(block, block.size_bytes));
      if (choice < 7) {
        const std::size_t size = pick(1, 2 * block.size_bytes + 1);
        if (arena.resize(block.address, size)) {
          REQUIRE(holds(block, std::min(size, block.size_bytes)));
          CHECK(arena.size_of(block.address) >= size);
          block.size_bytes = size;
          fill(block);
        }
      } else {
        arena.free(block.address);
        blocks[index] = blocks.back();
        blocks.pop_back();
      }
    }
  }
  for (const Block& block : blocks) {
    REQUIRE(holds(block, block.size_bytes));
    arena.free(block.address);
  }
}

std::size_t resident_bytes(const Arena& arena) {
  const std::size_t pages = arena.memory().capacity_bytes() / 4096;
  std::vector<unsigned char> resident(pages);
  REQUIRE(mincore(arena.memory().begin(), arena.memory().capacity_bytes(), resident.data()) == 0);
  std::size_t count = 0;
  for (const unsigned char page : resident) count += page & 1;
  return count * 4096;
}

int status_of_child(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return status;
}

}  // namespace

TEST_CASE("blocks keep their contents and alignment, and usage returns to zero") {
  for (unsigned seed = 1; seed <= 8; ++seed) {
    CAPTURE(seed);
    Arena arena(limits_of(64 * kMiB, seed % 2 == 0 ? 64 * kMiB : 100'000));
    REQUIRE(arena.is_valid());
    exercise(arena, seed, 400);
    CHECK(arena.usage().block_bytes == 0);
    CHECK(arena.usage().block_count == 0);
    CHECK(arena.usage().peak_block_bytes > 0);
    CHECK(arena.usage().kept_bytes <= (seed % 2 == 0 ? 64 * kMiB : 100'000));
  }
}

TEST_CASE("threads allocate and free at once, also each other's blocks") {
  Arena arena(limits_of(256 * kMiB, kMiB));
  REQUIRE(arena.is_valid());
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] { exercise(arena, 100 + t, 150); });
  }
  for (std::thread& thread : threads) thread.join();
  void* block = nullptr;
  std::thread([&] { block = arena.allocate(100'000, 1, Arena::Content::any); }).join();
  std::thread([&] { arena.free(block); }).join();
  CHECK(arena.usage().block_count == 0);
}

TEST_CASE("a full arena gives null, and all of it again once it is free") {
  Arena arena(limits_of(kMiB));
  std::vector<void*> blocks;
  while (void* block = arena.allocate(10'000, 1, Arena::Content::any)) {
    std::memset(block, 1, 10'000);
    blocks.push_back(block);
  }
  const std::size_t header = hycoll::ArenaMemory::kHeaderBytes;
  CHECK(blocks.size() == (hycoll::rounded_up_to_pages(kMiB + header) - header) / 10'048);
  CHECK(arena.allocate(kMiB + 1, 1, Arena::Content::any) == nullptr);
  CHECK(arena.allocate(SIZE_MAX, 1, Arena::Content::any) == nullptr);
  CHECK(arena.allocate(SIZE_MAX / 2, 1, Arena::Content::any) == nullptr);
  for (void* block : blocks) arena.free(block);
  auto* all = static_cast<unsigned char*>(arena.allocate(kMiB, 1, Arena::Content::zero));
  REQUIRE(all != nullptr);
  CHECK(is_zero(all, kMiB));
}

TEST_CASE("memory that the system does not have is not taken") {
  std::size_t available = 32 * kMiB;
  ArenaLimits limits = limits_of(64 * kMiB);
  limits.available_bytes = [&] { return available; };
  Arena arena(limits);
  void* first = arena.allocate(20 * kMiB, 1, Arena::Content::any);
  REQUIRE(first != nullptr);
  available = 12 * kMiB;
  CHECK(arena.allocate(12 * kMiB, 1, Arena::Content::any) == nullptr);
  void* second = arena.allocate(kMiB, 1, Arena::Content::any);
  REQUIRE(second != nullptr);
  CHECK_FALSE(arena.resize(second, 13 * kMiB));
  CHECK(arena.size_of(second) == kMiB);
  // Memory that the arena has already is not asked for again.
  arena.free(first);
  available = 0;
  CHECK(arena.allocate(20 * kMiB, 1, Arena::Content::any) == first);
}

/// Whether pages come and go as asked for. Else a test cannot look at them, and says so.
bool pages_can_be_told() {
  if (hycoll::heeds_advice()) return true;
  MESSAGE("skipped: this system ignores what it is asked for about memory");
  return false;
}

TEST_CASE("with commit on allocation pages are there at once; on touch they are not") {
  if (!pages_can_be_told()) return;
  ArenaLimits limits = limits_of(64 * kMiB);
  Arena touched(limits);
  REQUIRE(touched.allocate(8 * kMiB, 1, Arena::Content::any));
  CHECK(resident_bytes(touched) < kMiB);
  limits.commit = ArenaLimits::Commit::on_allocate;
  Arena committed(limits);
  REQUIRE(committed.allocate(8 * kMiB, 1, Arena::Content::any));
  CHECK(resident_bytes(committed) >= 8 * kMiB);
}

TEST_CASE("freed memory goes back to the system beyond what is kept, and reads as zeros") {
  Arena arena(limits_of(64 * kMiB, 2 * kMiB));
  auto* small = static_cast<unsigned char*>(arena.allocate(kMiB, 1, Arena::Content::any));
  auto* large =
      static_cast<unsigned char*>(arena.allocate(16 * kMiB + 100, 1, Arena::Content::any));
  auto* guard = static_cast<unsigned char*>(arena.allocate(100, 1, Arena::Content::any));
  std::memset(small, 7, kMiB);
  std::memset(large, 7, 16 * kMiB + 100);
  std::memset(guard, 7, 100);
  CHECK(resident_bytes(arena) > 17 * kMiB);
  arena.free(small);
  CHECK(arena.usage().kept_bytes == kMiB);
  arena.free(large);
  CHECK(arena.usage().kept_bytes == 0);
  if (pages_can_be_told()) CHECK(resident_bytes(arena) < kMiB);
  CHECK(is_zero(large, 16 * kMiB + 100));
  for (std::size_t i = 0; i < 100; ++i) REQUIRE(guard[i] == 7);
}

TEST_CASE("after a fork, parent and child do not see each other's writes") {
  Arena arena(limits_of(64 * kMiB));
  Block block{static_cast<unsigned char*>(arena.allocate(3 * kMiB, 1, Arena::Content::any)),
              3 * kMiB, 11};
  fill(block);
  void* hole = arena.allocate(kMiB, 1, Arena::Content::any);
  Block last{static_cast<unsigned char*>(arena.allocate(5000, 1, Arena::Content::any)), 5000, 12};
  fill(last);
  arena.free(hole);
  int turn[2];
  int done[2];
  REQUIRE(pipe(turn) == 0);
  REQUIRE(pipe(done) == 0);
  arena.before_fork();
  const pid_t child = fork();
  if (child == 0) {
    arena.after_fork_in_child();
    char byte = 0;
    const bool told = read(turn[0], &byte, 1) == 1;  // The parent has overwritten its blocks.
    bool good = told && holds(block, block.size_bytes) && holds(last, last.size_bytes);
    good = good && !arena.memory().is_shared() && arena.memory().description().id == 0;
    std::memset(block.address, 0x55, block.size_bytes);
    good = good && arena.allocate(100, 1, Arena::Content::any) == nullptr;
    good = good && arena.resize(block.address, kMiB) && arena.size_of(block.address) == kMiB;
    arena.free(last.address);
    arena.free(block.address);
    good = good && arena.usage().block_count == 0 && write(done[1], &byte, 1) == 1;
    _exit(good ? 0 : 1);
  }
  arena.after_fork_in_parent();
  const Block rewritten{block.address, block.size_bytes, 13};
  const Block rewritten_last{last.address, last.size_bytes, 14};
  fill(rewritten);
  fill(rewritten_last);
  REQUIRE(write(turn[1], "x", 1) == 1);
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(holds(rewritten, block.size_bytes));
  CHECK(holds(rewritten_last, last.size_bytes));
  CHECK(arena.memory().is_shared());
  for (const int end : {turn[0], turn[1], done[0], done[1]}) close(end);
}

TEST_CASE("a child for whose copy there is no memory cannot write into its parent's") {
  ArenaLimits limits = limits_of(64 * kMiB);
  std::size_t available = SIZE_MAX;
  limits.available_bytes = [&] { return available; };
  Arena arena(limits);
  Block block{static_cast<unsigned char*>(arena.allocate(3 * kMiB, 1, Arena::Content::any)),
              3 * kMiB, 21};
  fill(block);
  available = kMiB;
  arena.before_fork();
  const pid_t child = fork();
  if (child == 0) {
    arena.after_fork_in_child();
    const bool good = holds(block, block.size_bytes);
    std::memset(block.address, 0x55, block.size_bytes);
    arena.free(block.address);
    _exit(good ? 0 : 1);
  }
  arena.after_fork_in_parent();
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(holds(block, block.size_bytes));
}

TEST_CASE("freeing what is no block ends the process") {
  Arena arena(limits_of(kMiB));
  auto* block = static_cast<std::byte*>(arena.allocate(1000, 1, Arena::Content::any));
  const auto quietly = [](const std::function<void()>& body) {
    return status_of_child([&] {
      std::signal(SIGABRT, SIG_DFL);
      close(STDERR_FILENO);
      body();
      return 0;
    });
  };
  CHECK(WIFSIGNALED(quietly([&] { arena.free(block + 64); })));
  CHECK(WIFSIGNALED(quietly([&] { arena.free(arena.memory().begin()); })));
  CHECK(WIFSIGNALED(quietly([&] {
    arena.free(block);
    arena.free(block);
  })));
  CHECK(quietly([&] { arena.free(block); }) == 0);
}
