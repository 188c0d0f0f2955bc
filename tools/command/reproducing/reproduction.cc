#include "tools/command/reproducing/reproduction.h"

#include <chrono>
#include <iterator>
#include <memory>
#include <string>

#include "core/base/collective_traits.h"
#include "core/base/errors.h"
#include "core/simulation/simgrid_network.h"
#include "tools/command/simulating/platform_text.h"
#include "tools/command/simulating/simulation.h"

namespace hycoll::command {
namespace {

SimulationQuestion question_of(const PaperResult& result, const Contestant& contestant,
                               std::size_t size_bytes) {
  const int members = contestant.members > 0 ? contestant.members : result.members;
  const int processes =
      contestant.processes > 0 ? contestant.processes : result.nodes * result.members;
  SimulationQuestion question{.collective = result.collective,
                              .nodes = contestant.flat ? processes : result.nodes,
                              .members = contestant.flat ? 1 : members,
                              .lanes = contestant.lanes,
                              .segments = contestant.segments,
                              .size_bytes = size_bytes,
                              .nodes_per_host = contestant.flat ? members : 1,
                              .seed = {}};
  if (result.collective == Collective::alltoall) {
    question.size_bytes *= static_cast<std::size_t>(question.nodes * question.members);
  }
  return question;
}

Platform platform_of(const PaperResult& result) {
  Platform platform = platform_argument("--platform", std::string(result.platform), result.nodes);
  if (!result.torus.empty()) platform.network = Torus{result.torus};
  return platform;
}

std::vector<BroadcastSaving> savings_of(std::string_view benchmark) {
  std::vector<BroadcastSaving> savings;
  for (const BroadcastBenchmark& counted : broadcast_benchmarks()) {
    if (counted.name != benchmark) continue;
    for (const int rank_count : counted.rank_counts) {
      std::ranges::move(count_savings(rank_count, counted.sizes_bytes),
                        std::back_inserter(savings));
    }
  }
  return savings;
}

}  // namespace

std::size_t call_count(const PaperResult& result) {
  return result.contestants.size() * result.sizes_bytes.size();
}

Reproduction reproduce(const PaperResult& result,
                       const std::function<void(const Contestant&)>& begin_call) {
  const auto begin = std::chrono::steady_clock::now();
  const Platform platform = platform_of(result);
  const std::unique_ptr<FlowNetwork> network = make_simgrid_network("reproduce", platform);
  Reproduction reproduction{.result = result};
  for (const Contestant& contestant : result.contestants) {
    std::vector<double>& times_us = reproduction.times_us.emplace_back();
    for (const std::size_t size_bytes : result.sizes_bytes) {
      begin_call(contestant);
      const SimulationQuestion question = question_of(result, contestant, size_bytes);
      const SimulatedPlan plan = plan_named(question, std::string(contestant.algorithm));
      times_us.push_back(simulate(question, plan, platform, *network, Pictures::none).time_us);
    }
  }
  for (const Claim& claim : result.claims) {
    reproduction.values.push_back(value_of(claim, result, reproduction.times_us));
  }
  reproduction.savings = savings_of(result.benchmark);
  reproduction.wall_s =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return reproduction;
}

}  // namespace hycoll::command
