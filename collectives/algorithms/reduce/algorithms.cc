// The reduce algorithms that can be called by name.

#include <array>

#include "collectives/algorithms/building_blocks/algorithm.h"
#include "collectives/algorithms/reduce/reduce.h"

namespace hycoll {
namespace {

constexpr std::string_view kBinomialSource =
    "DPML (Bayatpour et al., SC'17); MPICH's binomial tree";
constexpr std::string_view kLongSource =
    "DPML (Bayatpour et al., SC'17); Rabenseifner 2004; Patarasuk, Yuan 2009";

constexpr AlgorithmForm kDpml{Collective::reduce, generate_dpml_reduce};
constexpr AlgorithmForm kLines{Collective::reduce, generate_lines_reduce};
constexpr AlgorithmForm kLinesTree{Collective::reduce, generate_lines_tree_reduce};

constexpr Algorithm dpml(std::string_view name, const Exchange& exchange, std::string_view source) {
  return kDpml.with_many_leaders(
      name, exchange, "L leaders per node, each reduces and exchanges its partition", source);
}

constexpr std::array kAlgorithms = {
    kLines.through_lines("lines-binomial", kBinomialReduce),
    kLinesTree.through_lines_tree("lines-tree-binomial", kBinomialReduce),
    dpml("dpml-binomial", kBinomialReduce, kBinomialSource),
    dpml("dpml-ring", kRingReduce, kLongSource),
    dpml("dpml-pairwise", kPairwiseReduce, kLongSource),
    dpml("dpml-halving", kHalvingReduce, kLongSource),
    kDpml.with_one_leader("single-leader-binomial", kBinomialReduce,
                          "one leader per node reduces and exchanges the whole vector",
                          kBinomialSource),
};

}  // namespace

std::span<const Algorithm> reduce_algorithms() noexcept { return kAlgorithms; }

}  // namespace hycoll
