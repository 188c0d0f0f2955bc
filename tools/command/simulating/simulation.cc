#include "tools/command/simulating/simulation.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <numeric>
#include <random>
#include <utility>

#include "collectives/selection/selection.h"
#include "core/base/collective_traits.h"
#include "core/base/errors.h"
#include "core/base/line_sizes.h"
#include "core/schedule/without_steps.h"
#include "core/simulation/simulated_machine.h"
#include "heap/available_memory.h"
#include "numa/topology/topology.h"

namespace hycoll::command {
namespace {

/// What a step takes while its schedule is made, matched and walked through.
constexpr std::size_t kBytesPerStep = 400;

std::vector<EqualNodes> nodes_of(const SimulationQuestion& question) {
  const int workers = question.workers > 0 ? question.workers : question.members;
  return {{.node = {question.members, workers}, .count = question.nodes}};
}

Shape shape_of(const SimulationQuestion& question, int lanes) {
  return Shape(nodes_of(question), lanes).with_visibility(question.visibility);
}

/// Direct visibility, for which algorithms say what they serve.
bool serves(const Algorithm& algorithm, const SimulationQuestion& question, int lanes) {
  return algorithm.serves_shape(Shape(nodes_of(question), lanes));
}

bool has_natives(const Algorithm& algorithm) {
  return algorithm.exchange.help == ExchangeHelp::mpi_library;
}

/// Without what is asked for by name only, and lines longer than there is room for.
bool is_listed(const Algorithm& algorithm, const SimulationQuestion& question) {
  return algorithm.exchange.help == ExchangeHelp::none &&
         (!algorithm.passes_in_lines || question.size_bytes <= kMaximumLinesBytes);
}

SimulatedPlan plan_with(const SimulationQuestion& question, const std::string& algorithm,
                        int lanes) {
  const SelectedPlan selected = select({.collective = question.collective,
                                        .nodes = nodes_of(question),
                                        .size_bytes = question.size_bytes,
                                        .native = NativeReduction::impossible,
                                        .root = question.root,
                                        .requested_lanes = lanes,
                                        .requested_algorithm = algorithm,
                                        .visibility = question.visibility,
                                        .prices = question.prices});
  return {.algorithm = &find_algorithm(question.collective, selected.algorithm),
          .lanes = selected.lanes,
          .segments = question.segments > 0 ? question.segments : selected.segments};
}

/// By node.
std::vector<int> hosts_of_nodes(const SimulationQuestion& question, int host_count) {
  if (!question.hosts.empty()) return question.hosts;
  const int wanted = (question.nodes + question.nodes_per_host - 1) / question.nodes_per_host;
  if (wanted > host_count) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("--nodes {} need {} hosts, and the platform has {}. Give fewer nodes, "
                            "more of them --per-host, or a larger platform",
                            question.nodes, wanted, host_count));
  }
  std::vector<int> hosts(static_cast<std::size_t>(host_count));
  std::iota(hosts.begin(), hosts.end(), 0);
  if (question.seed) {
    // The same on every machine, which std::shuffle is not.
    std::mt19937 random(static_cast<unsigned>(*question.seed));
    for (std::size_t i = hosts.size(); i > 1; --i) std::swap(hosts[i - 1], hosts[random() % i]);
  }
  std::vector<int> host_of_node;
  for (int node = 0; node < question.nodes; ++node) {
    host_of_node.push_back(hosts[static_cast<std::size_t>(node / question.nodes_per_host)]);
  }
  return host_of_node;
}

void check_memory(const Schedule& one_node) {
  const auto nodes = static_cast<std::size_t>(one_node.shape.node_count());
  const std::size_t steps = nodes * one_node.step_count();
  const std::size_t available = AvailableMemory().bytes();
  if (steps * kBytesPerStep <= available) return;
  throw Error(ErrorKind::invalid_argument,
              fmt::format("{}: some {} steps need {} of memory, of which {} is available. Give "
                          "fewer nodes, members, lanes or segments",
                          one_node.algorithm, steps, size_text(steps * kBytesPerStep),
                          size_text(available)));
}

std::vector<LinkUse> hottest_first(std::vector<LinkUse> links) {
  std::ranges::sort(links, [](const LinkUse& a, const LinkUse& b) {
    const double load_a = a.size_bytes / a.gb_per_s;
    const double load_b = b.size_bytes / b.gb_per_s;
    return load_a != load_b ? load_a > load_b : a.link < b.link;
  });
  return links;
}

std::size_t peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::size_t>(usage.ru_maxrss) * 1024;
}

}  // namespace

SimulatedPlan plan_named(const SimulationQuestion& question, const std::string& algorithm) {
  const SimulatedPlan plan = plan_with(question, algorithm, question.lanes);
  if (!serves(*plan.algorithm, question, plan.lanes)) {
    throw Error(ErrorKind::unsupported,
                fmt::format("--algorithm {} serves {}; here are {} nodes of {} members with {} "
                            "lanes. Give other ones",
                            plan.algorithm->name, plan.algorithm->serves, question.nodes,
                            question.members, plan.lanes));
  }
  if (has_natives(*plan.algorithm)) {
    throw Error(ErrorKind::unsupported,
                fmt::format("--algorithm {}: what the MPI library does cannot be simulated. Give "
                            "another one",
                            plan.algorithm->name));
  }
  return plan;
}

std::vector<SimulatedPlan> plans_that_serve(const SimulationQuestion& question) {
  std::vector<SimulatedPlan> plans;
  for (const Algorithm& algorithm : algorithms_of(question.collective)) {
    if (!is_listed(algorithm, question)) continue;
    for (const int lanes : {question.lanes, 1}) {
      if (lanes > 0 && !serves(algorithm, question, lanes)) continue;
      const SimulatedPlan plan = plan_with(question, std::string(algorithm.name), lanes);
      if (!serves(algorithm, question, plan.lanes)) continue;
      plans.push_back(plan);
      break;
    }
  }
  return plans;
}

SimulatedCall simulate(const SimulationQuestion& question, const SimulatedPlan& plan,
                       const Platform& platform, FlowNetwork& network, Pictures pictures) {
  const auto begin = std::chrono::steady_clock::now();
  const Shape shape = shape_of(question, plan.lanes);
  const auto generate = [&](NumberRange nodes) {
    return plan.algorithm->generate(shape, plan.segments, question.root, nodes);
  };
  check_memory(generate(only_node(question.nodes / 2)));
  network.reset();
  SimulatedMachine machine(platform, shape, hosts_of_nodes(question, network.host_count()),
                           network);
  Schedule schedule = generate(kAllNodes);
  auto priced = std::make_unique<PricedSchedule>(schedule);
  if (pictures == Pictures::none) schedule = without_steps(schedule);
  SimulatedCall call(plan, std::move(schedule));
  call.time_us = priced->walk_us(static_cast<double>(question.size_bytes), platform.prices, machine,
                                 &call.record);
  call.steps = priced->step_count();
  call.messages = static_cast<std::size_t>(
      std::ranges::count(priced->steps(), StepKind::send, &PricedStep::kind));
  call.path = critical_path(*priced, call.record);
  call.links = hottest_first(network.link_uses());
  if (pictures == Pictures::wanted) {
    call.priced = std::move(priced);
  } else {
    call.record = {};
  }
  call.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  call.peak_bytes = peak_bytes();
  return call;
}

}  // namespace hycoll::command
