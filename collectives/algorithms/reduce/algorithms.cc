// The reduce algorithms that can be called by name.

#include <array>

#include "collectives/algorithms/parts/algorithm.h"
#include "collectives/algorithms/reduce/reduce.h"

namespace hycoll {
namespace {

constexpr std::string_view kBinomialSource =
    "DPML (Bayatpour et al., SC'17); MPICH's binomial tree";
constexpr std::string_view kLongSource =
    "DPML (Bayatpour et al., SC'17); Rabenseifner 2004; Patarasuk, Yuan 2009";

constexpr Algorithm dpml(std::string_view name, const Exchange& exchange, std::string_view source) {
  return {.collective = Collective::reduce,
          .name = name,
          .summary = "L leaders per node, each reduces and exchanges its partition",
          .source = source,
          .order = exchange.order,
          .exchange = exchange,
          .serves = kServesAnyShape,
          .serves_shape = serves_any_shape,
          .generate_with = generate_dpml_reduce,
          .segmentation = exchange.segmentation};
}

constexpr Algorithm single_leader(std::string_view name, const Exchange& exchange) {
  Algorithm algorithm = dpml(name, exchange, kBinomialSource);
  algorithm.summary = "one leader per node reduces and exchanges the whole vector";
  algorithm.serves = kServesOneLane;
  algorithm.serves_shape = serves_one_lane;
  return algorithm;
}

constexpr Algorithm lines(std::string_view name, const Exchange& exchange) {
  return {.collective = Collective::reduce,
          .name = name,
          .summary = "short vectors: data and signal in one cache-line transfer",
          .source = kLinesSource,
          .order = exchange.order,
          .exchange = exchange,
          .serves = kServesMemberLeaders,
          .serves_shape = serves_one_lane_led_by_members,
          .generate_with = generate_lines_reduce,
          .segmentation = exchange.segmentation};
}

constexpr std::array kAlgorithms = {
    lines("lines-binomial", kBinomialReduce),
    dpml("dpml-binomial", kBinomialReduce, kBinomialSource),
    dpml("dpml-ring", kRingReduce, kLongSource),
    dpml("dpml-pairwise", kPairwiseReduce, kLongSource),
    dpml("dpml-halving", kHalvingReduce, kLongSource),
    single_leader("single-leader-binomial", kBinomialReduce),
};

}  // namespace

std::span<const Algorithm> reduce_algorithms() noexcept { return kAlgorithms; }

}  // namespace hycoll
