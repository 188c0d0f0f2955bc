#include "tools/command/reproducing/reproduction.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <iterator>
#include <memory>
#include <string>

#include "core/base/collective_traits.h"
#include "core/base/errors.h"
#include "core/simulation/simgrid_network.h"
#include "tools/command/line/isolated_run.h"
#include "tools/command/line/json.h"
#include "tools/command/simulating/platform_text.h"
#include "tools/command/simulating/simulation.h"

namespace hycoll::command {
namespace {

SimulationQuestion question_of(const PaperResult& result, const Curve& curve,
                               std::size_t size_bytes) {
  const int members = curve.members > 0 ? curve.members : result.members;
  const int processes = curve.processes > 0 ? curve.processes : result.nodes * result.members;
  SimulationQuestion question{.collective = result.collective,
                              .nodes = curve.flat ? processes : result.nodes,
                              .members = curve.flat ? 1 : members,
                              .lanes = curve.lanes,
                              .size_bytes = size_bytes,
                              .nodes_per_host = curve.flat ? members : 1,
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

CurveTimes simulate_all(const PaperResult& result,
                        const std::function<void(const Curve&)>& begin_call) {
  const Platform platform = platform_of(result);
  const std::unique_ptr<FlowNetwork> network = make_simgrid_network("reproduce", platform);
  CurveTimes all;
  for (const Curve& curve : result.curves) {
    std::vector<double>& times_us = all.emplace_back();
    for (const std::size_t size_bytes : result.sizes_bytes) {
      begin_call(curve);
      SimulationQuestion question = question_of(result, curve, size_bytes);
      question.prices = platform.prices;
      const SimulatedPlan plan = plan_named(question, std::string(curve.algorithm));
      times_us.push_back(simulate(question, plan, platform, *network, Pictures::none).time_us);
    }
  }
  return all;
}

/// Of the other process: times, or what was wrong.
std::string answer(const PaperResult& result, const std::function<void(const Curve&)>& begin_call) {
  try {
    return json_text({{"times_us", simulate_all(result, begin_call)}});
  } catch (const std::exception& error) {
    return json_text({{"error", error.what()}});
  }
}

CurveTimes simulate_apart(const PaperResult& result,
                          const std::function<void(const Curve&)>& begin_call) {
  constexpr std::chrono::hours kPatience(24);
  const IsolatedRun run = run_isolated([&] { return answer(result, begin_call); }, kPatience);
  if (run.end != IsolatedRun::End::returned) {
    throw Error(ErrorKind::environment,
                fmt::format("{}: the simulation ended by signal {}", result.name, run.signal));
  }
  const Json found = parse_json(run.text);
  if (found.contains("error")) {
    throw Error(ErrorKind::environment,
                fmt::format("{}: {}", result.name, found.at("error").get<std::string>()));
  }
  return found.at("times_us").get<CurveTimes>();
}

}  // namespace

std::size_t call_count(const PaperResult& result) {
  return result.curves.size() * result.sizes_bytes.size();
}

Reproduction reproduce(const PaperResult& result,
                       const std::function<void(const Curve&)>& begin_call) {
  const auto begin = std::chrono::steady_clock::now();
  Reproduction reproduction{.result = result, .times_us = simulate_apart(result, begin_call)};
  for (const Claim& claim : result.claims) {
    reproduction.values.push_back(value_of(claim, result, reproduction.times_us));
  }
  reproduction.savings = savings_of(result.benchmark);
  reproduction.wall_s =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return reproduction;
}

}  // namespace hycoll::command
