#include "core/network/slurm_switches.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace hycoll {

NetworkTree tree_of_switches(const std::vector<SlurmSwitch>& switches, const std::string& file) {
  NetworkDescription network(file);
  for (const SlurmSwitch& one : switches) {
    network.add(one.name, NetworkVertex::Kind::network_switch, one.line);
  }
  std::vector<bool> is_below(switches.size());
  for (std::size_t number = 0; number < switches.size(); ++number) {
    const SlurmSwitch& one = switches[number];
    if (one.switches.empty() && one.nodes.empty()) {
      network.fail(one.line, fmt::format("switch '{}' has nothing below it; expected switches or "
                                         "nodes",
                                         one.name));
    }
    const auto vertex = static_cast<int>(number);
    for (const std::string& name : one.switches) {
      const int below = network.find(name);
      if (below < 0 || network.is_host(below)) {
        network.fail(one.line, fmt::format("switch '{}', which is below '{}', is not described; "
                                           "expected a switch of that name",
                                           name, one.name));
      }
      network.link(vertex, below, 1, one.line);
      is_below[static_cast<std::size_t>(below)] = true;
    }
    for (const std::string& name : one.nodes) {
      network.link(vertex, network.add(name, NetworkVertex::Kind::host, one.line), 1, one.line);
    }
  }
  const auto root = std::ranges::find(is_below, false) - is_below.begin();
  return std::move(network).tree(static_cast<int>(root));
}

}  // namespace hycoll
