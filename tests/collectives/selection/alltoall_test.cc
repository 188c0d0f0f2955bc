// Which all-to-all selection chooses, at the borders of its rule.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>

#include "collectives/algorithms/registry.h"
#include "collectives/selection/selection.h"
#include "core/base/errors.h"
#include "core/base/partition.h"
#include "core/drawing/statistics.h"

namespace hycoll {
namespace alltoall_test {

constexpr std::size_t kKiB = 1024;

TEST_CASE("many nodes that have little for one another pass it on, if they know how much it is") {
  SelectionQuery query{
      .collective = Collective::alltoall, .nodes = {{{1, 1}, 64}}, .size_bytes = 64 * 64};
  CHECK(select(query).algorithm.starts_with("multi-leader-bruck-"));
  query.size_bytes = 64 * 64 * kKiB;
  CHECK(select(query).algorithm == "onmpml");
  // Whatever messages in one another's way cost: these bytes are more for certain.
  query.nodes = {{{4, 4}, 64}};
  query.size_bytes = 256 * 64 * kKiB;
  CHECK_FALSE(select(query).algorithm.starts_with("multi-leader-bruck-"));
  query.nodes = {{{1, 1}, 64}};
  query.size_bytes = 64 * 64;
  query.has_unequal_pairs = true;
  CHECK(select(query).algorithm == "onmpml");
  query.requested_algorithm = "bruck-4";
  CHECK_THROWS_WITH_AS(select(query),
                       "alltoall algorithm 'bruck-4' passes on what other nodes exchange, whose "
                       "lengths a node does not know where they differ; choose 'onmpml', or 'auto'",
                       Error);
  query.has_unequal_pairs = false;
  CHECK(select(query).algorithm == "bruck-4");
  // As many as their pairs, and those in packs, can be numbered of.
  query.requested_algorithm = "auto";
  query.nodes = {{{1, 1}, 26'754}};
  query.size_bytes = 26'754 * 8;
  CHECK(select(query).algorithm.starts_with("multi-leader-bruck-"));
  query.nodes = {{{1, 1}, 26'755}};
  CHECK(select(query).algorithm == "onmpml");
}

TEST_CASE("members exchange less than a cache line along the Z-curve") {
  SelectionQuery query{
      .collective = Collective::alltoall, .nodes = {{{16, 16}, 1}}, .size_bytes = 16 * 63};
  CHECK(select(query).algorithm == "sh-numa-co");
  CHECK(select(query).lanes == 16);
  query.size_bytes = 16 * 64;
  CHECK(select(query).algorithm == "onmpml");
  query.size_bytes = 64 * kKiB;
  CHECK(select(query).algorithm == "onmpml");
  query.size_bytes = 16 * 8;
  query.visibility = Visibility::staged;
  CHECK(select(query).algorithm == "onmpml");
  query.visibility = Visibility::direct;
  query.has_unequal_pairs = true;
  CHECK(select(query).algorithm == "onmpml");
  query.has_unequal_pairs = false;
  query.nodes = {{{3, 3}, 1}};
  query.size_bytes = 3 * 8;
  CHECK(select(query).algorithm == "lines");
}

TEST_CASE("leaders exchange long blocks in segments, and all that they may not hold at once") {
  SelectionQuery query{
      .collective = Collective::alltoall, .nodes = {{{2, 2}, 4}}, .size_bytes = 64 * kKiB};
  CHECK(select(query).algorithm == "onmpml");
  CHECK(select(query).segments == 1);
  query.size_bytes = 4096 * kKiB;
  CHECK(select(query).algorithm == "multi-leader-pairwise");
  CHECK(select(query).segments == 4);  // of 1 MiB, a block each
  // Twice what a node sends: 2 x 2 members x 3/4 of what each has.
  query.nodes = {{{16, 16}, 64}};
  query.size_bytes = 1024 * kKiB;
  const SelectedPlan free = select(query);
  CHECK(free.algorithm != "multi-leader-pairwise");
  query.exchange_limit_bytes = 8192 * kKiB;
  const SelectedPlan bounded = select(query);
  CHECK(bounded.algorithm == "multi-leader-pairwise");
  query.exchange_limit_bytes = 64 * kKiB;
  const SelectedPlan narrow = select(query);
  CHECK(narrow.algorithm == "multi-leader-pairwise");
  CHECK(narrow.segments > bounded.segments);
  CHECK(narrow.segments <= 16 * 16);
  const auto holds_at_most = [](const SelectedPlan& plan, std::size_t limit_bytes) {
    const Shape shape = Shape::uniform(64, 16, plan.lanes);
    const Schedule part = find_algorithm(Collective::alltoall, plan.algorithm)
                              .generate(shape, plan.segments, 0, only_node(3));
    const Partition partition = Partition::uniform(kKiB, part.chunk_count);
    const std::size_t scratch = statistics(part, partition, 1).nodes.front().scratch;
    const std::size_t least = 4 * static_cast<std::size_t>(plan.lanes) * kKiB;
    return scratch <= std::max(limit_bytes, least);
  };
  CHECK_FALSE(holds_at_most(free, 8192 * kKiB));
  CHECK(holds_at_most(bounded, 8192 * kKiB));
  CHECK(holds_at_most(narrow, 64 * kKiB));
  // What is staged is cut into slices.
  query.visibility = Visibility::staged;
  CHECK(select(query).algorithm != "multi-leader-pairwise");
}

}  // namespace alltoall_test
}  // namespace hycoll
