#include "core/base/text_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <memory>

#include "core/base/errors.h"

namespace hycoll {
namespace {

constexpr std::size_t kMostBytes = std::size_t{256} << 20;

}  // namespace

std::string read_text_file(std::string_view argument, const std::string& path,
                           std::string_view wanted) {
  const auto refuse = [&](std::string_view reason) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("{} '{}' cannot be read: {}. Give a file with {}", argument, path,
                            reason, wanted));
  };
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "r"),
                                                             &std::fclose);
  if (file == nullptr) refuse(std::strerror(errno));
  std::string text;
  char part[1 << 14];
  while (const std::size_t size = std::fread(part, 1, sizeof(part), file.get())) {
    text.append(part, size);
    if (text.size() > kMostBytes) refuse("it has more than 256 MiB");
  }
  if (std::ferror(file.get()) != 0) refuse(std::strerror(errno));
  return text;
}

}  // namespace hycoll
