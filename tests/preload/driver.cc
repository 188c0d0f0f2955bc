// Stands in for CUDA's driver library: its only memory is what somebody declares to be.

#include <cstddef>
#include <cstdint>

namespace {
std::uintptr_t device_begin = 0;
std::uintptr_t device_end = 0;
}  // namespace

extern "C" {

__attribute__((visibility("default"))) void declare_device_memory(const void* begin,
                                                                  std::size_t size_bytes) {
  device_begin = reinterpret_cast<std::uintptr_t>(begin);
  device_end = device_begin + size_bytes;
}

/// CU_POINTER_ATTRIBUTE_MEMORY_TYPE is 2, CU_MEMORYTYPE_DEVICE is 2, CUDA_ERROR_INVALID_VALUE is 1.
__attribute__((visibility("default"))) int cuPointerGetAttribute(void* answer, int attribute,
                                                                 unsigned long long address) {
  if (attribute != 2 || address < device_begin || address >= device_end) return 1;
  *static_cast<unsigned*>(answer) = 2;
  return 0;
}

}  // extern "C"
