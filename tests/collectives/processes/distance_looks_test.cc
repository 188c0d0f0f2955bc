#include "collectives/processes/distance_looks.h"

#include <doctest/doctest.h>

#include <array>
#include <barrier>
#include <chrono>
#include <thread>
#include <vector>

#include "threading/memory/node_memory.h"

namespace hycoll {
namespace {

using Clock = std::chrono::steady_clock;

struct Look {
  CallNumber run;
  Clock::time_point time;
};

/// Of two processes that meet in every run.
std::array<std::vector<Look>, 2> looks_in(NodeMemory& memory, std::chrono::milliseconds run_time,
                                          CallNumber run_count, double handoff_ns) {
  std::array<std::vector<Look>, 2> looked;
  std::barrier meeting(2);
  const auto work = [&](int process) {
    CallNumber run = 1;
    DistanceLooks looks(memory, process, process, [&] {
      looked[static_cast<std::size_t>(process)].push_back({run, Clock::now()});
      return handoff_ns;
    });
    for (; run <= run_count; ++run) {
      looks.before(run);
      std::this_thread::sleep_for(run_time);
      meeting.arrive_and_wait();
    }
  };
  std::thread other(work, 1);
  work(0);
  other.join();
  return looked;
}

TEST_CASE("all look before the same runs, a second apart") {
  NodeMemory memory(2);
  const auto looked = looks_in(memory, std::chrono::milliseconds(2), 1600, 1000);
  REQUIRE(looked[0].size() >= 2);
  REQUIRE(looked[1].size() == looked[0].size());
  for (std::size_t i = 0; i < looked[0].size(); ++i) {
    CHECK(looked[0][i].run == looked[1][i].run);
    // Announced a second apart; a stopped process may look late, and so near to the next one.
    if (i > 0) CHECK(looked[0][i].run - looked[0][i - 1].run > 16);
  }
  CHECK(memory.streams_staging());
  CHECK_FALSE(memory.is_far());
}

TEST_CASE("who is near stores through the caches, and who finds nobody as before") {
  for (const double handoff_ns : {30.0, 0.0}) {
    NodeMemory memory(2);
    memory.set_streaming(true);
    looks_in(memory, std::chrono::milliseconds(2), 800, handoff_ns);
    CHECK(memory.streams_staging() == (handoff_ns == 0));
  }
}

}  // namespace
}  // namespace hycoll
