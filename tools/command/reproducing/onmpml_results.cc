// ONMPML: the overlapped NUMA-aware multi-port multi-leader all-to-all.

#include "tools/command/reproducing/paper_results.h"

namespace hycoll::command {
namespace {

constexpr std::string_view kOnmpml = "ONMPML";

constexpr std::string_view kAlltoallNote =
    "On 16 nodes: the direct algorithm sends as many messages as there are pairs of processes. The "
    "sizes are assumptions, for the pictures are lost. MPI_Alltoall is the direct pairwise "
    "algorithm. Leaders are spread over the NUMA domains: mpml is the paper's NMPML.";

// Indices of curves.
constexpr std::size_t kPairwise = 0;
constexpr std::size_t kOneLeader = 1;
constexpr std::size_t kMpml2 = 2;
constexpr std::size_t kMpml4 = 3;
constexpr std::size_t kOnmpml2 = 4;
constexpr std::size_t kOnmpml4 = 5;

PaperResult alltoall_figure(std::string_view name, std::string_view title,
                            std::string_view platform, int members, int paper_nodes,
                            std::vector<Claim> claims) {
  return {.name = name,
          .paper = kOnmpml,
          .title = title,
          .collective = Collective::alltoall,
          .platform = platform,
          .nodes = 16,
          .members = members,
          .paper_nodes = paper_nodes,
          .sizes_bytes = {8, 64, 512, 4 * kKib},
          .curves = {{.name = "pairwise", .algorithm = "pairwise", .flat = true},
                     {.name = "L-a2a", .algorithm = "l-a2a"},
                     {.name = "MPML, 2 leaders", .algorithm = "mpml", .lanes = 2},
                     {.name = "MPML, 4 leaders", .algorithm = "mpml", .lanes = 4},
                     {.name = "ONMPML, 2 leaders", .algorithm = "onmpml", .lanes = 2},
                     {.name = "ONMPML, 4 leaders", .algorithm = "onmpml", .lanes = 4}},
          .claims = std::move(claims),
          .note = kAlltoallNote};
}

Claim mean(std::string_view what, std::size_t challenger, std::size_t defender, double paper) {
  return {.what = what,
          .measure = Measure::mean_speedup,
          .challengers = {challenger},
          .defenders = {defender},
          .paper = paper};
}

Claim longest(std::string_view what, std::size_t challenger, double paper) {
  return {.what = what,
          .measure = Measure::speedup,
          .challengers = {challenger},
          .defenders = {kOneLeader},
          .size_bytes = 4 * kKib,
          .paper = paper};
}

}  // namespace

std::vector<PaperResult> onmpml_results() {
  return {
      alltoall_figure(
          "onmpml-figure-9", "all-to-all on HPC-A", "onmpml-a", 32, 256,
          {mean("on average: ONMPML, 4 leaders, against MPI_Alltoall", kOnmpml4, kPairwise, 3.53)}),
      alltoall_figure(
          "onmpml-figure-10", "all-to-all on HPC-B", "onmpml-b", 24, 50,
          {mean("on average: ONMPML, 4 leaders, against MPI_Alltoall", kOnmpml4, kPairwise, 3.7),
           longest("long blocks: MPML, 2 leaders, against L-a2a", kMpml2, 1.45),
           longest("long blocks: MPML, 4 leaders, against L-a2a", kMpml4, 1.65),
           mean("on average: ONMPML against NMPML, 2 leaders", kOnmpml2, kMpml2, 1.05),
           mean("on average: ONMPML against NMPML, 4 leaders", kOnmpml4, kMpml4, 1.125)}),
  };
}

}  // namespace hycoll::command
