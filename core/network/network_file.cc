#include "core/network/network_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <memory>

#include "core/base/errors.h"
#include "core/network/edge_list.h"
#include "core/network/slurm_conf.h"
#include "core/network/slurm_yaml.h"
#include "core/network/text_lines.h"

namespace hycoll {
namespace {

constexpr std::size_t kMostBytes = std::size_t{256} << 20;

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

[[noreturn]] void refuse(const std::string& argument, const std::string& path,
                         const std::string& reason) {
  throw Error(ErrorKind::invalid_argument,
              fmt::format("{} '{}' cannot be read: {}. Give a file with the network's switches and "
                          "hosts",
                          argument, path, reason));
}

}  // namespace

NetworkTree read_network(std::string_view text, const std::string& file) {
  const std::string_view first = first_content(text);
  if (first.starts_with('-')) return read_slurm_yaml(text, file);
  if (first.find('=') != std::string_view::npos) return read_slurm_conf(text, file);
  return read_edge_list(text, file);
}

NetworkTree read_network_file(const std::string& argument, const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "r"),
                                                             &std::fclose);
  if (file == nullptr) refuse(argument, path, std::strerror(errno));
  std::string text;
  char part[1 << 14];
  while (const std::size_t size = std::fread(part, 1, sizeof(part), file.get())) {
    text.append(part, size);
    if (text.size() > kMostBytes) refuse(argument, path, "it has more than 256 MiB");
  }
  if (std::ferror(file.get()) != 0) refuse(argument, path, std::strerror(errno));
  return read_network(text, path);
}

}  // namespace hycoll
