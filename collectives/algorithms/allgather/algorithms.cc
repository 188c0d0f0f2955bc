// The allgather algorithms that can be called by name.

#include <array>

#include "collectives/algorithms/allgather/allgather.h"
#include "collectives/algorithms/building_blocks/algorithm.h"

namespace hycoll {
namespace {

constexpr std::string_view kRingSource =
    "MPICH (Thakur, Rabenseifner, Gropp 2005); DPML (Bayatpour et al., SC'17)";
constexpr std::string_view kDoublingSource = "MPICH (Thakur, Rabenseifner, Gropp 2005)";
constexpr std::string_view kCirculantSource = "Traeff 2024";
constexpr std::string_view kBruckSource = "Bruck et al. 1997; MPICH (Thakur et al. 2005)";
constexpr std::string_view kNeighbourSource = "neighbour exchange (Chen et al. 2005)";

constexpr AlgorithmForm kMultiLeader{Collective::allgather, generate_multi_leader_allgather};
constexpr AlgorithmForm kSharedAddress{Collective::allgather, generate_shared_address_allgather};
constexpr AlgorithmForm kDirectGet{Collective::allgather, generate_direct_get_allgather};
constexpr AlgorithmForm kDirectPut{Collective::allgather, generate_direct_put_allgather};
constexpr AlgorithmForm kLines{Collective::allgather, generate_lines_allgather};

constexpr Algorithm lines(std::string_view name, const Exchange& exchange) {
  return for_nodes_served<serves_one_lane_led_by_members>(
      kLines.through_lines(name, exchange),
      "a power of two of nodes with 1 lane, whose leaders own a member");
}

constexpr std::string_view words_for(const Exchange& exchange) {
  return exchange.nodes_served == NodesServed::even
             ? "one node, or an even number of nodes, with 1 lane"
             : "a power of two of nodes with 1 lane";
}

constexpr Algorithm single_leader(std::string_view name, const Exchange& exchange,
                                  std::string_view source) {
  return for_nodes_served<serves_one_lane>(
      kMultiLeader.with_one_leader(
          name, exchange, "one leader per node exchanges the blocks of its members", source),
      words_for(exchange));
}

constexpr Algorithm shared_address(std::string_view name, const Exchange& exchange) {
  return for_nodes_served<serves_one_lane>(
      kSharedAddress.with_one_leader(
          name, exchange, "one leader per node, from whose buffer the others copy what has arrived",
          "hycoll; message counters of Blue Gene/P (Mamidala et al.)"),
      words_for(exchange));
}

constexpr std::array kAlgorithms = {
    lines("lines-recursive-doubling", kDoublingAllgather),
    lines("lines-circulant", kCirculantAllgather),
    single_leader("ring", kRingAllgather, kRingSource),
    single_leader("recursive-doubling", kDoublingAllgather, kDoublingSource),
    single_leader("circulant", kCirculantAllgather, kCirculantSource),
    single_leader("bruck", kBruckAllgather, kBruckSource),
    single_leader("neighbour-exchange", kNeighbourAllgather, kNeighbourSource),
    shared_address("shared-address-recursive-doubling", kDoublingAllgather),
    shared_address("shared-address-circulant", kCirculantAllgather),
    kMultiLeader.with_many_leaders(
        "multi-leader-ring", kRingAllgather,
        "L leaders per node, each exchanges its share of every node's blocks", kRingSource),
    kDirectGet.on_one_node("direct-get",
                           "inside a node every member's leader reads all blocks where they are"),
    kDirectPut.on_one_node("direct-put",
                           "inside a node every member's leader writes its block to all outputs"),
};

}  // namespace

std::span<const Algorithm> allgather_algorithms() noexcept { return kAlgorithms; }

}  // namespace hycoll
