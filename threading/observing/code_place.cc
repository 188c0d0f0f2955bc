#include "threading/observing/code_place.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <filesystem>
#include <system_error>

namespace hycoll {

std::string CodePlace::text() const { return fmt::format("{}+{:#x}", module, offset); }

CodePlace place_of_call(const void* address) {
  Dl_info info{};
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) return {};
  const auto* const header = static_cast<const ElfW(Ehdr)*>(info.dli_fbase);
  const auto distance = [](const void* from, const void* to) {
    return reinterpret_cast<std::uintptr_t>(to) - reinterpret_cast<std::uintptr_t>(from);
  };
  // Programs that are loaded where they say are known by addresses, others by distances. The call
  // is before where it returns to.
  const void* const begin = header->e_type == ET_DYN ? info.dli_fbase : nullptr;
  std::error_code error;
  const std::filesystem::path module = std::filesystem::canonical(info.dli_fname, error);
  return {.module = error ? std::string(info.dli_fname) : module.string(),
          .offset = distance(begin, address) - 1,
          .function = info.dli_sname == nullptr ? "" : info.dli_sname};
}

}  // namespace hycoll
