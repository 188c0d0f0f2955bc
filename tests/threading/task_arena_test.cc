// The arena of hycoll's own threads; oneTBB's has tests of its own.

#include "threading/execution/task_arena.h"

#include <doctest/doctest.h>
#include <signal.h>

#include <atomic>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "numa/topology/topology.h"

namespace hycoll {
namespace {

/// How often each part has been called.
std::vector<int> calls_of_parts(const TaskArena& arena, std::size_t part_count) {
  std::vector<int> calls(part_count, 0);
  arena.run(part_count, [&](std::size_t part) { ++calls[part]; });
  return calls;
}

TEST_CASE("every part is called once, whoever calls at the same time") {
  const Topology topology = Topology::this_machine();
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&] {
      const TaskArena arena(topology, 3, -1);
      for (int round = 0; round < 50; ++round) {
        for (const std::size_t parts : {0, 1, 2, 7, 300}) {
          wrong += calls_of_parts(arena, parts) != std::vector<int>(parts, 1);
        }
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  CHECK(wrong == 0);
}

TEST_CASE("helpers work beside the caller, and are sent no signals") {
  const TaskArena arena(Topology::this_machine(), 2, -1);
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<int> begun{0};
  std::atomic<int> wrong{0};
  arena.run(3, [&](std::size_t) {
    // None ends before all three have begun.
    for (++begun; begun < 3;) std::this_thread::yield();
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    const bool is_helper = std::this_thread::get_id() != caller;
    wrong += (sigismember(&blocked, SIGUSR1) == 1) != is_helper;
  });
  CHECK(wrong == 0);
}

TEST_CASE("a part may have its own work done by the arena") {
  const TaskArena arena(Topology::synthetic("numa:2 core:2"), 2, 1);
  std::atomic<int> calls{0};
  arena.run(4, [&](std::size_t) { arena.run(5, [&](std::size_t) { ++calls; }); });
  CHECK(calls == 20);
}

TEST_CASE("what a part throws reaches the caller when no part is under way any more") {
  const TaskArena arena(Topology::this_machine(), 2, -1);
  for (std::size_t thrower = 0; thrower < 20; ++thrower) {
    std::atomic<int> under_way{0};
    std::string caught;
    try {
      arena.run(20, [&](std::size_t part) {
        ++under_way;
        if (part != thrower) std::this_thread::yield();
        --under_way;
        if (part == thrower) throw std::runtime_error(std::to_string(part));
      });
    } catch (const std::runtime_error& error) {
      caught = error.what();
    }
    CHECK(under_way == 0);
    CHECK(caught == std::to_string(thrower));
  }
  CHECK(calls_of_parts(arena, 9) == std::vector<int>(9, 1));
}

}  // namespace
}  // namespace hycoll
