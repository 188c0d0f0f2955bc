// The all-to-all algorithms that can be called by name.

#include <array>

#include "collectives/algorithms/alltoall/alltoall.h"
#include "collectives/algorithms/building_blocks/algorithm.h"
#include "core/schedule/pairs.h"

namespace hycoll {
namespace {

constexpr std::string_view kFlatSource = "MPICH (Thakur, Rabenseifner, Gropp 2005)";
constexpr std::string_view kLeaderSource = "ONMPML (multi-leader all-to-all)";

constexpr std::string_view kBruckSource = "Bruck et al. 1997; ONMPML, table 1";

constexpr std::string_view kServesPairedShape =
    "shapes of at most 46,340 members with direct visibility";

constexpr AlgorithmForm kMultiLeader{Collective::alltoall, generate_multi_leader_alltoall};
constexpr AlgorithmForm kCacheOblivious{Collective::alltoall, generate_cache_oblivious_alltoall};
constexpr AlgorithmForm kDirectPut{Collective::alltoall, generate_direct_put_alltoall};
constexpr AlgorithmForm kLines{Collective::alltoall, generate_lines_alltoall};

/// What is served, of shapes whose pairs can be numbered, also in packs.
template <bool (*also)(const Shape&), int most_members = kMostPairedMembers>
bool serves_pairs(const Shape& shape) {
  return shape.member_count() <= most_members && also(shape);
}

bool serves_lines(const Shape& shape) {
  return shape.node_count() == 1 && shape.member_count() <= kMostMembersWithLines &&
         serves_one_lane_led_by_members(shape);
}

constexpr Algorithm lines(std::string_view name) {
  Algorithm algorithm = kLines.through_lines(name, kShiftedAlltoall);
  algorithm.serves = "1 node of up to 3 members with 1 lane whose leader owns a member";
  algorithm.serves_shape = serves_lines;
  return algorithm;
}

constexpr Algorithm flat(std::string_view name, const Exchange& exchange,
                         std::string_view summary) {
  Algorithm algorithm = kMultiLeader.with_one_leader(name, exchange, summary, kFlatSource);
  algorithm.serves = "shapes with 1 lane and 1 member on every node, at most 46,340";
  algorithm.serves_shape = serves_pairs<serves_one_lane_and_member>;
  return algorithm;
}

constexpr Algorithm one_leader(std::string_view name, const Exchange& exchange,
                               std::string_view summary) {
  Algorithm algorithm = kMultiLeader.with_one_leader(name, exchange, summary, kLeaderSource);
  algorithm.serves = "shapes with 1 lane and at most 46,340 members";
  algorithm.serves_shape = serves_pairs<serves_one_lane>;
  return algorithm;
}

constexpr Algorithm many_leaders(std::string_view name, const Exchange& exchange,
                                 std::string_view summary) {
  Algorithm algorithm = kMultiLeader.with_many_leaders(name, exchange, summary, kLeaderSource);
  algorithm.serves = kServesPairedShape;
  algorithm.serves_shape = serves_pairs<serves_any_shape>;
  return algorithm;
}

constexpr Algorithm cache_oblivious(std::string_view name) {
  Algorithm algorithm = kCacheOblivious.with_many_leaders(
      name, kShiftedAlltoall, "as onmpml, with blocks inside the node taken along a Z-curve",
      "Li, Zhang, Hoefler 2017; ONMPML, table 1");
  algorithm.serves = kServesPairedShape;
  algorithm.serves_shape = serves_pairs<serves_any_shape>;
  return algorithm;
}

constexpr Algorithm direct_put(std::string_view name) {
  Algorithm algorithm =
      kDirectPut.on_one_node(name, "inside a node every member's leader writes its blocks to all");
  algorithm.serves = "1 node of at most 46,340 members with direct visibility";
  algorithm.serves_shape = serves_pairs<serves_one_node>;
  return algorithm;
}

template <int radix>
constexpr Algorithm one_leader_bruck(std::string_view name) {
  Algorithm algorithm = kMultiLeader.with_one_leader(
      name, kBruckAlltoall<radix>, "one leader per node, few messages that others pass on",
      kBruckSource);
  algorithm.serves = "shapes with 1 lane and at most 26,754 members";
  algorithm.serves_shape = serves_pairs<serves_one_lane, kMostPackedMembers>;
  return algorithm;
}

template <int radix>
constexpr Algorithm many_leaders_bruck(std::string_view name) {
  Algorithm algorithm = kMultiLeader.with_many_leaders(
      name, kBruckAlltoall<radix>,
      "L leaders per node, each a share of few messages that others pass on", kBruckSource);
  algorithm.serves = "shapes of at most 26,754 members with direct visibility";
  algorithm.serves_shape = serves_pairs<serves_any_shape, kMostPackedMembers>;
  return algorithm;
}

constexpr std::array kAlgorithms = {
    lines("lines"),
    flat("linear", kShiftedAlltoall, "every block by itself, all messages at once"),
    flat("pairwise", kPairwiseAlltoall, "every block by itself, one message each way at a time"),
    one_leader("l-a2a", kPhasedAlltoall,
               "one leader per node gathers, exchanges and scatters, one after the other"),
    many_leaders("mpml", kPhasedAlltoall,
                 "L leaders, each for every L-th node: gather, exchange, scatter in turn"),
    many_leaders("onmpml", kShiftedAlltoall,
                 "L leaders, each for every L-th node: gathering, messages, scattering overlap"),
    many_leaders("multi-leader-pairwise", kWindowedAlltoall,
                 "L leaders, each for every L-th node, in scratch for two messages each way"),
    cache_oblivious("sh-numa-co"),
    direct_put("direct-put"),
    one_leader_bruck<2>("bruck-2"),
    one_leader_bruck<4>("bruck-4"),
    one_leader_bruck<8>("bruck-8"),
    many_leaders_bruck<2>("multi-leader-bruck-2"),
    many_leaders_bruck<4>("multi-leader-bruck-4"),
    many_leaders_bruck<8>("multi-leader-bruck-8"),
};

}  // namespace

std::span<const Algorithm> alltoall_algorithms() noexcept { return kAlgorithms; }

}  // namespace hycoll
