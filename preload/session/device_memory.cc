#include "preload/session/device_memory.h"

#include <dlfcn.h>
#include <link.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hycoll::preload {
namespace {

// Of CUDA's driver interface.
constexpr int kCudaMemoryType = 2;  // CU_POINTER_ATTRIBUTE_MEMORY_TYPE
constexpr unsigned kCudaHost = 1;   // CU_MEMORYTYPE_HOST

/// A loaded library whose file's name begins with `beginning`; empty if there is none. dlopen()
/// knows as much, but for a library that is not loaded it looks into the system's folders, which
/// takes some hundred microseconds.
std::string loaded_file(std::string_view beginning) {
  struct Search {
    std::string_view beginning;
    std::string found;
  } search{.beginning = beginning, .found = {}};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        auto& its = *static_cast<Search*>(data);
        const std::string_view path = info->dlpi_name;
        if (!path.substr(path.rfind('/') + 1).starts_with(its.beginning)) return 0;
        its.found = path;
        return 1;
      },
      &search);
  return search.found;
}

/// A function of such a library.
template <class Function>
Function function_of(std::string_view library, const char* name) {
  const std::string file = loaded_file(library);
  void* const handle = file.empty() ? nullptr : dlopen(file.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  return handle == nullptr ? nullptr : reinterpret_cast<Function>(dlsym(handle, name));
}

}  // namespace

DeviceDrivers DeviceDrivers::loaded_here() {
  DeviceDrivers drivers;
  drivers.cuda_ = function_of<CudaQuery>("libcuda.so", "cuPointerGetAttribute");
  drivers.hip_ = function_of<HipQuery>("libamdhip64.so", "hipPointerGetAttributes");
  return drivers;
}

bool DeviceDrivers::own(const void* address) const {
  if (address == nullptr) return false;
  // Both fail for memory that they know nothing of.
  if (cuda_ != nullptr) {
    unsigned type = kCudaHost;
    const auto number = static_cast<unsigned long long>(reinterpret_cast<std::uintptr_t>(address));
    if (cuda_(&type, kCudaMemoryType, number) == 0 && type != kCudaHost) return true;
  }
  if (hip_ != nullptr) {
    HipAttributes answer{};
    if (hip_(&answer, address) == 0 && answer.device_address != nullptr &&
        answer.host_address == nullptr) {
      return true;
    }
  }
  return false;
}

}  // namespace hycoll::preload
