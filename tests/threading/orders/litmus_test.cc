// Small programs whose outcomes under C++20 are known, without load buffering: the model allows
// these and no others. Their names are those of the literature.

#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/threading/orders/check_orders.h"

namespace hycoll::orders {
namespace litmus_test {

using std::memory_order_acq_rel;
using std::memory_order_acquire;
using std::memory_order_relaxed;
using std::memory_order_release;
using std::memory_order_seq_cst;
using Outcomes = std::set<std::string>;
using Threads = std::vector<std::function<void()>>;

std::array<std::atomic<int>, 2> shared;
std::atomic<int>& x = shared[0];
std::atomic<int>& y = shared[1];
int data;              // not atomic
std::array<int, 4> r;  // what is read

Setup setup_of(const Threads& threads, const std::function<void()>& afterwards = {}) {
  return [=] {
    for (std::atomic<int>& object : shared) object = 0;
    data = 0;
    r = {};
    return Program{threads, afterwards};
  };
}

Outcomes outcomes(const Threads& threads, std::size_t register_count, const Options& options) {
  Outcomes found;
  const Setup setup = setup_of(threads, [&] {
    std::string outcome;
    for (std::size_t i = 0; i < register_count; ++i) outcome += std::to_string(r[i]);
    found.insert(outcome);
  });
  CHECK_FALSE(explore(setup, options).failure);
  return found;
}

/// What the first registers end with, in all executions; and that those which are left out would
/// add nothing.
void check_outcomes(const Threads& threads, std::size_t register_count, const Outcomes& expected) {
  const auto text = [](const Outcomes& outcomes) {
    return lines_of({outcomes.begin(), outcomes.end()});
  };
  CHECK(text(outcomes(threads, register_count, {})) == text(expected));
  CHECK(text(outcomes(threads, register_count, {.is_reduced = false})) == text(expected));
}

/// All of so many bits.
Outcomes all_of(std::size_t bits) {
  Outcomes all;
  for (unsigned number = 0; number < 1u << bits; ++number) {
    std::string outcome;
    for (std::size_t bit = 0; bit < bits; ++bit) outcome += (number >> bit & 1) != 0 ? '1' : '0';
    all.insert(outcome);
  }
  return all;
}

Outcomes without(Outcomes outcomes, const std::string& forbidden) {
  outcomes.erase(forbidden);
  return outcomes;
}

std::string failure_of(const Threads& threads) {
  return explore(setup_of(threads)).failure.value_or(Failure{}).what;
}

TEST_CASE("message passing: who acquires the flag sees what was written before its release") {
  const auto threads = [](std::memory_order store, std::memory_order load) {
    return Threads{[=] { x.store(1, memory_order_relaxed), y.store(1, store); },
                   [=] { r[0] = y.load(load), r[1] = x.load(memory_order_relaxed); }};
  };
  check_outcomes(threads(memory_order_release, memory_order_acquire), 2, {"00", "01", "11"});
  check_outcomes(threads(memory_order_relaxed, memory_order_acquire), 2, all_of(2));
  check_outcomes(threads(memory_order_release, memory_order_relaxed), 2, all_of(2));
}

TEST_CASE("message passing by fences") {
  const auto threads = [](std::memory_order writer, std::memory_order reader) {
    return Threads{[=] {
                     x.store(1, memory_order_relaxed);
                     std::atomic_thread_fence(writer);
                     y.store(1, memory_order_relaxed);
                   },
                   [=] {
                     r[0] = y.load(memory_order_relaxed);
                     std::atomic_thread_fence(reader);
                     r[1] = x.load(memory_order_relaxed);
                   }};
  };
  check_outcomes(threads(memory_order_release, memory_order_acquire), 2, {"00", "01", "11"});
  check_outcomes(threads(memory_order_acquire, memory_order_acquire), 2, all_of(2));
  check_outcomes(threads(memory_order_release, memory_order_release), 2, all_of(2));
}

TEST_CASE("store buffering: only sequentially consistent order forbids that both read 0") {
  const auto threads = [](std::memory_order store, std::memory_order load) {
    return Threads{[=] { x.store(1, store), r[0] = y.load(load); },
                   [=] { y.store(1, store), r[1] = x.load(load); }};
  };
  check_outcomes(threads(memory_order_release, memory_order_acquire), 2, all_of(2));
  check_outcomes(threads(memory_order_seq_cst, memory_order_acquire), 2, all_of(2));
  check_outcomes(threads(memory_order_seq_cst, memory_order_seq_cst), 2, without(all_of(2), "00"));
}

TEST_CASE("store buffering with fences: both must be sequentially consistent") {
  const auto threads = [](std::memory_order first, std::memory_order second) {
    return Threads{[=] {
                     x.store(1, memory_order_relaxed);
                     std::atomic_thread_fence(first);
                     r[0] = y.load(memory_order_relaxed);
                   },
                   [=] {
                     y.store(1, memory_order_relaxed);
                     std::atomic_thread_fence(second);
                     r[1] = x.load(memory_order_relaxed);
                   }};
  };
  check_outcomes(threads(memory_order_seq_cst, memory_order_seq_cst), 2, without(all_of(2), "00"));
  check_outcomes(threads(memory_order_seq_cst, memory_order_acq_rel), 2, all_of(2));
}

TEST_CASE("load buffering is not modelled: a load does not read what follows from it") {
  check_outcomes({[] { r[0] = x.load(memory_order_relaxed), y.store(1, memory_order_relaxed); },
                  [] { r[1] = y.load(memory_order_relaxed), x.store(1, memory_order_relaxed); }},
                 2, without(all_of(2), "11"));
}

TEST_CASE("independent reads of independent writes agree in sequentially consistent order only") {
  const auto threads = [](std::memory_order store, std::memory_order load) {
    return Threads{[=] { x.store(1, store); }, [=] { y.store(1, store); },
                   [=] { r[0] = x.load(load), r[1] = y.load(load); },
                   [=] { r[2] = y.load(load), r[3] = x.load(load); }};
  };
  CHECK(outcomes(threads(memory_order_release, memory_order_acquire), 4, {}) == all_of(4));
  CHECK(outcomes(threads(memory_order_seq_cst, memory_order_seq_cst), 4, {}) ==
        without(all_of(4), "1010"));
}

TEST_CASE("write to read causality: what has been acquired is passed on") {
  const auto threads = [](std::memory_order store) {
    return Threads{
        [=] { x.store(1, memory_order_relaxed); },
        [=] { r[0] = x.load(memory_order_relaxed), y.store(1, store); },
        [=] { r[1] = y.load(memory_order_acquire), r[2] = x.load(memory_order_relaxed); }};
  };
  check_outcomes(threads(memory_order_release), 3, without(all_of(3), "110"));
  check_outcomes(threads(memory_order_relaxed), 3, all_of(3));
}

TEST_CASE("coherence: all read the values of one object in one order") {
  check_outcomes({[] { x.store(1, memory_order_relaxed), x.store(2, memory_order_relaxed); },
                  [] { r[0] = x.load(memory_order_relaxed), r[1] = x.load(memory_order_relaxed); }},
                 2, {"00", "01", "02", "11", "12", "22"});
  check_outcomes({[] { x.store(1, memory_order_relaxed), r[0] = x.load(memory_order_relaxed); },
                  [] { x.store(2, memory_order_relaxed), r[1] = x.load(memory_order_relaxed); }},
                 2, {"11", "12", "22"});
}

TEST_CASE("two writes twice: stores become visible in another order than they are made") {
  const auto last_values = [](std::memory_order order) {
    Outcomes found;
    const Setup setup = setup_of({[=] { x.store(1, order), y.store(2, order); },
                                  [=] { y.store(1, order), x.store(2, order); }},
                                 [&] { found.insert(std::to_string(x) + std::to_string(y)); });
    CHECK_FALSE(explore(setup).failure);
    return found;
  };
  CHECK(last_values(memory_order_release) == Outcomes{"11", "12", "21", "22"});
  CHECK(last_values(memory_order_seq_cst) == Outcomes{"12", "21", "22"});
}

TEST_CASE("read-modify-writes read the last value, and one of them each") {
  check_outcomes({[] { r[0] = x.fetch_add(1, memory_order_relaxed); },
                  [] { r[1] = x.fetch_add(1, memory_order_relaxed); },
                  [] { r[2] = x.fetch_add(1, memory_order_relaxed); }},
                 3, {"012", "021", "102", "120", "201", "210"});
  const auto take = [](int by) {
    int nobody = 0;
    return x.compare_exchange_strong(nobody, by, memory_order_relaxed) ? 1 : 0;
  };
  check_outcomes({[=] { r[0] = take(1); }, [=] { r[1] = take(2); }}, 2, {"01", "10"});
}

/// The first thread releases, the second one adds, and the third one acquires what that has
/// written.
Threads release_sequence(std::memory_order of_second, bool of_same_thread) {
  return {[=] {
            data = 1;
            x.store(1, memory_order_release);
            if (of_same_thread) x.store(2, memory_order_relaxed);
          },
          [=] {
            if (of_same_thread) return;
            await([&] {
              int released = 1;
              return x.compare_exchange_strong(released, 2, of_second);
            });
          },
          [] {
            await([] { return x.load(memory_order_acquire) == 2; });
            require(data == 1, "what was released is there");
          }};
}

TEST_CASE("release sequences: go on with read-modify-writes, and with nothing else since C++20") {
  CHECK(failure_of(release_sequence(memory_order_relaxed, false)).empty());
  CHECK(failure_of(release_sequence(memory_order_relaxed, true))
            .starts_with("data race: plain read"));
}

TEST_CASE("data races are found, and told with their places") {
  const auto threads = [](std::memory_order order) {
    return Threads{[=] { data = 1, x.store(1, order); },
                   [] {
                     await([] { return x.load(memory_order_acquire) == 1; });
                     data = 2;
                   }};
  };
  CHECK(failure_of(threads(memory_order_release)).empty());
  CHECK(failure_of(threads(memory_order_relaxed)).starts_with("data race: plain write"));
}

TEST_CASE("mutexes: what is done under one is done before the next one has it") {
  static std::mutex first;
  static std::mutex second;
  const auto add = [](auto& mutex) {
    return [&mutex] {
      const std::lock_guard lock(mutex);
      r[0] = ++data;
    };
  };
  check_outcomes({add(first), add(first), add(first)}, 1, {"3"});
  CHECK(failure_of({add(first), add(second)}).starts_with("data race"));
  const auto try_to_add = [] {
    const std::unique_lock lock(first, std::try_to_lock);
    if (lock) r[1] = ++data;
  };
  check_outcomes({add(first), try_to_add}, 2, {"10", "12", "21"});
}

TEST_CASE("mutexes: threads that wait for each other wait for ever") {
  static std::array<std::mutex, 2> mutexes;
  const auto lock_both = [](std::size_t one, std::size_t other) {
    return [=] {
      const std::lock_guard first(mutexes[one]);
      const std::lock_guard second(mutexes[other]);
    };
  };
  const auto failure = [&](std::size_t one, std::size_t other) {
    return failure_of({lock_both(0, 1), lock_both(one, other)});
  };
  CHECK(failure(0, 1).empty());
  CHECK(failure(1, 0) == "waits for ever: thread 0, 1");
}

TEST_CASE("waits of std::atomic: who is notified goes on, and who is not waits for ever") {
  const auto wait = [] {
    x.wait(0, memory_order_acquire);
    require(data == 1, "what was released is there");
  };
  const auto threads = [=](std::memory_order order, bool notifies) {
    return Threads{wait, [=] {
                     data = 1;
                     x.store(1, order);
                     if (notifies) x.notify_one();
                   }};
  };
  CHECK(failure_of(threads(memory_order_seq_cst, true)).empty());
  CHECK(failure_of(threads(memory_order_seq_cst, false)) == "waits for ever: thread 0");
  // The library's look at whether anybody waits may come before such a store.
  CHECK(failure_of(threads(memory_order_release, true)) == "waits for ever: thread 0");
}

TEST_CASE("a thread that another one starts knows what that has done, and the other way round") {
  const auto start = [] {
    data = 1;
    std::thread other([] { require(data++ == 1, "it was started after that"); });
    other.join();
    require(data == 2, "it has ended");
  };
  CHECK(failure_of({start, run_started_thread}).empty());
}

TEST_CASE("who waits for what nobody does waits for ever; who spins in vain, too") {
  CHECK(failure_of({[] { await([] { return x.load(memory_order_acquire) == 1; }); }}) ==
        "waits for ever: thread 0");
  CHECK(failure_of({[] {
          while (x.load(memory_order_relaxed) != 1) {
          }
        }}) == "waits for ever: thread 0");
  CHECK(failure_of({[] {
                      while (x.load(memory_order_relaxed) != 1) {
                      }
                    },
                    [] { x.store(1, memory_order_relaxed); }})
            .empty());
}

/// Named, so that its places are.
void publish() {
  data = 1;
  x.store(1, memory_order_release);
}
void receive() {
  await([] { return x.load(memory_order_acquire) == 1; });
  require(data == 1, "the message is there");
}

TEST_CASE("weakened orders, and executions again") {
  const Setup setup = setup_of({publish, receive});
  const Result result = explore(setup);
  CHECK_FALSE(result.failure);
  REQUIRE(result.sites.size() == 2);
  for (const Ordered& ordered : result.sites) {
    const Options options{.weakening = {{.site = ordered.site, .order = Order::relaxed}}};
    const auto failure = explore(setup, options).failure;
    REQUIRE(failure);
    const auto again = replay(setup, failure->choices, options).failure;
    REQUIRE(again);
    CHECK(again->what == failure->what);
    CHECK(again->trace == failure->trace);
    CHECK(failure->trace.find("litmus_test::publish: store, ") != std::string::npos);
  }
}

}  // namespace litmus_test
}  // namespace hycoll::orders
