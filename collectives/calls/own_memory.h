#ifndef HYCOLL_COLLECTIVES_CALLS_OWN_MEMORY_H_
#define HYCOLL_COLLECTIVES_CALLS_OWN_MEMORY_H_

#include <cstddef>
#include <span>
#include <vector>

#include "collectives/api/hycoll.h"

namespace hycoll {

/// Memory of hycoll's own in which this process's part in a communicator's calls passes.
struct OwnMemory {
  /// What its workers write for other workers of their node. Empty as long as no call has needed
  /// any.
  std::vector<std::span<const std::byte>> staging;
  /// What its leaders gather, send, receive and scatter.
  std::vector<std::span<const std::byte>> exchange_buffers;
};

/// As it is now, between calls. It is there until the next call.
OwnMemory own_memory(const Communicator& communicator);

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_CALLS_OWN_MEMORY_H_
