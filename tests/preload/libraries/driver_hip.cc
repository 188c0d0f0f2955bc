// Stands in for HIP's runtime library.

#include "tests/preload/libraries/driver.h"

/// As HIP 6 has it: the type of a device's memory is 2, hipErrorInvalidValue is 1.
struct hipPointerAttribute_t {
  int type;
  int device;
  void* devicePointer;
  void* hostPointer;
  int isManaged;
  unsigned allocationFlags;
};

extern "C" __attribute__((visibility("default"))) int hipPointerGetAttributes(
    hipPointerAttribute_t* answer, const void* address) {
  if (!device::owns(reinterpret_cast<std::uintptr_t>(address))) return 1;
  *answer = {.type = 2,
             .device = 0,
             .devicePointer = const_cast<void*>(address),
             .hostPointer = nullptr,
             .isManaged = 0,
             .allocationFlags = 0};
  return 0;
}
