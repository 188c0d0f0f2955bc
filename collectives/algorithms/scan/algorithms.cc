// The algorithms of scan and exscan that can be called by name: the same for both.

#include <array>

#include "collectives/algorithms/building_blocks/algorithm.h"
#include "collectives/algorithms/scan/scan.h"

namespace hycoll {
namespace {

constexpr std::string_view kDoublingSource = "DPML (Bayatpour et al., SC'17); Hillis, Steele 1986";
constexpr std::string_view kDpmlSource = "hycoll; phases of DPML (Bayatpour et al., SC'17)";
constexpr std::string_view kServesFewNodes =
    "shapes with 1 lane, leaders that own a member, and at most 64 nodes";

constexpr AlgorithmForm kDpml{Collective::scan, generate_dpml_scan};
constexpr AlgorithmForm kLines{Collective::scan, generate_lines_scan};

constexpr Algorithm dpml(std::string_view name, const Exchange& exchange, std::string_view source) {
  Algorithm algorithm = kDpml.with_many_leaders(
      name, exchange, "L leaders per node, each scans its partition", source);
  const bool is_cut = exchange.segmentation == Segmentation::messages;
  if (is_cut) algorithm.segmentation = Segmentation::partition;
  return algorithm;
}

constexpr Algorithm lines_direct() {
  Algorithm algorithm = kLines.through_lines("lines-direct", kDirectScan);
  algorithm.serves = kServesFewNodes;
  algorithm.serves_shape = serves_direct_scan;
  return algorithm;
}

constexpr std::array kScan = {
    lines_direct(),
    kLines.through_lines("lines-recursive-doubling", kDoublingScan),
    dpml("dpml-recursive-doubling", kDoublingScan, kDoublingSource),
    dpml("dpml-pairwise", kPairwiseScan, kDpmlSource),
    dpml("dpml-chain", kChainScan, kDpmlSource),
};

constexpr std::array kExscan = [] {
  std::array algorithms = kScan;
  for (Algorithm& algorithm : algorithms) algorithm.collective = Collective::exscan;
  return algorithms;
}();

}  // namespace

std::span<const Algorithm> scan_algorithms() noexcept { return kScan; }

std::span<const Algorithm> exscan_algorithms() noexcept { return kExscan; }

}  // namespace hycoll
