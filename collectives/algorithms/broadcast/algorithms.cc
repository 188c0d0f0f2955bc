// The broadcast algorithms that can be called by name.

#include <array>

#include "collectives/algorithms/broadcast/broadcast.h"
#include "collectives/algorithms/building_blocks/algorithm.h"

namespace hycoll {
namespace {

constexpr std::string_view kTreeSource = "MPICH's binomial and k-nomial trees";
constexpr std::string_view kRingSource =
    "MPICH; A Bandwidth-saving Optimization for MPI Broadcast (Zhou et al., P2S2'15)";
constexpr std::string_view kCirculantSource =
    "MPICH; Optimal, Non-pipelined Reduce-scatter and Allreduce Algorithms (Traeff, 2024)";
constexpr std::string_view kSharedAddressSource =
    "MPI Collectives on Blue Gene/P (Mamidala et al., 2009), section 5";
constexpr std::string_view kTorusSource =
    "MPI Collectives on Blue Gene/P (Mamidala et al., 2009), section 5.A: rectangle algorithm";
constexpr std::string_view kCollectiveNetworkSource =
    "MPI Collectives on Blue Gene/P (Mamidala et al., 2009), section 5.B: collective network";

constexpr AlgorithmForm kMultiLeader{Collective::broadcast, generate_multi_leader_broadcast};
constexpr AlgorithmForm kLines{Collective::broadcast, generate_lines_broadcast};
constexpr AlgorithmForm kLinesTree{Collective::broadcast, generate_lines_tree_broadcast};

constexpr std::string_view source_of(const Exchange& exchange) {
  return is_tree(exchange) ? kTreeSource : kRingSource;
}

constexpr Algorithm from(std::string_view source, Algorithm algorithm) {
  algorithm.source = source;
  return algorithm;
}

constexpr Algorithm multi_leader(std::string_view name, const Exchange& exchange) {
  return for_nodes_served<serves_any_shape>(
      kMultiLeader.with_many_leaders(
          name, exchange,
          "L leaders per node, each passes on its partition and copies it to all members",
          source_of(exchange)),
      "a power of two of nodes with direct visibility");
}

constexpr Algorithm single_leader(std::string_view name, const Exchange& exchange) {
  return for_nodes_served<serves_one_lane>(
      kMultiLeader.with_one_leader(name, exchange, "one leader per node passes on the whole vector",
                                   source_of(exchange)),
      "a power of two of nodes with 1 lane");
}

constexpr Algorithm shared_address(std::string_view name, const Exchange& exchange) {
  Algorithm algorithm = multi_leader(name, exchange);
  algorithm.summary = "members follow message counters and copy from their leaders' buffers";
  algorithm.source = kSharedAddressSource;
  algorithm.generate_with = generate_shared_address_broadcast;
  if (is_tree(exchange)) algorithm.segmentation = Segmentation::partition;
  return algorithm;
}

constexpr Algorithm fifo(std::string_view name, const Exchange& exchange) {
  Algorithm algorithm = shared_address(name, exchange);
  algorithm.summary = "leaders write a FIFO of few slots, which all others of the node read";
  algorithm.source =
      "MPI Collectives on Blue Gene/P (Mamidala et al., 2009), section 4: Bcast FIFO";
  algorithm.serves = "shapes whose lanes are led by workers that own a member";
  algorithm.serves_shape = serves_fifo_broadcast;
  algorithm.generate_with = generate_fifo_broadcast;
  algorithm.segmentation = Segmentation::messages;
  return algorithm;
}

constexpr Algorithm torus_colours() {
  Algorithm algorithm = shared_address("torus-colours", kTorusBroadcast);
  algorithm.summary = "a spanning tree of a torus per lane, disjoint; members follow counters";
  algorithm.source = kTorusSource;
  return algorithm;
}

constexpr Algorithm core_specialised() {
  return {
      .collective = Collective::broadcast,
      .name = "core-specialised",
      .summary = "one worker injects, one receives, the others copy; aggregators may multicast",
      .source = kCollectiveNetworkSource,
      .order = OperandOrder::canonical,
      .exchange = {.help = ExchangeHelp::aggregators},
      .serves = "shapes with 2 lanes, with aggregators of 1 worker (--aggregators N) or without",
      .serves_shape = serves_core_specialised_broadcast,
      .generate_with = generate_core_specialised_broadcast,
      .segmentation = Segmentation::messages};
}

constexpr std::array kAlgorithms = {
    kLines.through_lines("lines-binomial", kBinomialBroadcast),
    kLines.through_lines("lines-knomial", kKnomialBroadcast),
    kLinesTree.through_lines_tree("lines-tree-binomial", kBinomialBroadcast),
    single_leader("binomial", kBinomialBroadcast),
    single_leader("knomial", kKnomialBroadcast),
    single_leader("scatter-ring-allgather", kScatterRing),
    single_leader("scatter-ring-allgather-opt", kScatterRingOpt),
    single_leader("scatter-recursive-doubling-allgather", kScatterDoubling),
    multi_leader("multi-leader-binomial", kBinomialBroadcast),
    multi_leader("multi-leader-chain", kChainBroadcast),
    multi_leader("multi-leader-scatter-ring-opt", kScatterRingOpt),
    multi_leader("multi-leader-scatter-recursive-doubling", kScatterDoublingOpt),
    from(kCirculantSource, multi_leader("multi-leader-scatter-circulant", kScatterCirculant)),
    shared_address("shared-address-binomial", kBinomialBroadcast),
    shared_address("shared-address-chain", kChainBroadcast),
    shared_address("shared-address-scatter-ring-opt", kScatterRingOpt),
    shared_address("shared-address-scatter-recursive-doubling", kScatterDoublingOpt),
    shared_address("shared-address-scatter-circulant", kScatterCirculant),
    torus_colours(),
    fifo("fifo-binomial", kBinomialBroadcast),
    fifo("fifo-torus-colours", kTorusBroadcast),
    core_specialised(),
};

}  // namespace

std::span<const Algorithm> broadcast_algorithms() noexcept { return kAlgorithms; }

}  // namespace hycoll
