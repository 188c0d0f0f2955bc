#include "collectives/node/distance_looks.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/seed.h"
#include "threading/memory/node_memory.h"

namespace hycoll {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLeastBetweenLooks{50};

/// What a party did, by the run before which it did it.
struct Seen {
  std::vector<CallNumber> looks;
  struct Change {
    CallNumber run;
    double handoff_ns;
    friend bool operator==(const Change&, const Change&) = default;
  };
  std::vector<Change> changes;
};

/// What the parties of a node see who meet in every run; `probe`: by party and look.
class Node {
 public:
  using Probe = std::function<double(int party, std::size_t look)>;

  Node(int party_count, bool is_known, Leaving leaving, Probe probe)
      : memory_(2 * party_count), is_known_(is_known), leaving_(leaving), probe_(std::move(probe)) {
    for (int party = 0; party < party_count; ++party) workers_.push_back(2 * party);
  }

  std::vector<Seen> run(std::chrono::microseconds run_time, CallNumber run_count) {
    std::vector<Seen> seen(workers_.size());
    std::barrier meeting(std::ssize(workers_));
    const auto work = [&](int party) {
      Seen& own = seen[static_cast<std::size_t>(party)];
      CallNumber run = 1;
      DistanceLooks looks(
          memory_, workers_, party, is_known_,
          [&] {
            own.looks.push_back(run);
            return probe_(party, own.looks.size() - 1);
          },
          [&](double handoff_ns) {
            own.changes.push_back({run, handoff_ns});
          });
      for (; run <= run_count; ++run) {
        looks.before(run, leaving_);
        std::this_thread::sleep_for(run_time);
        meeting.arrive_and_wait();
      }
    };
    std::vector<std::thread> others;
    for (int party = 1; std::cmp_less(party, workers_.size()); ++party) {
      others.emplace_back(work, party);
    }
    work(0);
    for (std::thread& other : others) other.join();
    return seen;
  }

 private:
  NodeMemory memory_;
  std::vector<int> workers_;
  bool is_known_;
  Leaving leaving_;
  Probe probe_;
};

/// What the slowest of them sees in one look after the other.
double expected_ns(std::size_t look) { return 300.0 + 100.0 * static_cast<double>(look); }

/// Looks of three parties, of whom one is always late.
void check_looks(Leaving leaving, std::chrono::microseconds run_time, CallNumber run_count) {
  Node node(3, true, leaving, [](int party, std::size_t look) {
    return party == 1 ? expected_ns(look) : 20.0 * party;
  });
  const Clock::time_point begin = Clock::now();
  const std::vector<Seen> seen = node.run(run_time, run_count);
  // The first one may come at once: the last look of the process was before.
  const auto most = 1 + static_cast<std::size_t>((Clock::now() - begin) / kLeastBetweenLooks);
  REQUIRE(seen[0].looks.size() >= 2);
  CHECK(seen[0].looks.size() <= most);
  REQUIRE(!seen[0].changes.empty());
  for (std::size_t change = 0; change < seen[0].changes.size(); ++change) {
    CHECK(seen[0].changes[change].handoff_ns == expected_ns(change));
    CHECK(seen[0].changes[change].run > seen[0].looks[change]);
  }
  for (const Seen& other : seen) {
    CHECK(other.looks == seen[0].looks);
    CHECK(other.changes == seen[0].changes);
  }
}

TEST_CASE("all look before the same runs, apart in time, and agree on the longest handoff") {
  for (const Leaving leaving : {Leaving::when_all_have_entered, Leaving::ahead}) {
    check_looks(leaving, std::chrono::milliseconds(1), 500);
  }
}

TEST_CASE("who makes few calls, which are long, looks as often") {
  check_looks(Leaving::ahead, std::chrono::milliseconds(10), 60);
}

TEST_CASE("where nobody leaves before all have entered, a change takes three runs") {
  Node node(2, false, Leaving::when_all_have_entered, [](int, std::size_t) { return 30.0; });
  const std::vector<Seen> seen = node.run(std::chrono::microseconds(10), 4);
  CHECK(seen[0].looks == std::vector<CallNumber>{2});
  CHECK(seen[0].changes == std::vector<Seen::Change>{{4, 30.0}});
  CHECK(seen[1].looks == seen[0].looks);
  CHECK(seen[1].changes == seen[0].changes);
}

TEST_CASE("nothing changes when nobody finds a partner") {
  Node node(2, false, Leaving::ahead, [](int, std::size_t) { return 0.0; });
  const std::vector<Seen> seen = node.run(std::chrono::microseconds(10), 2000);
  CHECK(!seen[0].looks.empty());
  CHECK(seen[0].changes.empty());
  CHECK(seen[1].changes.empty());
}

/// Parties that make runs of all kinds, some of which they leave ahead, and look one time after the
/// other. Each comes late, and sees another distance, when it likes.
class MixedRuns {
 public:
  MixedRuns(int party_count, std::uint64_t seed)
      : memory_(2 * party_count), seed_(seed), kinds_(kRunCount + 1) {
    std::mt19937_64 random(seed);
    for (Kind& kind : kinds_) kind = static_cast<Kind>(random() % 3);
    for (int party = 0; party < party_count; ++party) workers_.push_back(2 * party);
  }

  std::vector<Seen> run() {
    std::vector<Seen> seen(workers_.size());
    std::vector<std::thread> threads;
    for (int party = 0; std::cmp_less(party, workers_.size()); ++party) {
      threads.emplace_back(
          [this, party, &own = seen[static_cast<std::size_t>(party)]] { work(party, own); });
    }
    for (std::thread& thread : threads) thread.join();
    return seen;
  }

 private:
  static constexpr CallNumber kRunCount = 3000;
  enum class Kind { meeting, ahead, ahead_without_a_look };

  void work(int party, Seen& seen) {
    std::mt19937_64 random(seed_ * workers_.size() + static_cast<std::uint64_t>(party));
    CallNumber run = 1;
    DistanceLooks looks(
        memory_, workers_, party, true,
        [&] {
          seen.looks.push_back(run);
          return static_cast<double>(random() % 3 * 500);
        },
        [&](double handoff_ns) {
          seen.changes.push_back({run, handoff_ns});
        });
    looks.set_interval({});
    for (; run <= kRunCount; ++run) {
      const Kind kind = kinds_[run];
      const bool meets = kind == Kind::meeting;
      if (kind != Kind::ahead_without_a_look) {
        looks.before(run, meets ? Leaving::when_all_have_entered : Leaving::ahead);
      }
      const std::uint64_t lateness = random() % 64;
      if (lateness == 0) std::this_thread::sleep_for(std::chrono::microseconds(50));
      if (lateness < 16) std::this_thread::yield();
      memory_.post(workers_[static_cast<std::size_t>(party)]).call.store(run);
      leave(run, meets ? 0 : kMaximumLead);
    }
  }

  void leave(CallNumber run, CallNumber lead) {
    for (const int worker : workers_) {
      while (memory_.post(worker).call.load(std::memory_order_acquire) + lead < run) {
        std::this_thread::yield();
      }
    }
  }

  NodeMemory memory_;
  std::uint64_t seed_;
  std::vector<Kind> kinds_;  // by run
  std::vector<int> workers_;
};

TEST_CASE("whatever the runs are, and whoever is late, all change before the same ones") {
  for (const int party_count : {2, 3}) {
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      const std::uint64_t drawn = tests::seed_offset() + seed;
      CAPTURE(party_count);
      CAPTURE(drawn);
      const std::vector<Seen> seen = MixedRuns(party_count, drawn).run();
      CHECK(seen[0].changes.size() > 20);
      for (const Seen& other : seen) {
        CHECK(other.looks == seen[0].looks);
        CHECK(other.changes == seen[0].changes);
      }
    }
  }
}

TEST_CASE("who does not know the distance looks soon") {
  Node node(2, false, Leaving::ahead, [](int, std::size_t) { return 30.0; });
  const std::vector<Seen> seen = node.run(std::chrono::microseconds(10), 100);
  REQUIRE(!seen[0].looks.empty());
  CHECK(seen[0].looks.front() == known_from(1, Leaving::ahead));
  CHECK(!seen[0].changes.empty());
  CHECK(seen[0].changes == seen[1].changes);
}

}  // namespace
}  // namespace hycoll
