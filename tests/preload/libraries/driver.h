#ifndef HYCOLL_TESTS_PRELOAD_LIBRARIES_DRIVER_H_
#define HYCOLL_TESTS_PRELOAD_LIBRARIES_DRIVER_H_

#include <cstddef>
#include <cstdint>

/// What stands in for a driver library of GPUs has of them: its only memory is what the program
/// declares to be.
namespace device {

inline std::uintptr_t begin = 0;
inline std::uintptr_t end = 0;

inline bool owns(std::uintptr_t address) { return address >= begin && address < end; }

}  // namespace device

extern "C" __attribute__((visibility("default"), used)) inline void declare_device_memory(
    const void* begin, std::size_t size_bytes) {
  device::begin = reinterpret_cast<std::uintptr_t>(begin);
  device::end = device::begin + size_bytes;
}

#endif  // HYCOLL_TESTS_PRELOAD_LIBRARIES_DRIVER_H_
