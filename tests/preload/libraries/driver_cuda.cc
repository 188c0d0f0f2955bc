// Stands in for CUDA's driver library.

#include "tests/preload/libraries/driver.h"

/// CU_POINTER_ATTRIBUTE_MEMORY_TYPE is 2, CU_MEMORYTYPE_DEVICE is 2, CUDA_ERROR_INVALID_VALUE is 1.
extern "C" __attribute__((visibility("default"))) int cuPointerGetAttribute(
    void* answer, int attribute, unsigned long long address) {
  if (attribute != 2 || !device::owns(address)) return 1;
  *static_cast<unsigned*>(answer) = 2;
  return 0;
}
