// How waits give their core away.
#include "threading/memory/waiter.h"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <chrono>

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
  CHECK_FALSE(policy.naps);  // as before
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
