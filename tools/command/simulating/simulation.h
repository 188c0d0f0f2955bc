#ifndef HYCOLL_TOOLS_COMMAND_SIMULATING_SIMULATION_H_
#define HYCOLL_TOOLS_COMMAND_SIMULATING_SIMULATION_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collectives/algorithms/registry.h"
#include "core/base/machine_prices.h"
#include "core/drawing/critical_path.h"
#include "core/drawing/schedule_price.h"
#include "core/simulation/flow_network.h"
#include "core/simulation/platform.h"

namespace hycoll::command {

/// A call on a platform.
struct SimulationQuestion {
  Collective collective = Collective::allreduce;
  int nodes = 1;
  int members = 1;
  int workers = 0;   ///< Of a node; 0: as many as members.
  int lanes = 0;     ///< 0: as selection decides.
  int segments = 0;  ///< 0: the same.
  int root = 0;
  std::size_t size_bytes = 0;
  Visibility visibility = Visibility::direct;
  int nodes_per_host = 1;
  std::optional<int> seed = {};  ///< Of a random order of the hosts; nothing: their own order.
  std::vector<int> hosts = {};   ///< By node: its host; empty: as the two before say.
  MachinePrices prices = {};     ///< By which selection decides.
};

struct SimulatedPlan {
  const Algorithm* algorithm;
  int lanes;
  int segments;
};

/// What a simulation tells.
struct SimulatedCall {
  SimulatedCall(const SimulatedPlan& its_plan, Schedule its_schedule)
      : plan(its_plan), schedule(std::move(its_schedule)) {}

  SimulatedPlan plan;
  double time_us = 0;
  std::size_t steps = 0;
  std::size_t messages = 0;
  std::vector<Stretch> path;               ///< From the beginning to the end.
  std::vector<LinkUse> links;              ///< The hottest first.
  double wall_s = 0;                       ///< What simulating took.
  std::size_t peak_bytes = 0;              ///< The most memory that the process has had so far.
  Schedule schedule;                       ///< With its steps only if pictures were asked for.
  std::unique_ptr<PricedSchedule> priced;  ///< The same.
  WalkRecord record;                       ///< The same.
};

/// What a link carried of what it could carry in that time.
inline double utilisation(const LinkUse& link, double time_us) {
  return time_us > 0 ? link.size_bytes / (link.gb_per_s * 1000 * time_us) : 0;
}

/// The plan that hycoll chooses, or that with the algorithm of this name. Throws Error if it does
/// not serve, or calls the MPI library's collectives, which cannot be simulated.
SimulatedPlan plan_named(const SimulationQuestion& question, const std::string& algorithm);

/// A plan for every algorithm that serves: with the lanes asked for, or as selection decides, or
/// with one where it serves no more. Left out are algorithms that are taken by name only, and lines
/// for which there is no room.
std::vector<SimulatedPlan> plans_that_serve(const SimulationQuestion& question);

enum class Pictures { none, wanted };

/// Simulates the call. Throws Error (invalid_argument) if the platform has too few hosts or cores,
/// or the schedule does not fit into memory.
SimulatedCall simulate(const SimulationQuestion& question, const SimulatedPlan& plan,
                       const Platform& platform, FlowNetwork& network, Pictures pictures);

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_SIMULATING_SIMULATION_H_
