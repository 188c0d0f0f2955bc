// What processes see of one that ends, in whichever way.
#include "threading/memory/process_watch.h"

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <memory>
#include <random>
#include <span>
#include <thread>
#include <vector>

namespace hycoll {
namespace {

constexpr int kProcesses = 3;
constexpr int kEnding = 1;
constexpr int kNobody = -1;

using Shared = std::span<std::byte>;

Shared shared_memory() {
  const std::size_t size_bytes = ProcessWatch::size_bytes(kProcesses);
  void* const memory =
      mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  return {static_cast<std::byte*>(memory), size_bytes};
}

/// Runs `body` in a child, and returns what waitpid says of its end. This process itself never
/// watches: children would inherit what it keeps.
int status_of_child(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return status;
}

/// Whom another process finds to have ended.
int found_by_another(Shared shared) {
  const int status = status_of_child([&] {
    const ProcessWatch watch(shared, kProcesses, 0);
    return watch.find_ended() + 1;
  });
  REQUIRE(WIFEXITED(status));
  return WEXITSTATUS(status) - 1;
}

/// The same after process kEnding has ended in this way.
int found_after(const std::function<void(std::unique_ptr<ProcessWatch>&)>& way) {
  const Shared shared = shared_memory();
  status_of_child([&] {
    auto watch = std::make_unique<ProcessWatch>(shared, kProcesses, kEnding);
    if (watch->find_ended() != kNobody) std::abort();
    way(watch);
    return 0;
  });
  return found_by_another(shared);
}

using Watch = std::unique_ptr<ProcessWatch>;

}  // namespace

TEST_CASE(
    "a process that is killed, ended by a signal, or leaves by _exit has ended before its time") {
  CHECK(found_after([](Watch&) { std::raise(SIGKILL); }) == kEnding);
  CHECK(found_after([](Watch&) { std::raise(SIGUSR1); }) == kEnding);
  CHECK(found_after([](Watch&) { _exit(1); }) == kEnding);
}

TEST_CASE("a process that leaves in order has not") {
  CHECK(found_after([](Watch&) { std::exit(0); }) == kNobody);
  CHECK(found_after([](Watch& watch) {
          watch.reset();
          std::raise(SIGKILL);
        }) == kNobody);
}

TEST_CASE("who was first is known while nobody else is gone") {
  const std::vector<std::function<void()>> ways = {[] { std::raise(SIGKILL); },
                                                   [] { std::exit(0); }};
  const auto go = [](Shared shared, int process, const std::function<void()>& way) {
    status_of_child([&] {
      const ProcessWatch watch(shared, kProcesses, process);
      way();
      return 0;
    });
  };
  for (const auto& way_of_other : ways) {
    const Shared shared = shared_memory();
    const auto is_known = [&] {
      return status_of_child([&] {
               return ProcessWatch(shared, kProcesses, 0).is_first_gone(kEnding) ? 1 : 0;
             }) != 0;
    };
    go(shared, kEnding, ways[0]);
    CHECK(is_known());
    go(shared, kEnding + 1, way_of_other);
    CHECK_FALSE(is_known());
  }
}

TEST_CASE("a process lives on when the thread that has made its watch ends") {
  CHECK(found_after([](Watch& watch) {
          const Shared shared = shared_memory();
          std::thread([&] {
            watch = std::make_unique<ProcessWatch>(shared, kProcesses, kEnding);
          }).join();
          if (found_by_another(shared) != kNobody) std::exit(0);
          std::raise(SIGKILL);
        }) == kNobody);  // It has left the first one.
}

TEST_CASE("the end of a fork's child is not its parent's") {
  for (const bool is_orderly : {true, false}) {
    CHECK(found_after([&](Watch& watch) {
            status_of_child([&] {
              if (is_orderly) std::exit(0);
              watch.reset();
              return 0;
            });
            std::raise(SIGKILL);
          }) == kEnding);
  }
}

TEST_CASE("however many watches a process has, its end is noticed on each of them") {
  constexpr std::size_t kWatches = 5'000;
  std::mt19937 random(7);
  std::vector<Shared> shared;
  for (std::size_t i = 0; i < kWatches; ++i) shared.push_back(shared_memory());
  std::vector<bool> is_left(kWatches);
  for (std::size_t i = 0; i < kWatches; ++i) is_left[i] = random() % 4 != 0;
  status_of_child([&] {
    std::vector<Watch> watches(kWatches);
    const auto make = [&](std::size_t i) {
      watches[i] = std::make_unique<ProcessWatch>(shared[i], kProcesses, kEnding);
    };
    for (std::size_t i = 0; i < kWatches; ++i) make(i);
    // Some end, and others take their places.
    for (std::size_t i = 0; i < kWatches; ++i) watches[i].reset();
    for (std::size_t i = 0; i < kWatches; i += 2) make(i);
    for (std::size_t i = 1; i < kWatches; i += 2) make(i);
    for (std::size_t i = 0; i < kWatches; ++i) {
      if (!is_left[i]) watches[i].reset();
    }
    std::raise(SIGKILL);
    return 0;
  });
  const int status = status_of_child([&] {
    for (std::size_t i = 0; i < kWatches; ++i) {
      const ProcessWatch watch(shared[i], kProcesses, 0);
      if (watch.find_ended() != (is_left[i] ? kEnding : kNobody)) return 1;
    }
    return 0;
  });
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
  for (const Shared memory : shared) munmap(memory.data(), memory.size());
}

TEST_CASE("of several watches those that are left at the end are marked") {
  for (int first_gone = 0; first_gone < 4; ++first_gone) {
    CAPTURE(first_gone);
    std::vector<Shared> shared;
    for (int i = 0; i < 4; ++i) shared.push_back(shared_memory());
    status_of_child([&] {
      std::vector<Watch> watches;
      for (const Shared memory : shared) {
        watches.push_back(std::make_unique<ProcessWatch>(memory, kProcesses, kEnding));
      }
      watches[static_cast<std::size_t>(first_gone)].reset();
      watches[static_cast<std::size_t>((first_gone + 2) % 4)].reset();
      std::raise(SIGKILL);
      return 0;
    });
    for (int i = 0; i < 4; ++i) {
      const bool is_gone = i == first_gone || i == (first_gone + 2) % 4;
      CHECK(found_by_another(shared[static_cast<std::size_t>(i)]) == (is_gone ? kNobody : kEnding));
    }
  }
}

TEST_CASE("a process alone watches nobody") {
  const Shared shared = shared_memory();
  status_of_child([&] {
    const ProcessWatch watch(shared, 1, 0);
    return watch.find_ended() == kNobody ? 0 : 1;
  });
  CHECK(static_cast<int>(shared[8]) == 0);
}

}  // namespace hycoll
