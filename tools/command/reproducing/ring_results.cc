// P. Patarasuk, X. Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations,
// JPDC 2009.

#include "tools/command/reproducing/paper_results.h"

namespace hycoll::command {
namespace {

constexpr std::string_view kRing = "ring (Patarasuk, Yuan 2009)";

PaperResult ring_figure(std::string_view name, std::string_view title, std::string_view platform,
                        int nodes, int members, std::vector<Curve> curves, Claim claim,
                        std::string_view note) {
  return {.name = name,
          .paper = kRing,
          .title = title,
          .collective = Collective::allreduce,
          .platform = platform,
          .nodes = nodes,
          .members = members,
          .sizes_bytes = {kKib, 4 * kKib, 16 * kKib, 32 * kKib, 64 * kKib, 128 * kKib, 256 * kKib,
                          512 * kKib, 1024 * kKib, 2048 * kKib, 4096 * kKib},
          .curves = std::move(curves),
          .claims = {std::move(claim)},
          .note = note};
}

/// The ring and the butterfly, which is recursive halving and doubling.
std::vector<Curve> flat_pair() {
  return {{.name = "ring", .algorithm = "ring", .flat = true},
          {.name = "butterfly", .algorithm = "halving-doubling", .flat = true}};
}

std::vector<Curve> with_smp() {
  std::vector<Curve> all = flat_pair();
  all.push_back({.name = "SMP-butterfly", .algorithm = "smp-butterfly"});
  all.push_back({.name = "SMP-binomial", .algorithm = "smp-binomial"});
  return all;
}

std::vector<Curve> of_libraries() {
  std::vector<Curve> all = flat_pair();
  all.push_back({.name = "recursive doubling", .algorithm = "recursive-doubling", .flat = true});
  return all;
}

Claim break_even(std::string_view what, std::vector<std::size_t> defenders, double paper) {
  return {.what = what,
          .measure = Measure::break_even,
          .challengers = {0},
          .defenders = std::move(defenders),
          .paper = paper};
}

}  // namespace

std::vector<PaperResult> ring_results() {
  return {
      ring_figure("ring-figure-3", "allreduce, 128 processes, Myrinet", "ring-myrinet", 64, 2,
                  with_smp(),
                  break_even("the ring is faster than the butterfly from", {1}, 256 * kKib), ""),
      ring_figure(
          "ring-figure-4", "allreduce, 128 processes, InfiniBand", "ring-infiniband", 16, 8,
          with_smp(), break_even("the ring is faster than the butterfly from", {1}, 64 * kKib),
          "In the paper the ring loses again at 512 KiB and 1 MiB, which it calls abnormal."),
      ring_figure("ring-figure-6", "allreduce, 32 nodes, Ethernet", "ring-ethernet", 32, 1,
                  of_libraries(),
                  break_even("the ring is faster than Open MPI and MPICH from", {1, 2}, 256 * kKib),
                  "Butterfly and recursive doubling stand for the libraries."),
  };
}

}  // namespace hycoll::command
