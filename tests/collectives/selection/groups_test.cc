#include "collectives/selection/groups.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collectives/algorithms/registry.h"
#include "collectives/job/worker_groups.h"
#include "collectives/selection/selection.h"
#include "core/drawing/line_transfers.h"
#include "numa/topology/neighbourhoods.h"

namespace hycoll {
namespace selection_groups_test {

/// Members of one node that fill a machine.
struct Filled {
  explicit Filled(const std::string& description, int members) : nodes{{{members, members}, 1}} {
    const Topology topology = Topology::synthetic(description);
    REQUIRE(std::cmp_greater_equal(topology.cores().size(), members));
    std::vector<CorePlace> places;
    for (const Core& core : topology.cores().first(static_cast<std::size_t>(members))) {
      places.push_back(place_of(core));
      drawn.push_back(
          {.cache = core.last_level_cache, .domain = core.numa_domain, .package = core.package});
    }
    near = groups_of_places(places);
  }

  InsideCosts costs(const TransferTimes& times = kPublishedTimes) const {
    return {nodes, std::span(&near, 1), times};
  }

  /// By walking through the schedule.
  double walked_ns(const SelectionQuery& query, const SelectedPlan& plan) const {
    const Algorithm& algorithm = find_algorithm(query.collective, plan.algorithm);
    Shape shape(nodes, plan.lanes);
    if (algorithm.follows_groups) {
      shape = shape.with_groups(with_levels(near, plan.group_levels));
    }
    const Schedule schedule = algorithm.generate(shape, plan.segments);
    return count_line_transfers(
               schedule, Partition::balanced(query.size_bytes, schedule.chunk_count), 1, drawn)
        .nanoseconds;
  }

  std::vector<EqualNodes> nodes;
  EqualNearness near;
  std::vector<WorkerPlace> drawn;
};

const std::vector<std::string> kMachines = {
    "pack:2 numa:4 l3:4 core:4", "pack:2 numa:1 l3:1 core:64", "pack:1 numa:1 l3:16 core:8",
    "pack:4 numa:2 l3:1 core:16", "pack:2 numa:2 l3:4 core:8"};

SelectionQuery query_for(const Filled& filled, Collective collective, std::size_t size_bytes,
                         const InsideCosts* inside) {
  return {
      .collective = collective, .nodes = filled.nodes, .size_bytes = size_bytes, .inside = inside};
}

TEST_CASE("allreduces through lines take what their schedules say") {
  for (const std::string& machine : kMachines) {
    for (const int members : {3, 5, 8, 13, 16, 24, 33, 48, 64, 96, 128}) {
      const Filled filled(machine, members);
      const InsideCosts costs = filled.costs();
      for (const std::size_t size_bytes : {1, 8, 300}) {
        CAPTURE(machine);
        CAPTURE(members);
        CAPTURE(size_bytes);
        const SelectionQuery query = query_for(filled, Collective::allreduce, size_bytes, nullptr);
        const SelectedPlan flat{.algorithm = "lines-recursive-doubling", .lanes = 1};
        const SelectedPlan tree{.algorithm = "lines-tree-recursive-doubling", .lanes = 1};
        CHECK(costs.nanoseconds(query, flat) ==
              doctest::Approx(filled.walked_ns(query, flat)).epsilon(0.25));
        CHECK(costs.nanoseconds(query, tree) ==
              doctest::Approx(filled.walked_ns(query, tree)).epsilon(0.25));
      }
    }
  }
}

TEST_CASE("of two that share nothing nobody leads the other") {
  const Filled filled("pack:2 core:1", 2);
  CHECK(filled.near.groups.is_flat());
  const InsideCosts costs = filled.costs();
  for (int c = 0; c < kCollectiveCount; ++c) {
    for (const std::size_t size_bytes : {std::size_t{8}, std::size_t{1} << 20}) {
      SelectionQuery query = query_for(filled, static_cast<Collective>(c), size_bytes, nullptr);
      const SelectedPlan without = select(query);
      query.inside = &costs;
      CHECK(find_algorithm(query.collective, select(query).algorithm).follows_groups == false);
      CHECK(select(query).lanes == without.lanes);
    }
  }
}

std::string_view chosen(const Filled& filled, Collective collective, std::size_t size_bytes,
                        const TransferTimes& times = kPublishedTimes) {
  const InsideCosts costs = filled.costs(times);
  return select(query_for(filled, collective, size_bytes, &costs)).algorithm;
}

TEST_CASE("few members are flat, many are a tree") {
  const std::string machine = "pack:2 numa:4 l3:4 core:4";
  for (const Collective collective :
       {Collective::allreduce, Collective::reduce, Collective::broadcast}) {
    CHECK_FALSE(chosen(Filled(machine, 4), collective, 8).starts_with("lines-tree-"));
    CHECK(chosen(Filled(machine, 128), collective, 8).starts_with("lines-tree-"));
    CHECK_FALSE(chosen(Filled("l3:1 core:128", 128), collective, 8).starts_with("lines-tree-"));
  }
}

TEST_CASE("the choice follows the latencies, not the machine's shape") {
  const Filled filled("pack:2 numa:1 l3:1 core:12", 24);
  CHECK(chosen(filled, Collective::allreduce, 8, TransferTimes::of({10, 25, 25, 25, 400})) ==
        "lines-tree-recursive-doubling");
  CHECK(chosen(filled, Collective::allreduce, 8, TransferTimes::of({10, 50, 50, 50, 50})) ==
        "lines-recursive-doubling");
}

TEST_CASE("an order that the trees do not keep is kept") {
  const Filled filled("pack:2 numa:4 l3:4 core:4", 128);
  const InsideCosts costs = filled.costs();
  for (const std::size_t size_bytes : {std::size_t{8}, std::size_t{1} << 20}) {
    SelectionQuery query = query_for(filled, Collective::allreduce, size_bytes, &costs);
    query.order = OperandOrder::canonical;
    CHECK(find_algorithm(query.collective, select(query).algorithm).order ==
          OperandOrder::canonical);
  }
}

TEST_CASE("between nodes the tree replaces lines, and nothing else") {
  const Filled filled("pack:2 numa:4 l3:4 core:4", 128);
  const std::vector<EqualNodes> nodes = {{{128, 128}, 64}};
  EqualNearness near = filled.near;
  near.count = 64;
  const InsideCosts costs(nodes, std::span(&near, 1), kPublishedTimes);
  for (const std::size_t size_bytes : {std::size_t{8}, std::size_t{1} << 20}) {
    SelectionQuery query{
        .collective = Collective::allreduce, .nodes = nodes, .size_bytes = size_bytes};
    const SelectedPlan without = select(query);
    query.inside = &costs;
    const SelectedPlan with = select(query);
    if (without.algorithm == "lines-recursive-doubling") {
      CHECK(with.algorithm == "lines-tree-recursive-doubling");
      CHECK(with.segments == without.segments);
    } else {
      CHECK(with == without);
    }
  }
}

/// Whatever is chosen is hardly dearer, by the walk through its schedule, than flat and each tree.
TEST_CASE("by their schedules too, what is chosen is the cheapest, or nearly") {
  for (const std::string& machine : kMachines) {
    for (const int members : {4, 6, 12, 16, 24, 32, 48, 64, 128}) {
      const Filled filled(machine, members);
      const InsideCosts costs = filled.costs();
      CAPTURE(machine);
      CAPTURE(members);
      const SelectionQuery query = query_for(filled, Collective::allreduce, 8, &costs);
      const SelectedPlan plan = select(query);
      const double chosen_ns = filled.walked_ns(query, plan);
      const SelectedPlan flat{.algorithm = "lines-recursive-doubling", .lanes = 1};
      const SelectedPlan tree{.algorithm = "lines-tree-recursive-doubling", .lanes = 1};
      CHECK(chosen_ns <= 1.1 * filled.walked_ns(query, flat));
      CHECK(chosen_ns <= 1.1 * filled.walked_ns(query, tree));
    }
  }
}

TEST_CASE("long vectors go by groups where they would not fit between the packages") {
  const Filled filled("pack:2 numa:4 l3:4 core:4", 128);
  const InsideCosts costs = filled.costs();
  for (const std::size_t size_bytes : {std::size_t{64} << 10, std::size_t{1} << 20}) {
    CAPTURE(size_bytes);
    const SelectionQuery query = query_for(filled, Collective::allreduce, size_bytes, &costs);
    const SelectedPlan plan = select(query);
    CHECK(plan.algorithm == "grouped-leaders");
    CHECK(plan.lanes >= 32);
    CHECK(costs.nanoseconds(query, plan) ==
          doctest::Approx(filled.walked_ns(query, plan)).epsilon(0.4));
    const SelectedPlan direct{.algorithm = "dpml-recursive-doubling", .lanes = 128};
    CHECK(filled.walked_ns(query, plan) < filled.walked_ns(query, direct));
  }
  SelectionQuery query = query_for(filled, Collective::allreduce, std::size_t{1} << 20, &costs);
  query.requested_lanes = 16;
  CHECK(select(query).lanes == 16);
}

TEST_CASE("levels that are left out are so in the shape") {
  const Filled filled("pack:2 numa:4 l3:4 core:4", 128);
  CHECK(to_text(with_levels(filled.near, kAllGroupLevels)) == "4x32, 16x8, 64x2");
  CHECK(to_text(with_levels(filled.near, GroupLevels{1u << index_of(Proximity::domain)})) ==
        "16x8");
  CHECK(with_levels(filled.near, GroupLevels{0}).is_flat());
}

}  // namespace selection_groups_test
}  // namespace hycoll
