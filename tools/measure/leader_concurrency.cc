#include "tools/measure/leader_concurrency.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "tools/measure/concurrent_runs.h"

namespace hycoll::measure {
namespace {

constexpr int kRuns = 7;
constexpr double kRunSeconds = 4e-3;
constexpr int kFewestTimes = 16;

using Endpoints = std::vector<std::unique_ptr<Endpoint>>;

/// What a leader sends, and receives.
struct Buffers {
  explicit Buffers(std::size_t size_bytes) : sent(size_bytes), received(size_bytes) {}
  std::vector<std::byte> sent;
  std::vector<std::byte> received;
};

void exchange(Endpoint& endpoint, int peer, int tag, Buffers& buffers) {
  EndpointRequest receive =
      endpoint.receive(peer, tag, buffers.received.data(), buffers.received.size());
  EndpointRequest send = endpoint.send(peer, tag, buffers.sent.data(), buffers.sent.size());
  while (!endpoint.test(send)) continue;
  while (!endpoint.test(receive)) continue;
}

/// The leaders of one transport, or threads that only count.
struct Contestant {
  Work work;
  int times_of_one = 0;  ///< In a run.
  int times_of_all = 0;  ///< Of each.
};

void count(int /*leader*/, int times) {
  constexpr int kSteps = 256;
  for (int step = 0; step < times * kSteps; ++step) asm volatile("" ::: "memory");
}

}  // namespace

std::vector<LeaderConcurrency> measure_leader_concurrency(MPI_Comm comm, const Topology& topology,
                                                          std::span<const Core> cores,
                                                          std::span<const LaneMaker> transports,
                                                          std::size_t size_bytes) {
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const int peer = size % 2 == 0 ? rank ^ 1 : rank;
  const int leaders = static_cast<int>(cores.size());
  const ConcurrentRuns runs(comm, topology, cores);
  const auto contestant_of = [&](Work work) {
    runs.run(work, leaders, 1);  // connects
    // Leaders who queue for the MPI library take many times as long as one of them alone.
    const int of_one = runs.times_for(work, 1, kRunSeconds, kFewestTimes);
    const int of_all = runs.times_for(work, leaders, kRunSeconds, kFewestTimes);
    return Contestant{.work = std::move(work), .times_of_one = of_one, .times_of_all = of_all};
  };
  std::vector<Endpoints> lanes(transports.size());
  std::vector<Contestant> contestants;
  for (std::size_t i = 0; i < transports.size(); ++i) {
    for (int leader = 0; leader < leaders; ++leader) lanes[i].push_back(transports[i](leader));
    contestants.push_back(contestant_of([&, i](int leader, int times) {
      Endpoint& endpoint = *lanes[i][static_cast<std::size_t>(leader)];
      Buffers buffers(size_bytes);
      const int tags = endpoint.tag_count();
      for (int e = 0; e < times; ++e) exchange(endpoint, peer, e % tags, buffers);
    }));
  }
  const Contestant counting = contestant_of(count);
  const auto rate_of_one = [&](const Contestant& contestant) {
    return contestant.times_of_one / runs.run(contestant.work, 1, contestant.times_of_one).seconds;
  };
  const auto rate_of_all = [&](const Contestant& contestant) {
    return leaders * (contestant.times_of_all /
                      runs.run(contestant.work, leaders, contestant.times_of_all).seconds);
  };
  // The best of several runs: whatever else runs on the machine only takes away.
  double best_count = 0;
  std::vector<double> counts;
  std::vector<LeaderConcurrency> results(transports.size());
  for (int i = 0; i < kRuns; ++i) {
    for (std::size_t t = 0; t < transports.size(); ++t) {
      LeaderConcurrency& best = results[t];
      best.one_messages_per_s = std::max(best.one_messages_per_s, rate_of_one(contestants[t]));
      best.all_messages_per_s = std::max(best.all_messages_per_s, rate_of_all(contestants[t]));
    }
    best_count = std::max(best_count, rate_of_one(counting));
    counts.push_back(rate_of_all(counting));
  }
  std::ranges::nth_element(counts, counts.begin() + kRuns / 2);
  for (LeaderConcurrency& result : results) {
    result.leaders = leaders;
    result.threads_at_once = counts[kRuns / 2] / best_count;
  }
  return results;
}

}  // namespace hycoll::measure
