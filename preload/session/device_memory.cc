#include "preload/session/device_memory.h"

#include <dlfcn.h>

#include <cstdint>
#include <initializer_list>

namespace hycoll::preload {
namespace {

// Of CUDA's driver interface.
constexpr int kCudaMemoryType = 2;  // CU_POINTER_ATTRIBUTE_MEMORY_TYPE
constexpr unsigned kCudaHost = 1;   // CU_MEMORYTYPE_HOST

/// A function of a library that is loaded already, by the name of which programs load it.
template <class Function>
Function function_of(const char* library, const char* name) {
  void* const handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
  return handle == nullptr ? nullptr : reinterpret_cast<Function>(dlsym(handle, name));
}

}  // namespace

DeviceDrivers DeviceDrivers::loaded_here() {
  DeviceDrivers drivers;
  drivers.cuda_ = function_of<CudaQuery>("libcuda.so.1", "cuPointerGetAttribute");
  for (const char* library :
       {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"}) {
    if (drivers.hip_ != nullptr) break;
    drivers.hip_ = function_of<HipQuery>(library, "hipPointerGetAttributes");
  }
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
