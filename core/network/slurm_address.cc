#include "core/network/slurm_address.h"

#include <cstddef>

namespace hycoll {
namespace {

/// Where the dots of a text are, and its end.
std::vector<std::size_t> ends_of_parts(std::string_view text) {
  std::vector<std::size_t> ends;
  for (std::size_t at = 0; at <= text.size(); ++at) {
    if (at == text.size() || text[at] == '.') ends.push_back(at);
  }
  return ends;
}

/// "switch.switch.node" for two switches.
bool is_of_switches_and_a_node(std::string_view pattern) {
  constexpr std::string_view kSwitch = "switch.";
  if (!pattern.starts_with(kSwitch)) return false;
  while (pattern.starts_with(kSwitch)) pattern.remove_prefix(kSwitch.size());
  return pattern == "node";
}

}  // namespace

std::vector<std::string> slurm_levels(std::string_view address, std::string_view pattern,
                                      std::string_view host) {
  const std::vector<std::size_t> ends = ends_of_parts(address);
  if (!is_of_switches_and_a_node(pattern) || ends.size() != ends_of_parts(pattern).size()) {
    return {};
  }
  const std::string_view node = address.substr(ends[ends.size() - 2] + 1);
  if (node != host && node != host.substr(0, host.find('.'))) return {};
  std::vector<std::string> levels;
  for (const std::size_t end : ends) levels.emplace_back(address.substr(0, end));
  return levels;
}

}  // namespace hycoll
