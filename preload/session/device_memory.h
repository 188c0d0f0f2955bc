#ifndef HYCOLL_PRELOAD_SESSION_DEVICE_MEMORY_H_
#define HYCOLL_PRELOAD_SESSION_DEVICE_MEMORY_H_

namespace hycoll::preload {

/// The drivers of GPUs that are loaded in this process, CUDA's and HIP's: GPU-aware programs pass
/// addresses in their memory, which processors cannot read.
class DeviceDrivers {
 public:
  /// None.
  DeviceDrivers() = default;

  /// Those that something in this process has loaded by now; loads none itself.
  static DeviceDrivers loaded_here();

  bool is_any() const noexcept { return cuda_ != nullptr || hip_ != nullptr; }

  /// Whether a driver says that the address is not the host's. False for null.
  bool own(const void* address) const;

 private:
  /// HIP's hipPointerAttribute_t: its first members, which all versions have, and room for the
  /// others.
  struct HipAttributes {
    int type;
    int device;
    void* device_address;
    void* host_address;
    unsigned char others[240];
  };
  using CudaQuery = int (*)(void* answer, int attribute, unsigned long long address);
  using HipQuery = int (*)(HipAttributes* answer, const void* address);

  CudaQuery cuda_ = nullptr;
  HipQuery hip_ = nullptr;
};

}  // namespace hycoll::preload

#endif  // HYCOLL_PRELOAD_SESSION_DEVICE_MEMORY_H_
