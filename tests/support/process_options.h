#ifndef HYCOLL_TESTS_SUPPORT_PROCESS_OPTIONS_H_
#define HYCOLL_TESTS_SUPPORT_PROCESS_OPTIONS_H_

#include <hycoll/hycoll.h>

namespace hycoll::tests {

/// The environment's options for the layout `processes` on so many emulated nodes.
inline Options options_with(int emulated_nodes) {
  Options options = Options::from_environment();
  options.layout = Options::Layout::processes;
  options.emulated_nodes = emulated_nodes;
  return options;
}

}  // namespace hycoll::tests

#endif  // HYCOLL_TESTS_SUPPORT_PROCESS_OPTIONS_H_
