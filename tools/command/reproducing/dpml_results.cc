// DPML: M. Bayatpour et al., Scalable Reduction Collectives with Data Partitioning-based
// Multi-Leader Design, SC 2017.

#include "tools/command/reproducing/paper_results.h"

namespace hycoll::command {
namespace {

constexpr std::string_view kDpml = "DPML (Bayatpour et al., SC'17)";

constexpr std::string_view kLeadersNote =
    "Leaders exchange by recursive doubling, as in the paper's equation 4.";

constexpr std::string_view kLibrariesNote =
    "The libraries are not there: flat and single-leader algorithms, of which each size has the "
    "best, stand for both of them. The text has no numbers of processes; those of figures 4 to 7 "
    "are taken.";

/// Figures 4 to 7: the numbers of leaders that the paper tries.
PaperResult leaders(std::string_view name, std::string_view title, std::string_view platform,
                    int nodes, int members, std::vector<Claim> claims) {
  constexpr std::string_view kAlgorithm = "dpml-recursive-doubling";
  return {.name = name,
          .paper = kDpml,
          .title = title,
          .collective = Collective::allreduce,
          .platform = platform,
          .nodes = nodes,
          .members = members,
          .sizes_bytes = {4, 64, 256, kKib, 4 * kKib, 8 * kKib, 32 * kKib, 128 * kKib, 512 * kKib,
                          1024 * kKib},
          .curves = {{.name = "1 leader", .algorithm = kAlgorithm, .lanes = 1},
                     {.name = "2 leaders", .algorithm = kAlgorithm, .lanes = 2},
                     {.name = "4 leaders", .algorithm = kAlgorithm, .lanes = 4},
                     {.name = "8 leaders", .algorithm = kAlgorithm, .lanes = 8},
                     {.name = "16 leaders", .algorithm = kAlgorithm, .lanes = 16}},
          .claims = std::move(claims),
          .note = kLeadersNote};
}

Claim best_leaders(double paper) {
  return {.what = "8 KiB: the best number of leaders",
          .measure = Measure::fastest_lanes,
          .challengers = {0, 1, 2, 3, 4},
          .size_bytes = 8 * kKib,
          .paper = paper};
}

Claim many_leaders(double paper) {
  return {.what = "512 KiB: 16 leaders against 1",
          .measure = Measure::speedup,
          .challengers = {4},
          .defenders = {0},
          .size_bytes = 512 * kKib,
          .paper = paper};
}

/// Figures 9 and 10: DPML against libraries.
PaperResult libraries(std::string_view name, std::string_view title, std::string_view platform,
                      int nodes, int members, std::vector<Claim> claims) {
  return {
      .name = name,
      .paper = kDpml,
      .title = title,
      .collective = Collective::allreduce,
      .platform = platform,
      .nodes = nodes,
      .members = members,
      .sizes_bytes = {4, 256, 2 * kKib, 16 * kKib, 128 * kKib, 512 * kKib},
      .curves = {{.name = "DPML, 4 leaders", .algorithm = "dpml-recursive-doubling", .lanes = 4},
                 {.name = "DPML, 16 leaders", .algorithm = "dpml-recursive-doubling", .lanes = 16},
                 {.name = "DPML, 16 leaders, halving-doubling",
                  .algorithm = "dpml-halving-doubling",
                  .lanes = 16},
                 {.name = "single leader, recursive doubling",
                  .algorithm = "single-leader-recursive-doubling"},
                 {.name = "single leader, halving-doubling",
                  .algorithm = "single-leader-halving-doubling"},
                 {.name = "flat, recursive doubling",
                  .algorithm = "recursive-doubling",
                  .flat = true},
                 {.name = "flat, halving-doubling", .algorithm = "halving-doubling", .flat = true}},
      .claims = std::move(claims),
      .note = kLibrariesNote};
}

Claim up_to(std::string_view what, double paper) {
  return {.what = what,
          .measure = Measure::best_speedup,
          .challengers = {0, 1, 2},
          .defenders = {3, 4, 5, 6},
          .paper = paper};
}

}  // namespace

std::vector<PaperResult> dpml_results() {
  return {
      leaders("dpml-figure-4", "leaders, 448 processes on cluster A", "dpml-a", 16, 28,
              {best_leaders(4)}),
      leaders("dpml-figure-5", "leaders, 1,792 processes on cluster B", "dpml-b", 64, 28,
              {best_leaders(4), many_leaders(4.9)}),
      leaders("dpml-figure-6", "leaders, 1,792 processes on cluster C", "dpml-c", 64, 28,
              {best_leaders(16), many_leaders(4.3)}),
      leaders("dpml-figure-7", "leaders, 1,024 processes on cluster D", "dpml-d", 32, 32,
              {best_leaders(16)}),
      libraries("dpml-figure-9a", "against libraries on cluster A", "dpml-a", 16, 28,
                {up_to("up to, against MVAPICH2", 3.59)}),
      libraries("dpml-figure-9b", "against libraries on cluster B", "dpml-b", 64, 28,
                {up_to("up to, against MVAPICH2", 3.08)}),
      libraries("dpml-figure-9c", "against libraries on cluster C", "dpml-c", 64, 28,
                {up_to("up to, against MVAPICH2", 1.4), up_to("up to, against Intel MPI", 2.98)}),
      libraries("dpml-figure-9d", "against libraries on cluster D", "dpml-d", 32, 32,
                {up_to("up to, against MVAPICH2", 3.31), up_to("up to, against Intel MPI", 2.3)}),
      libraries("dpml-figure-10", "against libraries, 10,240 processes on cluster D", "dpml-d", 160,
                64,
                {up_to("up to, against MVAPICH2", 3.07), up_to("up to, against Intel MPI", 1.48)}),
  };
}

}  // namespace hycoll::command
