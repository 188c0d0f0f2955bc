// The allreduce algorithms that can be called by name.

#include <algorithm>
#include <array>

#include "collectives/algorithms/allreduce/allreduce.h"
#include "collectives/algorithms/building_blocks/aggregation.h"
#include "collectives/algorithms/building_blocks/algorithm.h"

namespace hycoll {
namespace {

constexpr std::string_view kDpmlSource = "DPML (Bayatpour et al., SC'17), section 4.1";
constexpr std::string_view kFlatSource =
    "Thakur, Rabenseifner, Gropp 2005; Patarasuk, Yuan 2009; Traeff 2024";

constexpr AlgorithmForm kDpml{Collective::allreduce, generate_dpml_allreduce};
constexpr AlgorithmForm kLines{Collective::allreduce, generate_lines_allreduce};
constexpr AlgorithmForm kLinesTree{Collective::allreduce, generate_lines_tree_allreduce};

constexpr Algorithm dpml(std::string_view name, const Exchange& exchange) {
  return kDpml.with_many_leaders(
      name, exchange, "L leaders per node, each reduces and exchanges its partition", kDpmlSource);
}

constexpr Algorithm pipelined(std::string_view name, const Exchange& exchange) {
  Algorithm algorithm = dpml(name, exchange);
  algorithm.summary = "L leaders per node, the exchanges of each one's parts in flight together";
  algorithm.source = "DPML, section 4.2 (DPML-Pipelined)";
  algorithm.generate_with = generate_dpml_pipelined_allreduce;
  algorithm.segmentation = Segmentation::partition;
  return algorithm;
}

constexpr Algorithm single_leader(std::string_view name, const Exchange& exchange) {
  return kDpml.with_one_leader(
      name, exchange, "one leader per node reduces and exchanges the whole vector", kDpmlSource);
}

constexpr Algorithm flat(std::string_view name, const Exchange& exchange) {
  Algorithm algorithm = dpml(name, exchange);
  algorithm.summary = "every member exchanges for itself";
  algorithm.source = kFlatSource;
  algorithm.serves = kServesFlatShape;
  algorithm.serves_shape = serves_one_lane_and_member;
  return algorithm;
}

constexpr Algorithm smp(std::string_view name, const Exchange& exchange) {
  Algorithm algorithm = single_leader(name, exchange);
  algorithm.summary = "binomial trees inside the nodes, one leader per node between them";
  algorithm.source = "Patarasuk, Yuan 2009, section 5";
  algorithm.order = OperandOrder::by_rank;
  algorithm.generate_with = generate_smp_allreduce;
  algorithm.segmentation = Segmentation::none;
  return algorithm;
}

constexpr Algorithm colour_rings() {
  Algorithm algorithm = pipelined("colour-rings", kChain);
  algorithm.summary =
      "one worker drives a ring per lane, disjoint on a torus; the others reduce and copy";
  algorithm.source = "Blue Gene/P (Mamidala et al. 2009), section 5.C";
  algorithm.generate_with = generate_colour_rings_allreduce;
  return algorithm;
}

constexpr std::string_view kAggregationSource = "DPML, section 4.3; SHArP (Graham et al. 2016)";

bool serves_node_leader(const Shape& shape) {
  return shape.lane_count() == 1 && has_aggregators_last(shape);
}

/// An aggregator's one worker combines what comes in on all lanes.
bool serves_socket_leader(const Shape& shape) {
  const auto has_one_task = [](const EqualNodes& run) {
    return run.node.members > 0 || run.node.workers == 1;
  };
  return std::ranges::all_of(shape.node_runs(), has_one_task) && has_aggregators_last(shape);
}

constexpr Algorithm node_leader() {
  Algorithm algorithm = pipelined("node-leader", kAggregationTree);
  algorithm.summary = "one leader per node; aggregators without members reduce what it sends";
  algorithm.source = kAggregationSource;
  algorithm.serves =
      "shapes with 1 lane whose last nodes are aggregators (--aggregators N, at least 1)";
  algorithm.serves_shape = serves_node_leader;
  algorithm.generate_with = generate_node_leader_allreduce;
  return algorithm;
}

constexpr Algorithm socket_leader() {
  Algorithm algorithm = node_leader();
  algorithm.name = "socket-leader";
  algorithm.summary = "a leader and a lane per socket; aggregators reduce what they send";
  algorithm.serves =
      "shapes whose last nodes are aggregators of 1 worker (--aggregators N, at least 1)";
  algorithm.serves_shape = serves_socket_leader;
  algorithm.generate_with = generate_socket_leader_allreduce;
  return algorithm;
}

constexpr Algorithm grouped_leaders() {
  return {.collective = Collective::allreduce,
          .name = "grouped-leaders",
          .summary = "long vectors: a leader and a tree per lane, which follows the node's groups",
          .source = "hycoll; n-level hierarchies of XHC (Katevenis et al. 2022)",
          .order = OperandOrder::by_rank,
          .exchange = {},
          .serves = kServesOneNode,
          .serves_shape = serves_one_node,
          .generate_with = generate_grouped_leaders_allreduce,
          .segmentation = Segmentation::none,
          .follows_groups = true};
}

constexpr std::array kAlgorithms = {
    kLines.through_lines("lines-recursive-doubling", kRecursiveDoubling),
    kLines.through_lines("lines-native", kNative),
    kLinesTree.through_lines_tree("lines-tree-recursive-doubling", kRecursiveDoubling),
    dpml("dpml-recursive-doubling", kRecursiveDoubling),
    dpml("dpml-ring", kRing),
    dpml("dpml-halving-doubling", kHalvingDoubling),
    dpml("dpml-circulant", kCirculant),
    dpml("dpml-mixed-radix", kMixedRadix),
    dpml("dpml-native", kNative),
    pipelined("dpml-pipelined-recursive-doubling", kRecursiveDoubling),
    pipelined("dpml-pipelined-ring", kRing),
    pipelined("dpml-pipelined-halving-doubling", kHalvingDoubling),
    pipelined("dpml-pipelined-native", kNative),
    single_leader("single-leader-recursive-doubling", kRecursiveDoubling),
    single_leader("single-leader-ring", kRing),
    single_leader("single-leader-halving-doubling", kHalvingDoubling),
    single_leader("single-leader-circulant", kCirculant),
    single_leader("single-leader-native", kNative),
    smp("smp-binomial", kBinomial),
    smp("smp-butterfly", kHalvingDoubling),
    colour_rings(),
    grouped_leaders(),
    node_leader(),
    socket_leader(),
    flat("recursive-doubling", kRecursiveDoubling),
    flat("ring", kRing),
    flat("halving-doubling", kHalvingDoubling),
    flat("circulant", kCirculant),
};

}  // namespace

std::span<const Algorithm> allreduce_algorithms() noexcept { return kAlgorithms; }

}  // namespace hycoll
