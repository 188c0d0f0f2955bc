#include "core/network/network_file.h"

#include <cstddef>

#include "core/base/text_file.h"
#include "core/network/edge_list.h"
#include "core/network/slurm_conf.h"
#include "core/network/slurm_yaml.h"
#include "core/network/text_lines.h"

namespace hycoll {
namespace {

/// The first line with something in it.
std::string_view first_content(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view content = without_comment(text.substr(0, end));
    if (!content.empty() || end == std::string_view::npos) return content;
    text.remove_prefix(end + 1);
  }
  return {};
}

}  // namespace

NetworkTree read_network(std::string_view text, const std::string& file) {
  const std::string_view first = first_content(text);
  if (first.starts_with('-')) return read_slurm_yaml(text, file);
  if (first.find('=') != std::string_view::npos) return read_slurm_conf(text, file);
  return read_edge_list(text, file);
}

NetworkTree read_network_file(const std::string& argument, const std::string& path) {
  return read_network(read_text_file(argument, path, "the network's switches and hosts"), path);
}

}  // namespace hycoll
