#ifndef HYCOLL_TOOLS_COMMAND_PROVING_BROADCAST_TRAFFIC_H_
#define HYCOLL_TOOLS_COMMAND_PROVING_BROADCAST_TRAFFIC_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/schedule/schedule.h"

namespace hycoll::command {

/// A benchmark of the paper on the bandwidth-saving broadcast: process counts, each with all sizes.
///
/// Source: H. Zhou et al., A Bandwidth-saving Optimization for MPI Broadcast Collective Operation,
/// P2S2 2015, slides 19 to 22.
struct BroadcastBenchmark {
  std::string_view name;
  std::string_view title;
  std::vector<int> rank_counts;
  std::vector<std::size_t> sizes_bytes;
};

/// A, B and C. Ranges of sizes are counted at their doublings.
std::vector<BroadcastBenchmark> broadcast_benchmarks();

/// What all processes send together. core/models/broadcast_slides.h has what the slides say of it.
struct Traffic {
  std::size_t message_count = 0;
  std::size_t sent_bytes = 0;
};

/// A broadcast of one size with the native algorithm and with the optimised one, scatter included.
struct BroadcastSaving {
  int rank_count;
  std::size_t size_bytes;
  Traffic native;
  Traffic optimised;

  std::size_t saved_messages() const { return native.message_count - optimised.message_count; }
  std::size_t saved_bytes() const { return native.sent_bytes - optimised.sent_bytes; }
};

/// What a schedule sends of a vector of `size_bytes`.
Traffic traffic_of(const Schedule& schedule, std::size_t size_bytes);

/// Counted from the schedules, on nodes of one process each, for every size. Requires at least two
/// ranks.
std::vector<BroadcastSaving> count_savings(int rank_count,
                                           const std::vector<std::size_t>& sizes_bytes);

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_PROVING_BROADCAST_TRAFFIC_H_
