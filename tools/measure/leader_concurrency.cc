#include "tools/measure/leader_concurrency.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/base/errors.h"
#include "numa/placement/binding.h"
#include "threading/memory/waiter.h"
#include "threading/transport/mpi/mpi_endpoint.h"

namespace hycoll::measure {
namespace {

constexpr int kRuns = 7;
constexpr double kRunSeconds = 4e-3;
constexpr int kMaximumExchanges = 1 << 20;

using Endpoints = std::vector<std::unique_ptr<MpiEndpoint>>;

void exchange(Endpoint& endpoint, int peer, int tag) {
  std::uint64_t sent = 1;
  std::uint64_t received = 0;
  EndpointRequest receive = endpoint.receive(peer, tag, &received, sizeof received);
  EndpointRequest send = endpoint.send(peer, tag, &sent, sizeof sent);
  while (!endpoint.test(send)) continue;
  while (!endpoint.test(receive)) continue;
}

/// The time in which the first `leaders` endpoints make `exchanges` exchanges each, in seconds.
double timed_run(MPI_Comm comm, const Topology& topology, std::span<const Core> cores,
                 const Endpoints& endpoints, int leaders, int peer, int exchanges) {
  std::atomic<int> ready{0};
  std::atomic<bool> go{false};
  std::vector<std::thread> threads;
  for (int leader = 0; leader < leaders; ++leader) {
    threads.emplace_back([&, leader] {
      try {
        bind_this_thread(topology, cores[static_cast<std::size_t>(leader)]);
      } catch (const Error&) {
        // A container may forbid binding; the leader then runs wherever the process may.
      }
      Endpoint& endpoint = *endpoints[static_cast<std::size_t>(leader)];
      ready.fetch_add(1, std::memory_order_relaxed);  // a mere count
      Waiter waiter{WaitPolicy{}};
      while (!go.load(std::memory_order_acquire)) {  // pairs with the store below
        if (waiter.turn()) waiter.give_way();
      }
      const int tags = endpoint.tag_count();
      for (int i = 0; i < exchanges; ++i) exchange(endpoint, peer, i % tags);
    });
  }
  Waiter waiter{WaitPolicy{}};
  while (ready.load(std::memory_order_relaxed) < leaders) {
    if (waiter.turn()) waiter.give_way();
  }
  MPI_Barrier(comm);
  const auto start = std::chrono::steady_clock::now();
  go.store(true, std::memory_order_release);  // pairs with the leaders' load
  for (std::thread& thread : threads) thread.join();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

LeaderConcurrency measure_leader_concurrency(MPI_Comm comm, const Topology& topology,
                                             std::span<const Core> cores) {
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const int peer = size % 2 == 0 ? rank ^ 1 : rank;
  const int leaders = static_cast<int>(cores.size());
  Endpoints endpoints;
  for (int leader = 0; leader < leaders; ++leader) {
    endpoints.push_back(std::make_unique<MpiEndpoint>(comm, nullptr));
  }

  const auto run = [&](int leader_count, int exchanges) {
    return timed_run(comm, topology, cores, endpoints, leader_count, peer, exchanges);
  };
  int exchanges = 256;
  for (;; exchanges *= 2) {
    double seconds = run(1, exchanges);
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, comm);
    if (seconds >= kRunSeconds || exchanges >= kMaximumExchanges) break;
  }
  // The best of several runs: whatever else runs on the machine only takes away.
  LeaderConcurrency best{.leaders = leaders};
  for (int i = 0; i < kRuns; ++i) {
    best.one_messages_per_s = std::max(best.one_messages_per_s, exchanges / run(1, exchanges));
    best.all_messages_per_s =
        std::max(best.all_messages_per_s, leaders * (exchanges / run(leaders, exchanges)));
  }
  return best;
}

}  // namespace hycoll::measure
