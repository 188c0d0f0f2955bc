#include "collectives/selection/lanes.h"

#include <algorithm>
#include <cstdint>

#include "core/base/byte_sizes.h"
#include "core/base/collective_traits.h"
#include "core/base/line_sizes.h"

namespace hycoll {
namespace {

/// One node: what one member may read through lines before direct access is faster.
constexpr std::size_t kLinesReadBytes = 512;
/// The same instead of staging, which synchronises more, or whose writers would not run ahead of a
/// root.
constexpr std::size_t kLinesReadBytesStaged = 1024;

std::size_t most_read(const SelectionQuery& query) {
  const bool shuns_staging =
      query.visibility == Visibility::staged &&
      (delivers_to_root(query.collective) || query.collective == Collective::allreduce);
  return shuns_staging ? kLinesReadBytesStaged : kLinesReadBytes;
}

/// Many leaders take longer to hear of one another, and write to as many outputs.
std::size_t most_read_of_many(const SelectionQuery& query) {
  const bool is_staged = query.visibility == Visibility::staged;
  switch (query.collective) {
    case Collective::scan:
    case Collective::exscan:
      return is_staged ? 16 * kKib : 8 * kKib;
    case Collective::broadcast:
      return is_staged ? most_read(query) : 2 * kKib;
    case Collective::allreduce:
    case Collective::reduce:
    case Collective::allgather:
      return 2 * kKib;
    case Collective::reduce_scatter:
    case Collective::gather:
    case Collective::scatter:
    case Collective::alltoall:
      break;
  }
  return most_read(query);
}

}  // namespace

bool has_many_members(const SelectionQuery& query) {
  return query.nodes.front().node.members >= kManyMembers;
}

bool reads_through_lines(const SelectionQuery& query, std::size_t read_bytes) {
  return query.requested_lanes <= 1 && query.size_bytes <= kMaximumLinesBytes &&
         read_bytes <= (has_many_members(query) ? most_read_of_many(query) : most_read(query));
}

bool far_members_put(Collective collective, int members) {
  const CollectiveTraits traits = traits_of(collective);
  const bool is_for_all = traits.output == BufferTraits{Extent::vector, Holders::all} ||
                          traits.output == BufferTraits{Extent::vector, Holders::all_but_root};
  return traits.result == Result::copy && (!is_for_all || members < kManyMembers);
}

bool root_puts(const SelectionQuery& query) {
  return query.nearness == Nearness::far &&
         (query.collective == Collective::broadcast || query.collective == Collective::scatter);
}

int lanes_of_only_node(const SelectionQuery& query) {
  if (query.requested_lanes > 0) return query.requested_lanes;
  const Node& node = query.nodes.front().node;
  return node.members == 1 ? 1 : node.workers;
}

SelectedPlan plan_lanes(const SelectionQuery& query) {
  SelectedPlan plan;
  const bool is_for_one = root_puts(query) && query.requested_lanes == 0;
  plan.lanes = is_for_one ? 1 : lanes_of_only_node(query);
  plan.workers_per_node = std::max(most_members(query.nodes), plan.lanes);
  return plan;
}

SelectedPlan plan_lines(const SelectionQuery& query) {
  return {.algorithm = {}, .lanes = 1, .workers_per_node = most_members(query.nodes)};
}

}  // namespace hycoll
