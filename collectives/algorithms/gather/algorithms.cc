// The gather algorithms that can be called by name.

#include <array>

#include "collectives/algorithms/building_blocks/algorithm.h"
#include "collectives/algorithms/building_blocks/rooted_parts.h"
#include "collectives/algorithms/gather/gather.h"

namespace hycoll {
namespace {

constexpr std::string_view kTreeSource = "MPICH's binomial tree (Thakur, Rabenseifner, Gropp 2005)";
constexpr std::string_view kLinearSource = "every MPI library; DPML's leaders (Bayatpour et al.)";

constexpr AlgorithmForm kMultiLeader{Collective::gather, generate_multi_leader_gather};
constexpr AlgorithmForm kLines{Collective::gather, generate_lines_gather};

constexpr std::array kAlgorithms = {
    kLines.through_lines("lines-binomial", kBinomialParts),
    kLines.through_lines("lines-linear", kLinearParts),
    kMultiLeader.with_one_leader(
        "binomial", kBinomialParts,
        "one leader per node hands over what the nodes below have, and its own", kTreeSource),
    kMultiLeader.with_one_leader("linear", kLinearParts,
                                 "one leader per node hands its members' blocks to the root's node",
                                 kLinearSource),
    kMultiLeader.with_many_leaders(
        "multi-leader-linear", kLinearParts,
        "L leaders per node, each hands its share of the blocks to the root's node", kLinearSource),
};

}  // namespace

std::span<const Algorithm> gather_algorithms() noexcept { return kAlgorithms; }

}  // namespace hycoll
