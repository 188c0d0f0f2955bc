#include "tools/command/proving/broadcast_traffic.h"

#include "collectives/algorithms/registry.h"
#include "core/base/byte_sizes.h"
#include "core/base/errors.h"
#include "threading/program/program.h"

namespace hycoll::command {
namespace {

std::vector<std::size_t> doublings(std::size_t first, std::size_t last) {
  std::vector<std::size_t> sizes;
  for (std::size_t size = first; size <= last; size *= 2) sizes.push_back(size);
  return sizes;
}

Schedule generate(std::string_view algorithm, int rank_count) {
  return find_algorithm(Collective::broadcast, algorithm)
      .generate(Shape::uniform(rank_count, 1, 1));
}

}  // namespace

Traffic traffic_of(const Schedule& schedule, std::size_t size_bytes) {
  const Partition partition = partition_for(schedule, {.count = size_bytes}, 1);
  Traffic traffic;
  for (const Strand& strand : schedule.strands) {
    for (const Step& step : strand.steps) {
      if (step.kind != StepKind::send) continue;
      const Span& sent = schedule.sources(step).front();
      ++traffic.message_count;
      traffic.sent_bytes += partition.range(sent.first_chunk, sent.chunk_count).size();
    }
  }
  return traffic;
}

std::vector<BroadcastBenchmark> broadcast_benchmarks() {
  return {{.name = "A",
           .title = "long messages, powers of two",
           .rank_counts = {16, 64, 256},
           .sizes_bytes = doublings(512 * kKib, 16 * kMib)},
          {.name = "B",
           .title = "medium and long messages, no powers of two",
           .rank_counts = {9, 17, 33, 65, 129},
           .sizes_bytes = {12288, 524287, 1048576}},
          {.name = "C",
           .title = "medium to long messages, 129 ranks",
           .rank_counts = {129},
           .sizes_bytes = doublings(12 * kKib, 3 * kMib)}};
}

std::vector<BroadcastSaving> count_savings(int rank_count,
                                           const std::vector<std::size_t>& sizes_bytes) {
  HYCOLL_ASSERT(rank_count >= 2, "somebody receives");
  const Schedule native = generate("scatter-ring-allgather", rank_count);
  const Schedule optimised = generate("scatter-ring-allgather-opt", rank_count);
  std::vector<BroadcastSaving> savings;
  for (const std::size_t size_bytes : sizes_bytes) {
    savings.push_back({.rank_count = rank_count,
                       .size_bytes = size_bytes,
                       .native = traffic_of(native, size_bytes),
                       .optimised = traffic_of(optimised, size_bytes)});
  }
  return savings;
}

}  // namespace hycoll::command
