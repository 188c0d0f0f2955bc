// hycoll ring: an order of hosts in which rings are free of contention.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/base/errors.h"
#include "core/drawing/network_svg.h"
#include "core/network/host_list.h"
#include "core/network/link_loads.h"
#include "core/network/network_file.h"
#include "core/network/ring_order.h"
#include "tools/command/line/command_line.h"
#include "tools/command/line/commands.h"
#include "tools/command/line/output.h"
#include "tools/command/line/table.h"

namespace hycoll::command {
namespace {

constexpr const char* kRingSummary = "Order hosts to a ring that is free of contention";
constexpr const char* kRingExplanation =
    "Reads a tree of switches and hosts, and orders the hosts to a ring in which no link carries "
    "two messages in the same direction when every host sends one to the next (P. Patarasuk, X. "
    "Yuan, J. Parallel Distrib. Comput. 69, 2009). Proves it by counting the messages on each "
    "link, "
    "and counts those of the hosts' natural order beside them: that of --hosts, or else by name.\n"
    "The file is Slurm's topology.conf or topology.yaml with a tree, or a list of links, 'NAME "
    "NAME [CAPACITY]' a line. Nothing is sent, and no such network is needed.\n"
    "  hycoll ring --topology /etc/slurm/topology.conf\n"
    "  hycoll ring --topology topology.conf --hosts 'n[1-3,7],m01' --svg ring.svg\n"
    "Exit status 1: the ring is not free of contention.";

/// Links that are listed for people; files have all.
constexpr std::size_t kMostRows = 40;

/// A ring, and what it makes each link carry, by the vertex below it.
struct LoadedRing {
  std::vector<int> hosts;
  std::vector<LinkLoad> loads;
  BusiestLink busiest;
};

LoadedRing loaded(const NetworkTree& tree, std::vector<int> hosts) {
  LoadedRing ring{.hosts = std::move(hosts), .loads = {}, .busiest = {}};
  ring.loads = ring_loads(tree, ring.hosts);
  ring.busiest = busiest_link(tree, ring.loads);
  return ring;
}

std::vector<int> hosts_by_name(const NetworkTree& tree) {
  std::vector<int> hosts = tree.hosts();
  std::ranges::sort(hosts, is_before_as_host, [&](int host) { return tree.at(host).name; });
  return hosts;
}

std::vector<int> hosts_of_list(const NetworkTree& tree, const std::string& list,
                               const std::string& path) {
  std::vector<int> hosts;
  std::set<int> seen;
  for (const std::string& name : expand_host_list(list, "--hosts")) {
    const int host = tree.find_host(name);
    if (host < 0) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("--hosts: '{}' is no host of '{}'; give names of hosts in that file",
                              name, path));
    }
    if (!seen.insert(host).second) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("--hosts: '{}' is given twice; give each host once", name));
    }
    hosts.push_back(host);
  }
  return hosts;
}

class RingCommand final : public Subcommand {
 public:
  explicit RingCommand(CommandLine& line) : Subcommand(line.add_subcommand("ring", kRingSummary)) {
    line_.add_explanation(kRingExplanation);
    line_.add_option("--topology", topology_path_, "The network's switches and hosts")
        .type_name("FILE")
        .required();
    line_
        .add_option("--hosts", host_list_,
                    "The hosts of the ring, in their natural order, such as 'n[1-3,7],m01' "
                    "(default: all)")
        .type_name("LIST");
    output_.add_file(line_, "--svg", svg_path_, "Draw the network with both rings");
    output_.add_to(line_);
  }

  ExitStatus run() override {
    output_.check();
    const NetworkTree tree = read_network_file("--topology", topology_path_);
    const LoadedRing natural =
        loaded(tree, host_list_.empty() ? hosts_by_name(tree)
                                        : hosts_of_list(tree, host_list_, topology_path_));
    const LoadedRing ring = loaded(tree, ring_order(tree, natural.hosts));
    if (!svg_path_.empty()) {
      const NamedRing rings[] = {{.name = "Ring order", .hosts = ring.hosts},
                                 {.name = "Natural order", .hosts = natural.hosts}};
      write_file("--svg", svg_path_, network_svg(tree, rings));
    }
    print(tree, ring, natural);
    output_.write(report_of(tree, ring, natural));
    return most_messages(ring.loads) <= 1 ? kSuccess : kNotProved;
  }

 private:
  void print(const NetworkTree& tree, const LoadedRing& ring, const LoadedRing& natural) const;
  Report report_of(const NetworkTree& tree, const LoadedRing& ring,
                   const LoadedRing& natural) const;

  std::string topology_path_;
  std::string host_list_;
  std::string svg_path_;
  OutputOptions output_;
};

std::vector<std::string> names_of(const NetworkTree& tree, const std::vector<int>& hosts) {
  std::vector<std::string> names;
  for (const int host : hosts) names.push_back(tree.at(host).name);
  return names;
}

/// "at most 3 messages on a link in one direction; the slowest is leaf1 to core".
std::string busiest_text(const NetworkTree& tree, const LoadedRing& ring) {
  if (ring.busiest.vertex < 0) return "nothing is sent";
  const NetworkVertex& lower = tree.at(ring.busiest.vertex);
  const int most = most_messages(ring.loads);
  const std::string text =
      fmt::format("at most {} message{} on a link in one direction", most, most == 1 ? "" : "s");
  if (ring.busiest.share <= 1) return text;
  return fmt::format("{}; the slowest is {} to {}", text, lower.name, tree.at(lower.parent).name);
}

/// How many times as long a step of the natural order takes, by messages and capacities of links.
double slowdown(const LoadedRing& ring, const LoadedRing& natural) {
  return ring.busiest.share > 0 ? natural.busiest.share / ring.busiest.share : 1;
}

/// The vertices below links that carry messages, those of the busiest links first.
std::vector<int> links_by_load(const NetworkTree& tree, const LoadedRing& ring,
                               const LoadedRing& natural) {
  std::vector<int> links;
  const auto key = [&](int vertex) {
    const auto at = static_cast<std::size_t>(vertex);
    return std::pair(ring.loads[at].most(), natural.loads[at].most());
  };
  for (const int vertex : tree.depth_first()) {
    if (key(vertex) != std::pair(0, 0)) links.push_back(vertex);
  }
  std::ranges::stable_sort(links, std::greater(), key);
  return links;
}

void RingCommand::print(const NetworkTree& tree, const LoadedRing& ring,
                        const LoadedRing& natural) const {
  std::FILE* const human = output_.human();
  const std::size_t all_hosts = tree.hosts().size();
  fmt::print(human, "network:        {} switches, {} hosts, {} of them in the ring\n",
             tree.vertices().size() - all_hosts, all_hosts, ring.hosts.size());
  fmt::print(human, "ring:           {}\n", fmt::join(names_of(tree, ring.hosts), ","));
  fmt::print(human, "ring order:     {}\n", busiest_text(tree, ring));
  fmt::print(human, "natural order:  {}\n", busiest_text(tree, natural));
  fmt::print(human, "a step of it:   {} as long as one of the ring\n\n",
             ratio_text(slowdown(ring, natural)));
  TextTable table({"link", "capacity", "ring up", "down", "natural up", "down"});
  const std::vector<int> links = links_by_load(tree, ring, natural);
  for (const int vertex : std::span(links).first(std::min(links.size(), kMostRows))) {
    const NetworkVertex& lower = tree.at(vertex);
    const LinkLoad& its_ring = ring.loads[static_cast<std::size_t>(vertex)];
    const LinkLoad& its_natural = natural.loads[static_cast<std::size_t>(vertex)];
    table.add_row({fmt::format("{} to {}", lower.name, tree.at(lower.parent).name),
                   fmt::format("{:g}", lower.capacity), std::to_string(its_ring.up),
                   std::to_string(its_ring.down), std::to_string(its_natural.up),
                   std::to_string(its_natural.down)});
  }
  fmt::print(human, "{}", table.to_text());
  if (links.size() > kMostRows) {
    fmt::print(human, "{} further links carry no more than these; --json lists all\n",
               links.size() - kMostRows);
  }
}

Report RingCommand::report_of(const NetworkTree& tree, const LoadedRing& ring,
                              const LoadedRing& natural) const {
  Report report;
  report.context = {{"command", "ring"},
                    {"topology", topology_path_},
                    {"switches", tree.vertices().size() - tree.hosts().size()},
                    {"hosts", tree.hosts().size()},
                    {"ring", names_of(tree, ring.hosts)},
                    {"natural", names_of(tree, natural.hosts)},
                    {"ring_most_messages", most_messages(ring.loads)},
                    {"natural_most_messages", most_messages(natural.loads)},
                    {"natural_step_ratio", slowdown(ring, natural)}};
  for (const int vertex : tree.depth_first()) {
    if (vertex == tree.root()) continue;
    const NetworkVertex& lower = tree.at(vertex);
    const LinkLoad& its_ring = ring.loads[static_cast<std::size_t>(vertex)];
    const LinkLoad& its_natural = natural.loads[static_cast<std::size_t>(vertex)];
    report.records.push_back({{"lower", lower.name},
                              {"upper", tree.at(lower.parent).name},
                              {"capacity", lower.capacity},
                              {"ring_up", its_ring.up},
                              {"ring_down", its_ring.down},
                              {"natural_up", its_natural.up},
                              {"natural_down", its_natural.down}});
  }
  return report;
}

}  // namespace

std::unique_ptr<Subcommand> add_ring(CommandLine& line) {
  return std::make_unique<RingCommand>(line);
}

}  // namespace hycoll::command
