#include "tools/command/simulating/simulation_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "core/base/price_text.h"
#include "core/simulation/simgrid_network.h"
#include "numa/topology/topology.h"
#include "tools/command/line/sizes.h"
#include "tools/command/line/table.h"

namespace hycoll::command {
namespace {

/// Links and stretches, in tables and in data.
constexpr std::size_t kListed = 10;

std::string percent_text(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::span<const LinkUse> hottest(const SimulatedCall& call) {
  return std::span(call.links).first(std::min(call.links.size(), kListed));
}

std::vector<Stretch> longest(const SimulatedCall& call) {
  std::vector<Stretch> stretches = call.path;
  std::ranges::stable_sort(stretches, std::ranges::greater(), &Stretch::length_us);
  stretches.resize(std::min(stretches.size(), kListed));
  return stretches;
}

/// How much of the path each kind of stretch is.
std::array<double, kStretchKindCount> sums_of(const std::vector<Stretch>& path) {
  std::array<double, kStretchKindCount> sums{};
  for (const Stretch& stretch : path) {
    sums[static_cast<std::size_t>(stretch.kind)] += stretch.length_us();
  }
  return sums;
}

std::string worker_text(const Shape& shape, int worker) {
  const int node = shape.node_of_worker(worker);
  return fmt::format("{}.{}", node, worker - shape.first_worker(node));
}

std::string place_text(const Shape& shape, const Stretch& stretch) {
  const std::string to = worker_text(shape, stretch.worker);
  if (stretch.from_worker == stretch.worker) return to;
  return fmt::format("{} to {}", worker_text(shape, stretch.from_worker), to);
}

std::string path_text(const SimulatedCall& call) {
  std::string text = "critical path:";
  const auto sums = sums_of(call.path);
  for (std::size_t kind = 0; kind < sums.size(); ++kind) {
    if (sums[kind] == 0) continue;
    text += fmt::format(" {} {} us ({})", name_of(static_cast<Stretch::Kind>(kind)),
                        time_text(sums[kind]), percent_text(sums[kind] / call.time_us));
  }
  TextTable table({"longest stretches", "from us", "us", "node.worker"});
  for (const Stretch& stretch : longest(call)) {
    table.add_row({std::string(name_of(stretch.kind)), time_text(stretch.begin_us),
                   time_text(stretch.length_us()), place_text(call.schedule.shape, stretch)});
  }
  return fmt::format("{}\n{}", text, table.to_text());
}

std::string links_text(const SimulatedCall& call) {
  if (call.links.empty()) return "no link carried a message\n";
  TextTable table({"hottest links", "MB", "GB/s", "used"});
  for (const LinkUse& link : hottest(call)) {
    table.add_row({link.link, fmt::format("{:.4g}", link.size_bytes / 1e6),
                   fmt::format("{:g}", link.gb_per_s),
                   percent_text(utilisation(link, call.time_us))});
  }
  return table.to_text();
}

Json record_of(const SimulatedCall& call) {
  const Shape& shape = call.schedule.shape;
  Json path = Json::object();
  const auto sums = sums_of(call.path);
  for (std::size_t kind = 0; kind < sums.size(); ++kind) {
    path[std::string(name_of(static_cast<Stretch::Kind>(kind))) + "_us"] = sums[kind];
  }
  Json stretches = Json::array();
  for (const Stretch& stretch : longest(call)) {
    stretches.push_back({{"kind", name_of(stretch.kind)},
                         {"begin_us", stretch.begin_us},
                         {"us", stretch.length_us()},
                         {"where", place_text(shape, stretch)}});
  }
  Json links = Json::array();
  for (const LinkUse& link : hottest(call)) {
    links.push_back({{"link", link.link},
                     {"bytes", link.size_bytes},
                     {"gb_per_s", link.gb_per_s},
                     {"utilisation", utilisation(link, call.time_us)}});
  }
  return {{"algorithm", call.plan.algorithm->name},
          {"lanes", call.plan.lanes},
          {"segments", call.plan.segments},
          {"time_us", call.time_us},
          {"steps", call.steps},
          {"messages", call.messages},
          {"path", path},
          {"stretches", stretches},
          {"links", links},
          {"wall_s", call.wall_s},
          {"peak_bytes", call.peak_bytes}};
}

}  // namespace

std::string platform_lines(const Platform& platform, int host_count) {
  const std::string network = to_text(platform.network);
  std::string text = fmt::format("platform:  {}{}, {} hosts of {} x {} domains", platform.name,
                                 platform.name == network ? "" : fmt::format(" ({})", network),
                                 host_count, platform.host.packages, platform.host.domains);
  if (platform.host.cores > 0) text += fmt::format(" of {} cores", platform.host.cores);
  return text + fmt::format("\nprices:    {}\n", to_text(platform.prices));
}

std::string question_text(const SimulationQuestion& question, const Platform& platform,
                          int host_count) {
  std::string nodes = fmt::format("{} nodes of {} members", question.nodes, question.members);
  if (question.nodes_per_host > 1) nodes += fmt::format(", {} on a host", question.nodes_per_host);
  std::string text = platform_lines(platform, host_count) +
                     fmt::format("call:      {} of {} bytes, {}", name_of(question.collective),
                                 short_size(question.size_bytes), nodes);
  if (question.seed) text += fmt::format(", hosts in random order {}", *question.seed);
  return text + "\n\n";
}

std::string calls_text(const std::vector<SimulatedCall>& calls) {
  TextTable table({"algorithm", "lanes", "segments", "us", "messages", "steps", "hottest link",
                   "simulated in s", "peak"});
  for (const SimulatedCall& call : calls) {
    table.add_row(
        {std::string(call.plan.algorithm->name), std::to_string(call.plan.lanes),
         std::to_string(call.plan.segments), time_text(call.time_us), std::to_string(call.messages),
         std::to_string(call.steps),
         call.links.empty() ? "-" : percent_text(utilisation(call.links.front(), call.time_us)),
         fmt::format("{:.2f}", call.wall_s), size_text(call.peak_bytes)});
  }
  return table.to_text();
}

std::string details_text(const SimulatedCall& call) {
  return fmt::format("\n{}\n{}", path_text(call), links_text(call));
}

Report simulation_report(const SimulationQuestion& question, const Platform& platform,
                         int host_count, const std::vector<SimulatedCall>& calls) {
  Report report{.context = {{"command", "simulate"},
                            {"simulator", simgrid_version()},
                            {"platform", platform.name},
                            {"network", to_text(platform.network)},
                            {"hosts", host_count},
                            {"prices", to_text(platform.prices)},
                            {"collective", name_of(question.collective)},
                            {"nodes", question.nodes},
                            {"members", question.members},
                            {"per_host", question.nodes_per_host},
                            {"seed", question.seed ? Json(*question.seed) : Json()},
                            {"bytes", question.size_bytes}},
                .records = {}};
  for (const SimulatedCall& call : calls) report.records.push_back(record_of(call));
  return report;
}

}  // namespace hycoll::command
