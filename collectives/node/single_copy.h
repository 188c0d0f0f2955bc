#ifndef HYCOLL_COLLECTIVES_NODE_SINGLE_COPY_H_
#define HYCOLL_COLLECTIVES_NODE_SINGLE_COPY_H_

#include <mpi.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "threading/transport/mpi/joint_setup.h"

namespace hycoll {

/// Copies between this process and others of its machine without memory that they share: by the
/// kernel (process_vm_readv), in one pass. All members may be called concurrently.
class SingleCopy {
 public:
  /// Never permitted.
  SingleCopy() = default;

  /// Collective over `node`, whose set-up it is a part of. Its processes find out together whether
  /// each may copy from and to each other one. If not, one of them says so on stderr, once in the
  /// lives of all of them. Throws Error (environment) if an MPI function fails.
  SingleCopy(JointSetup& setup, MPI_Comm node);

  /// The same on all processes.
  bool is_permitted() const noexcept { return is_permitted_; }

  /// Copies from, or to, `address` in the process of this rank. Requires is_permitted(). Throws
  /// Error (environment) if the kernel refuses, as it does for addresses that are not memory.
  void read(int rank, std::uint64_t address, void* destination, std::size_t size_bytes) const;
  void write(int rank, std::uint64_t address, const void* source, std::size_t size_bytes) const;

 private:
  std::vector<pid_t> processes_;
  bool is_permitted_ = false;
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_NODE_SINGLE_COPY_H_
