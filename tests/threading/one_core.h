#ifndef HYCOLL_TESTS_THREADING_ONE_CORE_H_
#define HYCOLL_TESTS_THREADING_ONE_CORE_H_

#include "numa/topology/topology.h"

namespace hycoll::tests {

/// A machine for executors that need some machine. One for all runs of a test: hwloc takes longer
/// to make it than most runs take.
inline const Topology& one_core() {
  static const Topology topology = Topology::synthetic("core:1");
  return topology;
}

}  // namespace hycoll::tests

#endif  // HYCOLL_TESTS_THREADING_ONE_CORE_H_
