#ifndef HYCOLL_TESTS_CORE_NETWORK_NETWORK_TEXTS_H_
#define HYCOLL_TESTS_CORE_NETWORK_NETWORK_TEXTS_H_

// One network in each format: two switches with three hosts each, below a third one with one.

#include <string_view>

namespace hycoll::tests {

inline constexpr std::string_view kConf = R"(# a fabric
SwitchName=core Switches=leaf[1-2] Nodes=login
SwitchName=leaf1 Nodes=n[1-3] LinkSpeed=100
switchname = leaf2 \
  nodes = "n[4-5],m01"
)";

inline constexpr std::string_view kYaml = R"(---
# a fabric
- topology: blocks
  cluster_default: false
  block:
    block_sizes: [4, 16]
    blocks:
    - block: b1
      nodes: n[1-5]
- topology: fabric
  cluster_default: True
  tree:
    switches:
    - switch: core
      children: leaf[1-2]
      nodes: login
    - switch: leaf1
      nodes: n[1-3]
    - switch: "leaf2"   # quoted
      nodes:
        - n[4-5]
        - 'm01'
- topology: flat one
  flat: true
)";

inline constexpr std::string_view kEdges = R"(core leaf1   # a fabric
core leaf2
core login

leaf1 n1
leaf1 n2
leaf1 n3
leaf2 n4
leaf2	n5
leaf2 m01
)";

}  // namespace hycoll::tests

#endif  // HYCOLL_TESTS_CORE_NETWORK_NETWORK_TEXTS_H_
