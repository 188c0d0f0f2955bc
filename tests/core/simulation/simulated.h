#ifndef HYCOLL_TESTS_CORE_SIMULATION_SIMULATED_H_
#define HYCOLL_TESTS_CORE_SIMULATION_SIMULATED_H_

#include <doctest/doctest.h>

#include <bit>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/algorithms/registry.h"
#include "core/drawing/schedule_price.h"
#include "core/network/edge_list.h"
#include "core/simulation/flow_network.h"
#include "core/simulation/platform.h"
#include "core/simulation/simulated_machine.h"

namespace hycoll {

/// Round numbers: a byte takes 1 ns on a link, and to be reduced or copied.
inline constexpr MachinePrices kRoundPrices{.alpha_us = 10,
                                            .message_us = 1,
                                            .bandwidth_gb_per_s = 1,
                                            .reduce_gb_per_s = 1,
                                            .copy_gb_per_s = 1,
                                            .wait_us = 0.5,
                                            .gap_us = 0};

inline Platform platform_of_edges(std::string_view edges,
                                  const MachinePrices& prices = kRoundPrices) {
  Platform platform;
  platform.network = read_edge_list(edges, "edges");
  platform.prices = prices;
  return platform;
}

/// One switch.
inline Platform star(int hosts, const MachinePrices& prices = kRoundPrices) {
  std::string edges;
  for (int host = 0; host < hosts; ++host) edges += "switch n" + std::to_string(host) + "\n";
  if (hosts == 1) edges += "switch idle\n";
  return platform_of_edges(edges, prices);
}

/// Node i is on host i.
inline double simulated_us(const Schedule& schedule, double size_bytes, const Platform& platform,
                           FlowNetwork& network, WalkRecord* record = nullptr) {
  std::vector<int> hosts(static_cast<std::size_t>(schedule.shape.node_count()));
  std::iota(hosts.begin(), hosts.end(), 0);
  network.reset();
  SimulatedMachine machine(platform, schedule.shape, hosts, network);
  return PricedSchedule(schedule).walk_us(size_bytes, platform.prices, machine, record);
}

struct ComparedCall {
  Collective collective;
  std::string_view algorithm;
  Shape shape;
  int segments = 1;
};

/// Calls in which no two messages enter or leave a node at a time by one endpoint.
inline std::vector<ComparedCall> calls_without_contention() {
  std::vector<ComparedCall> calls;
  for (const int nodes : {2, 3, 4, 7, 8}) {
    const Shape flat = Shape::uniform(nodes, 1, 1);
    const Shape wide = Shape::uniform(nodes, 4, 4);
    if (std::has_single_bit(static_cast<unsigned>(nodes))) {  // others send twice to some
      calls.push_back({Collective::allreduce, "recursive-doubling", flat});
      calls.push_back({Collective::allreduce, "dpml-recursive-doubling", wide});
    }
    calls.push_back({Collective::allreduce, "ring", flat});
    calls.push_back({Collective::allreduce, "dpml-ring", wide});
    calls.push_back({Collective::broadcast, "multi-leader-chain", flat, 8});
    calls.push_back({Collective::broadcast, "multi-leader-chain", wide, 4});
    calls.push_back({Collective::alltoall, "pairwise", flat});
  }
  return calls;
}

/// Simulation and walk agree within 2 %: `network` has 9 hosts whose links nobody shares.
inline void check_agreement(FlowNetwork& network) {
  MachinePrices prices = kRoundPrices;
  prices.endpoint_gb_per_s = prices.bandwidth_gb_per_s / 4;  // four fill a card
  const Platform platform = star(9, prices);
  for (const ComparedCall& call : calls_without_contention()) {
    const Schedule schedule =
        find_algorithm(call.collective, call.algorithm).generate(call.shape, call.segments);
    for (const double size_bytes : {8.0, 4096.0, 1048576.0}) {
      CAPTURE(call.algorithm);
      CAPTURE(call.shape.node_count());
      CAPTURE(size_bytes);
      CHECK(simulated_us(schedule, size_bytes, platform, network) ==
            doctest::Approx(price_us(schedule, size_bytes, prices)).epsilon(0.02));
    }
  }
}

}  // namespace hycoll

#endif  // HYCOLL_TESTS_CORE_SIMULATION_SIMULATED_H_
