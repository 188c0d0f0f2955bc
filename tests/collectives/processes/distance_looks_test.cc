#include "collectives/processes/distance_looks.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

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
  const auto most = static_cast<std::size_t>((Clock::now() - begin) / kLeastBetweenLooks);
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

TEST_CASE("who does not know the distance looks soon") {
  Node node(2, false, Leaving::ahead, [](int, std::size_t) { return 30.0; });
  const std::vector<Seen> seen = node.run(std::chrono::microseconds(10), 100);
  REQUIRE(seen[0].changes.size() == 1);
  CHECK(seen[0].changes == seen[1].changes);
}

}  // namespace
}  // namespace hycoll
