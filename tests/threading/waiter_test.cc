// How waits give their core away.
#include "threading/memory/waiter.h"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "tests/support/processor_time.h"
#include "threading/memory/bell.h"

namespace hycoll {
namespace waiter_test {

using std::chrono::milliseconds;

/// How often this thread has slept while it waited for so long.
long sleeps_of_a_wait(const WaitPolicy& policy, milliseconds time) {
  rusage before{};
  rusage after{};
  getrusage(RUSAGE_THREAD, &before);
  Waiter waiter(policy);
  while (waiter.slow_time() < time) waiter.give_way();
  getrusage(RUSAGE_THREAD, &after);
  return after.ru_nvcsw - before.ru_nvcsw;
}

TEST_CASE("a thread with a core of its own sleeps only in very long waits, for others need it") {
  CHECK(sleeps_of_a_wait(WaitPolicy::own_core(), milliseconds(20)) == 0);
  CHECK(sleeps_of_a_wait(WaitPolicy::own_core(), milliseconds(150)) > 0);
}

TEST_CASE("a thread that shares its core, or does not know, sleeps in long waits") {
  CHECK(sleeps_of_a_wait(WaitPolicy::oversubscribed(), milliseconds(20)) > 0);
  CHECK(sleeps_of_a_wait(WaitPolicy{}, milliseconds(20)) > 0);
}

TEST_CASE("a wait that sleeps leaves its core to others, whether somebody wakes it or not") {
  Bell bell;
  for (Bell* const its : {&bell, static_cast<Bell*>(nullptr)}) {
    double least = 1;  // of three: on a busy machine each sleep takes longer to begin for once
    for (int attempt = 0; attempt < 3; ++attempt) {
      const double before = processor_seconds(RUSAGE_THREAD);
      Waiter waiter(WaitPolicy::own_core().with_rest(WaitPolicy::Rest::sleep));
      while (waiter.slow_time() < milliseconds(300)) waiter.give_way(its);
      least = std::min(least, processor_seconds(RUSAGE_THREAD) - before);
    }
    CHECK(least < 0.05 * 0.3);
  }
}

/// Two threads that write in turn, each asleep meanwhile. A ring that is lost would end the test by
/// its time limit.
TEST_CASE("who listens, and has looked since, hears of whatever is written") {
  constexpr int kTurns = 4000;
  Bell bell;
  std::atomic<int> turn{0};
  const auto play = [&](int own) {
    for (int next = own; next < kTurns; next += 2) {
      if (next % 3 == 0) std::this_thread::yield();
      bell.listen();
      for (;;) {
        const std::uint32_t heard = bell.rings();
        if (turn.load(std::memory_order_acquire) == next) break;  // pairs with the store below
        bell.sleep(heard, std::chrono::hours(1));
      }
      bell.stop_listening();
      turn.store(next + 1, std::memory_order_release);
      bell.ring();
    }
  };
  std::thread other(play, 1);
  play(0);
  other.join();
  CHECK(turn == kTurns);
}

TEST_CASE("a wait hears a ring, and what comes between two waits") {
  Bell bell;
  std::atomic<bool> is_there{false};
  for (int wait = 0; wait < 20; ++wait) {
    is_there = false;
    std::thread writer([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(wait % 5));
      is_there = true;
      bell.ring();
    });
    Waiter waiter(WaitPolicy::own_core().with_rest(WaitPolicy::Rest::sleep));
    while (!is_there) waiter.give_way(&bell);
    waiter.reset();
    writer.join();
  }
  const std::uint32_t heard = bell.rings();
  bell.ring();
  CHECK(bell.rings() == heard);  // nobody listens any more
}

/// Turns of a wait until the slow path, where each look takes so long.
int turns_until_slow(Waiter& waiter, std::chrono::microseconds look) {
  int turns = 1;
  for (; !waiter.turn(); ++turns) {
    const auto until = std::chrono::steady_clock::now() + look;
    while (std::chrono::steady_clock::now() < until) continue;
  }
  CHECK(waiter.turn());  // and stays there
  waiter.reset();
  CHECK_FALSE(waiter.turn());
  return turns;
}

TEST_CASE("a wait whose looks are slow gives way after the time of many quick ones") {
  Waiter slow(WaitPolicy::own_core());
  CHECK(turns_until_slow(slow, std::chrono::microseconds(10)) <= 64);
  CHECK(slow.has_looked_slowly());  // even after reset()
  const auto most = static_cast<int>(WaitPolicy::own_core().spin_turns) + 1;
  bool all_look_slowly = true;
  for (int wait = 0; wait < 20; ++wait) {
    Waiter quick(WaitPolicy::own_core());
    CHECK(turns_until_slow(quick, std::chrono::microseconds(0)) <= most);
    // Those whose core others take meanwhile do.
    all_look_slowly = all_look_slowly && quick.has_looked_slowly();
  }
  CHECK_FALSE(all_look_slowly);
}

TEST_CASE("where looks are known to be slow few are made before the core is given away") {
  const WaitPolicy policy = WaitPolicy::own_core().with_slow_looks();
  CHECK(policy.rest == WaitPolicy::Rest::seldom);  // as before
  Waiter waiter(policy);
  int turns = 1;
  while (!waiter.turn()) ++turns;
  CHECK(turns == 5);
  int drives = 0;
  for (; turns < 64; ++turns) {
    waiter.turn();
    drives += waiter.drives_for_all() ? 1 : 0;
  }
  CHECK(drives == 4);
}

TEST_CASE("a long wait is told at times that double") {
  Waiter waiter(WaitPolicy::own_core());
  CHECK_FALSE(waiter.has_passed(milliseconds(0)));
  constexpr milliseconds kInterval{4};
  int told = 0;
  while (waiter.slow_time() < 5 * kInterval) {
    waiter.give_way();
    if (!waiter.has_passed(kInterval)) continue;
    CHECK(waiter.slow_time() >= kInterval * (1 << told));
    CHECK_FALSE(waiter.has_passed(kInterval));
    ++told;
  }
  // After 4, 8 and 16 ms; fewer if this thread did not run meanwhile.
  CHECK(told >= 1);
  CHECK(told <= 3);
  waiter.reset();
  CHECK_FALSE(waiter.has_passed(kInterval));
}

}  // namespace waiter_test
}  // namespace hycoll
