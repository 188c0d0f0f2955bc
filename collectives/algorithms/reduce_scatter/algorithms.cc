// The reduce_scatter algorithms that can be called by name.

#include <array>

#include "collectives/algorithms/building_blocks/algorithm.h"
#include "collectives/algorithms/reduce_scatter/reduce_scatter.h"

namespace hycoll {
namespace {

constexpr std::string_view kPairwiseSource =
    "DPML (Bayatpour et al., SC'17); MPICH's pairwise exchange";
constexpr std::string_view kRingSource = "DPML (Bayatpour et al., SC'17); Patarasuk, Yuan 2009";
constexpr std::string_view kHalvingSource =
    "DPML (Bayatpour et al., SC'17); Thakur, Rabenseifner, Gropp 2005";
constexpr std::string_view kCirculantSource = "DPML (Bayatpour et al., SC'17); Traeff 2024";
constexpr std::string_view kServesEvenShapes =
    "shapes with direct visibility in which no node of N with several members has more than "
    "1/(N - 2) of them all";

constexpr AlgorithmForm kDpml{Collective::reduce_scatter, generate_dpml_reduce_scatter};
constexpr AlgorithmForm kLines{Collective::reduce_scatter, generate_lines_reduce_scatter};

constexpr Algorithm dpml(std::string_view name, const Exchange& exchange, std::string_view source) {
  return kDpml.with_many_leaders(
      name, exchange, "L leaders per node, each reduces and exchanges its share of every block",
      source);
}

constexpr Algorithm dpml_pairwise() {
  Algorithm algorithm = dpml("dpml-pairwise", kPairwiseReduceScatter, kPairwiseSource);
  algorithm.serves = kServesEvenShapes;
  algorithm.serves_shape = serves_pairwise_reduce_scatter;
  return algorithm;
}

/// Messages are too short to be cut.
constexpr Algorithm lines(std::string_view name, const Exchange& exchange) {
  Algorithm algorithm = kLines.through_lines(name, exchange);
  algorithm.segmentation = Segmentation::none;
  return algorithm;
}

constexpr std::array kAlgorithms = {
    lines("lines-pairwise", kPairwiseReduceScatter),
    lines("lines-halving", kHalvingReduceScatter),
    lines("lines-butterfly", kButterflyReduceScatter),
    dpml_pairwise(),
    dpml("dpml-ring", kRingReduceScatter, kRingSource),
    dpml("dpml-halving", kHalvingReduceScatter, kHalvingSource),
    dpml("dpml-butterfly", kButterflyReduceScatter, kHalvingSource),
    dpml("dpml-circulant", kCirculantReduceScatter, kCirculantSource),
};

}  // namespace

std::span<const Algorithm> reduce_scatter_algorithms() noexcept { return kAlgorithms; }

}  // namespace hycoll
