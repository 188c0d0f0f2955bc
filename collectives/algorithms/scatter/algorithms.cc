// The scatter algorithms that can be called by name.

#include <array>

#include "collectives/algorithms/building_blocks/algorithm.h"
#include "collectives/algorithms/building_blocks/rooted_parts.h"
#include "collectives/algorithms/scatter/scatter.h"

namespace hycoll {
namespace {

constexpr std::string_view kTreeSource = "MPICH's binomial tree (Thakur, Rabenseifner, Gropp 2005)";
constexpr std::string_view kLinearSource = "every MPI library; DPML's leaders (Bayatpour et al.)";

constexpr AlgorithmForm kMultiLeader{Collective::scatter, generate_multi_leader_scatter};
constexpr AlgorithmForm kLines{Collective::scatter, generate_lines_scatter};

constexpr std::array kAlgorithms = {
    kLines.through_lines("lines-binomial", kBinomialParts),
    kLines.through_lines("lines-linear", kLinearParts),
    kMultiLeader.with_one_leader(
        "binomial", kBinomialParts,
        "one leader per node passes on what the nodes below get, and keeps its own", kTreeSource),
    kMultiLeader.with_one_leader("linear", kLinearParts,
                                 "one leader on the root's node sends every node its blocks",
                                 kLinearSource),
    kMultiLeader.with_many_leaders(
        "multi-leader-linear", kLinearParts,
        "L leaders on the root's node, each sends its share of every node's blocks", kLinearSource),
};

}  // namespace

std::span<const Algorithm> scatter_algorithms() noexcept { return kAlgorithms; }

}  // namespace hycoll
