#include "tools/measure/leader_concurrency.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/base/errors.h"
#include "numa/placement/binding.h"
#include "threading/memory/waiter.h"

namespace hycoll::measure {
namespace {

constexpr int kRuns = 7;
constexpr double kRunSeconds = 4e-3;
constexpr int kMaximumExchanges = 1 << 20;

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

/// The time in which the first `leaders` endpoints make `exchanges` exchanges each, in seconds.
double timed_run(MPI_Comm comm, const Topology& topology, std::span<const Core> cores,
                 const Endpoints& endpoints, std::size_t size_bytes, int leaders, int peer,
                 int exchanges) {
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
      Buffers buffers(size_bytes);
      ready.fetch_add(1, std::memory_order_relaxed);  // a mere count
      Waiter waiter{WaitPolicy{}};
      while (!go.load(std::memory_order_acquire)) {  // pairs with the store below
        if (waiter.turn()) waiter.give_way();
      }
      const int tags = endpoint.tag_count();
      for (int i = 0; i < exchanges; ++i) exchange(endpoint, peer, i % tags, buffers);
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

/// The leaders of one transport.
struct Contestant {
  Endpoints endpoints;
  int exchanges_of_one = 0;  ///< In a run.
  int exchanges_of_all = 0;  ///< Of each.
  LeaderConcurrency best;
};

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
  std::vector<Contestant> contestants(transports.size());
  const auto run = [&](const Contestant& contestant, int leader_count, int exchanges) {
    return timed_run(comm, topology, cores, contestant.endpoints, size_bytes, leader_count, peer,
                     exchanges);
  };
  for (std::size_t i = 0; i < transports.size(); ++i) {
    Contestant& contestant = contestants[i];
    contestant.best.leaders = leaders;
    for (int leader = 0; leader < leaders; ++leader) {
      contestant.endpoints.push_back(transports[i](leader));
    }
    run(contestant, leaders, 1);  // connects
    // Leaders who queue for the MPI library take many times as long as one of them alone.
    const auto enough_for_a_run = [&](int leader_count) {
      for (int exchanges = 16;; exchanges *= 2) {
        double seconds = run(contestant, leader_count, exchanges);
        MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, comm);
        if (seconds >= kRunSeconds || exchanges >= kMaximumExchanges) return exchanges;
      }
    };
    contestant.exchanges_of_one = enough_for_a_run(1);
    contestant.exchanges_of_all = enough_for_a_run(leaders);
  }
  // The best of several runs: whatever else runs on the machine only takes away.
  for (int i = 0; i < kRuns; ++i) {
    for (Contestant& contestant : contestants) {
      const auto rate = [&](int leader_count, int exchanges) {
        return leader_count * (exchanges / run(contestant, leader_count, exchanges));
      };
      LeaderConcurrency& best = contestant.best;
      best.one_messages_per_s =
          std::max(best.one_messages_per_s, rate(1, contestant.exchanges_of_one));
      best.all_messages_per_s =
          std::max(best.all_messages_per_s, rate(leaders, contestant.exchanges_of_all));
    }
  }
  std::vector<LeaderConcurrency> results;
  for (const Contestant& contestant : contestants) results.push_back(contestant.best);
  return results;
}

}  // namespace hycoll::measure
