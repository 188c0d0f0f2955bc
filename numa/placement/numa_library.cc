#include "numa/placement/numa_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "core/base/lifetime.h"

namespace hycoll {
namespace {

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

}  // namespace

FoundNuma look_for_numa(const char* file_name, NumaLibrary& library) {
  // Never closed: what is found is kept for the life of the process.
  void* const numa = dlopen(file_name, RTLD_NOW | RTLD_LOCAL);
  if (numa == nullptr) return {nullptr, fmt::format("no {} ({})", file_name, dlerror())};
  int (*available)() = nullptr;
  const bool is_whole = find(numa, "numa_available", available) &&
                        find(numa, "numa_move_pages", library.move_pages) &&
                        find(numa, "mbind", library.bind);
  if (!is_whole) return {nullptr, fmt::format("{} is too old ({})", file_name, dlerror())};
  if (available() < 0) {
    return {nullptr, "this kernel, or this container, has no NUMA calls (numa_available)"};
  }
  return {&library, ""};
}

const FoundNuma& found_numa() {
  static NumaLibrary library;
  static const Immortal found([] { return look_for_numa("libnuma.so.1", library); });
  return *found;
}

}  // namespace hycoll
