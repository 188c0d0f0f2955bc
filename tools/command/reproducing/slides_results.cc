// H. Zhou et al., A Bandwidth-saving Optimization for MPI Broadcast Collective Operation,
// P2S2 2015, slides 18 to 30.

#include "tools/command/reproducing/paper_results.h"

namespace hycoll::command {
namespace {

constexpr std::string_view kSlides = "broadcast slides (Zhou et al., P2S2'15)";
constexpr std::string_view kNative = "scatter-ring-allgather";
constexpr std::string_view kTuned = "scatter-ring-allgather-opt";
constexpr int kMembers = 24;  // of a node

Curve flat(std::string_view name, std::string_view algorithm, int processes) {
  return {.name = name, .algorithm = algorithm, .flat = true, .processes = processes};
}

Claim best(std::string_view what, std::size_t native, double paper) {
  return {.what = what,
          .measure = Measure::best_speedup,
          .challengers = {native + 1},
          .defenders = {native},
          .paper = paper};
}

Claim peak(std::string_view what, std::size_t curve, double paper) {
  return {
      .what = what, .measure = Measure::best_throughput, .challengers = {curve}, .paper = paper};
}

Claim shortest(std::string_view what, std::size_t native) {
  return {.what = what,
          .measure = Measure::speedup,
          .challengers = {native + 1},
          .defenders = {native},
          .size_bytes = 12 * kKib,
          .paper = 2};
}

}  // namespace

std::vector<PaperResult> slides_results() {
  return {
      {.name = "slides-a",
       .paper = kSlides,
       .title = "benchmark A: broadcast of long vectors, powers of two",
       .collective = Collective::broadcast,
       .platform = "slides-hornet",
       .nodes = 11,
       .members = kMembers,
       .sizes_bytes = {512 * kKib, 1024 * kKib, 2048 * kKib, 4096 * kKib, 8192 * kKib,
                       16384 * kKib},
       .curves =
           {flat("native, 16 processes", kNative, 16), flat("tuned, 16 processes", kTuned, 16),
            flat("native, 64 processes", kNative, 64), flat("tuned, 64 processes", kTuned, 64),
            flat("native, 256 processes", kNative, 256), flat("tuned, 256 processes", kTuned, 256)},
       .claims = {best("16 processes: up to", 0, 1.12), best("64 processes: up to", 2, 1.41),
                  best("256 processes: up to", 4, 1.2), peak("16 processes, native: peak", 0, 2623),
                  peak("16 processes, tuned: peak", 1, 2748)},
       .note = "Caches, whose ends the slides show as drops of the bandwidth, are not simulated.",
       .benchmark = "A"},
      {.name = "slides-b",
       .paper = kSlides,
       .title = "benchmark B: broadcast, no powers of two",
       .collective = Collective::broadcast,
       .platform = "slides-hornet",
       .nodes = 6,
       .members = kMembers,
       .sizes_bytes = {12 * kKib, 524287, 1024 * kKib},
       .curves = {flat("native, 9 processes", kNative, 9), flat("tuned, 9 processes", kTuned, 9),
                  flat("native, 33 processes", kNative, 33),
                  flat("tuned, 33 processes", kTuned, 33),
                  flat("native, 129 processes", kNative, 129),
                  flat("tuned, 129 processes", kTuned, 129)},
       .claims = {shortest("12 KiB, 9 processes", 0), shortest("12 KiB, 33 processes", 2),
                  shortest("12 KiB, 129 processes", 4)},
       .note = "The slides say \"more than two times\" for 12 KiB, and not for how many processes. "
               "Messages are counted for 17 and 65 processes, too.",
       .benchmark = "B"},
      {.name = "slides-c",
       .paper = kSlides,
       .title = "benchmark C: broadcast on 129 processes",
       .collective = Collective::broadcast,
       .platform = "slides-hornet",
       .nodes = 6,
       .members = kMembers,
       .sizes_bytes = {12 * kKib, 24 * kKib, 48 * kKib, 96 * kKib, 192 * kKib, 384 * kKib,
                       768 * kKib, 1536 * kKib, 3072 * kKib},
       .curves = {flat("native", kNative, 129), flat("tuned", kTuned, 129)},
       .claims = {best("up to", 0, 1.3)},
       .note = "",
       .benchmark = "C"},
  };
}

}  // namespace hycoll::command
