// The reduce_scatter algorithms that can be called by name.

#include <array>

#include "collectives/algorithms/parts/algorithm.h"
#include "collectives/algorithms/reduce_scatter/reduce_scatter.h"

namespace hycoll {
namespace {

constexpr std::string_view kPairwiseSource =
    "DPML (Bayatpour et al., SC'17); MPICH's pairwise exchange";
constexpr std::string_view kRingSource = "DPML (Bayatpour et al., SC'17); Patarasuk, Yuan 2009";
constexpr std::string_view kHalvingSource =
    "DPML (Bayatpour et al., SC'17); Thakur, Rabenseifner, Gropp 2005";
constexpr std::string_view kServesEvenShapes =
    "shapes with direct visibility in which no node of N with several members has more than "
    "1/(N - 2) of them all";

constexpr Algorithm dpml(std::string_view name, const Exchange& exchange, std::string_view source) {
  return {.collective = Collective::reduce_scatter,
          .name = name,
          .summary = "L leaders per node, each reduces and exchanges its share of every block",
          .source = source,
          .order = exchange.order,
          .exchange = exchange,
          .serves = kServesAnyShape,
          .serves_shape = serves_any_shape,
          .generate_with = generate_dpml_reduce_scatter,
          .segmentation = exchange.segmentation};
}

constexpr Algorithm dpml_pairwise() {
  Algorithm algorithm = dpml("dpml-pairwise", kPairwiseReduceScatter, kPairwiseSource);
  algorithm.serves = kServesEvenShapes;
  algorithm.serves_shape = serves_pairwise_reduce_scatter;
  return algorithm;
}

constexpr Algorithm lines(std::string_view name, const Exchange& exchange) {
  return {.collective = Collective::reduce_scatter,
          .name = name,
          .summary = "short vectors: data and signal in one cache-line transfer",
          .source = kLinesSource,
          .order = exchange.order,
          .exchange = exchange,
          .serves = kServesMemberLeaders,
          .serves_shape = serves_one_lane_led_by_members,
          .generate_with = generate_lines_reduce_scatter,
          .segmentation = Segmentation::none};
}

constexpr std::array kAlgorithms = {
    lines("lines-pairwise", kPairwiseReduceScatter),
    lines("lines-halving", kHalvingReduceScatter),
    lines("lines-butterfly", kButterflyReduceScatter),
    dpml_pairwise(),
    dpml("dpml-ring", kRingReduceScatter, kRingSource),
    dpml("dpml-halving", kHalvingReduceScatter, kHalvingSource),
    dpml("dpml-butterfly", kButterflyReduceScatter, kHalvingSource),
};

}  // namespace

std::span<const Algorithm> reduce_scatter_algorithms() noexcept { return kAlgorithms; }

}  // namespace hycoll
