// What selection chooses: always something that works, and the documented rule at its borders.

#include "collectives/selection/selection.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collectives/algorithms/registry.h"
#include "core/base/collective_traits.h"
#include "core/base/errors.h"
#include "core/base/line_sizes.h"
#include "core/schedule/schedule_text.h"

namespace hycoll {
namespace selection_test {

constexpr std::size_t kKiB = 1024;

std::vector<std::vector<Node>> node_lists() {
  std::vector<std::vector<Node>> lists;
  for (const std::size_t nodes : {1, 2, 3, 4, 5, 7, 8, 16, 17, 64, 65}) {
    for (const Node& node : {Node{1, 1}, Node{1, 4}, Node{2, 2}, Node{4, 5}}) {
      lists.emplace_back(nodes, node);
    }
    lists.emplace_back(nodes, Node{1, 1});
    lists.back().back() = {7, 7};
  }
  return lists;
}

std::vector<std::size_t> sizes() {
  std::vector<std::size_t> sizes;
  for (std::size_t size = 1; size <= (std::size_t{1} << 30); size *= 4) {
    for (const std::size_t near : {size - 1, size, size + 1, 3 * size}) sizes.push_back(near);
  }
  return sizes;
}

/// Checks that a plan can be carried out as it stands.
void check_plan(const SelectionQuery& query) {
  const SelectedPlan plan = select(query);
  const Shape shape(query.nodes, plan.lanes);
  CAPTURE(name_of(query.collective));
  CAPTURE(plan.algorithm);
  CAPTURE(to_text(shape));
  CAPTURE(query.size_bytes);
  CAPTURE(name_of(query.order));
  const Algorithm& algorithm = find_algorithm(query.collective, plan.algorithm);
  CHECK(algorithm.serves_shape(shape));
  CHECK(algorithm.order >= query.order);
  CHECK(plan.segments >= 1);
  CHECK(plan.workers_per_node >= most_members(query.nodes));
  if (plan.algorithm.starts_with("lines-")) CHECK(query.size_bytes <= kMaximumLinesBytes);
  if (query.requested_lanes > 0) CHECK(plan.lanes == query.requested_lanes);
  if (algorithm.exchange.help == ExchangeHelp::mpi_library)
    CHECK(query.native == NativeReduction::possible);
  if (query.node_count() > 1 && query.requested_lanes == 0) {
    SelectionQuery named = query;
    named.requested_algorithm = plan.algorithm;
    named.requested_lanes = plan.lanes;
    CHECK(select(named).segments == plan.segments);
  }
}

TEST_CASE("whatever is selected serves the shape, the size and the order") {
  for (int c = 0; c < kCollectiveCount; ++c) {
    for (const std::vector<Node>& nodes : node_lists()) {
      for (const std::size_t size : sizes()) {
        for (const OperandOrder order :
             {OperandOrder::any, OperandOrder::by_rank, OperandOrder::canonical}) {
          for (const int lanes : {0, 1, 3}) {
            check_plan({.collective = static_cast<Collective>(c),
                        .nodes = runs_of(nodes),
                        .size_bytes = size,
                        .order = order,
                        .native = NativeReduction::impossible,
                        .requested_lanes = lanes});
          }
        }
      }
    }
  }
}

std::string_view chosen(Collective collective, int node_count, Node node, std::size_t size_bytes,
                        OperandOrder order = OperandOrder::any) {
  return select({.collective = collective,
                 .nodes = {{node, node_count}},
                 .size_bytes = size_bytes,
                 .order = order})
      .algorithm;
}

TEST_CASE("between nodes the prices of the query decide") {
  const auto plan_with = [](const MachinePrices& prices) {
    return select({.collective = Collective::allreduce,
                   .nodes = {{{1, 8}, 4}},
                   .size_bytes = kKiB * kKiB,
                   .prices = prices});
  };
  // Few messages where they are dear, many lanes where one fills a small part of the card.
  CHECK(plan_with({.alpha_us = 1e5}).algorithm != plan_with({}).algorithm);
  CHECK(plan_with({.endpoint_gb_per_s = 1, .reduce_gb_per_s = 1e6}).lanes == 8);
  CHECK(plan_with({.reduce_gb_per_s = 1e6}).lanes < 8);
}

TEST_CASE("one node: lines for short vectors, all workers for longer ones") {
  for (const Collective collective :
       {Collective::reduce, Collective::reduce_scatter, Collective::scan, Collective::exscan}) {
    CAPTURE(name_of(collective));
    CHECK(chosen(collective, 1, {2, 2}, 8).starts_with("lines-"));
    // Members of a reduce_scatter also write what they do not read.
    const std::size_t longest = collective == Collective::reduce_scatter ? 256 : 512;
    CHECK(chosen(collective, 1, {2, 2}, longest).starts_with("lines-"));
    CHECK(chosen(collective, 1, {2, 2}, 2 * kKiB).starts_with("dpml-"));
    const SelectedPlan plan =
        select({.collective = collective, .nodes = {{2, 4}}, .size_bytes = kKiB * kKiB});
    CHECK(plan.lanes == 4);
    CHECK(plan.workers_per_node == 4);
  }
}

TEST_CASE("a request names an algorithm, lanes, or both, for one collective or for all") {
  const auto plan = [](Collective collective, std::string_view requested, int lanes = 0) {
    return select({.collective = collective,
                   .nodes = {{{4, 4}, 3}},
                   .size_bytes = kKiB * kKiB,
                   .requested_lanes = lanes,
                   .requested_algorithm = requested});
  };
  const std::string_view list = "allreduce:dpml-ring:3,reduce:dpml-binomial,scan:auto:2";
  check_requested_algorithm(list);
  CHECK(most_requested_lanes(list) == 3);
  CHECK(plan(Collective::allreduce, list).algorithm == "dpml-ring");
  CHECK(plan(Collective::allreduce, list).lanes == 3);
  CHECK(plan(Collective::allreduce, list, 2).lanes == 3);
  CHECK(plan(Collective::reduce, list).algorithm == "dpml-binomial");
  CHECK(plan(Collective::reduce, list, 2).lanes == 2);
  CHECK(plan(Collective::scan, list).lanes == 2);
  CHECK(plan(Collective::reduce_scatter, list).lanes ==
        plan(Collective::reduce_scatter, "auto").lanes);
  for (const char* by_either_name :
       {"broadcast:multi-leader-chain:2", "bcast:multi-leader-chain:2"}) {
    check_requested_algorithm(by_either_name);
    CHECK(plan(Collective::broadcast, by_either_name).algorithm == "multi-leader-chain");
    CHECK(plan(Collective::broadcast, by_either_name).lanes == 2);
  }
  CHECK(plan(Collective::allreduce, "dpml-ring:2").algorithm == "dpml-ring");
  CHECK(plan(Collective::allreduce, "dpml-ring:2").lanes == 2);
  CHECK(plan(Collective::reduce, "auto:1").lanes == 1);
  CHECK(plan(Collective::allreduce, "allreduce:dpml:4").algorithm ==
        chosen(Collective::allreduce, 3, {4, 4}, kKiB * kKiB));
  CHECK(plan(Collective::allreduce, "allreduce:dpml:4").lanes == 4);
  for (int c = 0; c < kCollectiveCount; ++c) {
    const auto collective = static_cast<Collective>(c);
    const std::string_view family = combines(collective) ? "dpml" : "multi-leader";
    for (const std::size_t size : sizes()) {
      const SelectedPlan selected = select({.collective = collective,
                                            .nodes = {{2, 2}},
                                            .size_bytes = size,
                                            .requested_algorithm = family});
      CAPTURE(selected.algorithm);
      CHECK(selected.algorithm.starts_with(family));
    }
  }
  // A family of other collectives leaves one to the rule.
  CHECK(plan(Collective::broadcast, "dpml").algorithm ==
        plan(Collective::broadcast, "auto").algorithm);
  CHECK(most_requested_lanes("auto") == 0);
  CHECK(most_requested_lanes("dpml-ring") == 0);
}

TEST_CASE("a request that cannot be read is refused, with what is wrong in it") {
  for (const char* requested :
       {"allreduce:dpml-ring:", "allreduce:dpml-ring:0", "allreduce:dpml-ring:-1",
        "allreduce:dpml-ring:4x", "allreduce:dpml-ring:4:4", "allreduce:dpml-ring:99999999999",
        "allreduce:nothing", "nothing:dpml-ring", "dpml-ring:", "allreduce:", "nothing:4",
        "allreduce:dpml-ring,nothing", "dpml-ring:5000"}) {
    CAPTURE(requested);
    CHECK_THROWS_AS(check_requested_algorithm(requested), Error);
  }
  CHECK_THROWS_WITH(check_requested_algorithm("allreduce:dpml-ring:x"),
                    "algorithm 'allreduce:dpml-ring:x': 'x' is no number of lanes; expected 1 to "
                    "4096, as in 'allreduce:dpml-ring:4'");
}

TEST_CASE("reduce between nodes") {
  const auto reduce = [](int nodes, std::size_t size, OperandOrder order = OperandOrder::any) {
    return chosen(Collective::reduce, nodes, {1, 1}, size, order);
  };
  CHECK(reduce(4, 4 * kKiB) == "lines-binomial");
  CHECK(reduce(4, 64 * kKiB) == "dpml-pairwise");
  CHECK(reduce(4, 16 * kKiB * kKiB) == "dpml-ring");
  CHECK(reduce(4, 16 * kKiB * kKiB, OperandOrder::by_rank) == "dpml-pairwise");
  CHECK(reduce(2, 16 * kKiB * kKiB) == "dpml-ring");
}

TEST_CASE("broadcast") {
  const auto broadcast = [](int nodes, std::size_t size) {
    return chosen(Collective::broadcast, nodes, {2, 2}, size);
  };
  CHECK(broadcast(1, 8) == "lines-binomial");
  CHECK(broadcast(1, 64 * kKiB) == "multi-leader-binomial");
  CHECK(broadcast(4, 8) == "lines-knomial");
  CHECK(broadcast(4, 16 * kKiB) == "multi-leader-binomial");
  CHECK(broadcast(4, 64 * kKiB) == "multi-leader-binomial");
  CHECK(broadcast(4, 128 * kKiB) == "multi-leader-chain");
  CHECK(broadcast(4, 16 * kKiB * kKiB) == "multi-leader-chain");
  CHECK(broadcast(64, 256 * kKiB) == "multi-leader-scatter-recursive-doubling");
  CHECK(broadcast(64, 4 * kKiB * kKiB) == "multi-leader-chain");
  CHECK(chosen(Collective::broadcast, 1024, {1, 1}, kKiB * kKiB) ==
        "multi-leader-scatter-recursive-doubling");
  CHECK(broadcast(2, 16 * kKiB * kKiB) == "multi-leader-binomial");
  const SelectedPlan plan =
      select({.collective = Collective::broadcast, .nodes = {{3, 3}}, .size_bytes = kKiB * kKiB});
  CHECK(plan.lanes == 3);
}

TEST_CASE("one node of many members: whoever copies for itself writes nobody else's cache lines") {
  const auto broadcast = [](const Node& node, std::size_t size) {
    return chosen(Collective::broadcast, 1, node, size);
  };
  CHECK(broadcast({4, 4}, 2 * kKiB) == "lines-binomial");
  CHECK(broadcast({4, 4}, 2 * kKiB + 1) == "shared-address-binomial");
  CHECK(broadcast({4, 4}, 128 * kKiB) == "shared-address-binomial");
  CHECK(broadcast({4, 4}, 128 * kKiB + 1) == "multi-leader-binomial");
  CHECK(broadcast({16, 16}, 512 * kKiB) == "shared-address-binomial");
  CHECK(broadcast({3, 3}, 2 * kKiB) == "multi-leader-binomial");
}

TEST_CASE("one node of many members: short vectors go through lines, or one leader, for longer") {
  const auto choose = [](Collective collective, int members, std::size_t size,
                         Visibility visibility) {
    return select({.collective = collective,
                   .nodes = {{members, members}},
                   .size_bytes = size,
                   .visibility = visibility});
  };
  for (const Visibility visibility : {Visibility::direct, Visibility::staged}) {
    const bool is_staged = visibility == Visibility::staged;
    CAPTURE(is_staged);
    CHECK(choose(Collective::allreduce, 16, 128, visibility).lanes == 1);
    CHECK(choose(Collective::allreduce, 16, 256, visibility).lanes == 16);
    CHECK(choose(Collective::allgather, 16, 2 * kKiB, visibility).algorithm == "lines-circulant");
    CHECK(choose(Collective::allgather, 16, 4 * kKiB, visibility).algorithm == "multi-leader-ring");
    CHECK(choose(Collective::reduce, 16, 128, visibility).algorithm == "lines-binomial");
    CHECK(choose(Collective::reduce, 16, kKiB, visibility).algorithm == "dpml-binomial");
    CHECK(choose(Collective::reduce, 16, kKiB, visibility).lanes == 1);
    CHECK(choose(Collective::reduce, 16, 2 * kKiB, visibility).lanes == (is_staged ? 1 : 16));
    CHECK(choose(Collective::reduce, 16, 4 * kKiB, visibility).lanes == 16);
    CHECK(choose(Collective::scan, 16, 512, visibility).algorithm == "lines-direct");
    CHECK(choose(Collective::exscan, 16, kKiB, visibility).lanes == (is_staged ? 1 : 16));
  }
}

TEST_CASE("a process alone on its node with many workers wakes those only that are worth it") {
  for (const int workers : {4, 8}) {
    CAPTURE(workers);
    const auto lanes = [&](std::size_t size_bytes) {
      return select({.nodes = {{{1, workers}, 2}}, .size_bytes = size_bytes}).lanes;
    };
    CHECK(lanes(8) == 1);
    CHECK(lanes(4 * kKiB) == 1);
    CHECK(lanes(64 * kKiB) > 1);
    CHECK(lanes(256 * kKiB) == workers);
  }
}

TEST_CASE("what several nodes pass on is cut into messages without a handshake") {
  SelectionQuery query{.collective = Collective::broadcast,
                       .nodes = {{1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}};
  for (const std::string_view name :
       {"auto", "multi-leader-chain", "binomial", "shared-address-chain", "torus-colours"}) {
    query.requested_algorithm = name;
    query.size_bytes = kKiB * kKiB;
    CHECK(select(query).segments == 64);
    query.size_bytes = kKiB * kKiB + 1;
    CHECK(select(query).segments == 65);
    // More would save less of the chain's time than they cost.
    query.size_bytes = 256 * kKiB * kKiB;
    CHECK(select(query).segments == 512);
  }
  query.requested_algorithm = "multi-leader-chain";
  query.size_bytes = kKiB * kKiB;
  query.visibility = Visibility::staged;
  CHECK(select(query).segments == 4);
}

TEST_CASE("core specialisation has two lanes, and aggregators if there are any") {
  SelectionQuery query{.collective = Collective::broadcast,
                       .nodes = {{4, 4}, {3, 3}},
                       .size_bytes = kKiB * kKiB,
                       .requested_algorithm = "core-specialised"};
  CHECK(select(query).lanes == 2);
  CHECK(select(query).aggregators == 0);
  query.aggregators = 1;
  CHECK(select(query).lanes == 2);
  CHECK(select(query).aggregators == 1);
  query.collective = Collective::allreduce;
  query.requested_algorithm = "node-leader";
  CHECK(select(query).aggregators == 1);
  query.aggregators = 0;
  CHECK_THROWS_WITH_AS(select(query), doctest::Contains("needs aggregators"), Error);
}

TEST_CASE("reduce_scatter between nodes") {
  const auto scatter = [](int nodes, std::size_t size, OperandOrder order = OperandOrder::any) {
    return chosen(Collective::reduce_scatter, nodes, {1, 1}, size, order);
  };
  CHECK(scatter(4, 4 * kKiB) == "dpml-pairwise");
  CHECK(scatter(32, 4 * kKiB) == "lines-halving");
  CHECK(scatter(32, 4 * kKiB, OperandOrder::canonical) == "lines-butterfly");
  CHECK(scatter(4, 16 * kKiB * kKiB) == "dpml-ring");
  CHECK(scatter(256, 64 * kKiB) == "dpml-halving");
  CHECK(scatter(256, 64 * kKiB, OperandOrder::by_rank) == "dpml-butterfly");
  CHECK(scatter(32, 16 * kKiB * kKiB) == "dpml-ring");
  CHECK(scatter(32, 16 * kKiB * kKiB, OperandOrder::by_rank) == "dpml-pairwise");
  // One node with most of the members: pairwise would have to receive too much there.
  const std::vector<Node> heavy = {{1, 1}, {9, 9}, {1, 1}, {1, 1}};
  const auto unequal = [&](OperandOrder order) {
    return select({.collective = Collective::reduce_scatter,
                   .nodes = runs_of(heavy),
                   .size_bytes = 64 * kKiB,
                   .order = order})
        .algorithm;
  };
  CHECK(unequal(OperandOrder::any) != "dpml-pairwise");
  CHECK(unequal(OperandOrder::canonical) == "dpml-butterfly");
}

TEST_CASE("scan between nodes") {
  for (const Collective collective : {Collective::scan, Collective::exscan}) {
    const auto scan = [&](int nodes, std::size_t size, OperandOrder order = OperandOrder::by_rank) {
      return chosen(collective, nodes, {1, 1}, size, order);
    };
    CHECK(scan(16, 8) == "lines-direct");
    CHECK(scan(64, 8) == "lines-recursive-doubling");
    CHECK(scan(17, 8, OperandOrder::canonical) == "lines-direct");
    CHECK(scan(65, 8, OperandOrder::canonical) == "dpml-pairwise");
    CHECK(scan(4, 16 * kKiB, OperandOrder::canonical) == "dpml-pairwise");
    CHECK(scan(4, 256 * kKiB) == "dpml-pairwise");
    CHECK(scan(2, 64 * kKiB) == "dpml-pairwise");
    CHECK(scan(2, 16 * kKiB * kKiB) == "dpml-chain");
  }
}

TEST_CASE("many nodes: lanes follow the members, and one small node does not bound them") {
  for (int c = 0; c < kCollectiveCount; ++c) {
    const auto lanes = [&](std::vector<EqualNodes> nodes, std::size_t size_bytes) {
      return select({.collective = static_cast<Collective>(c),
                     .nodes = std::move(nodes),
                     .size_bytes = size_bytes})
          .lanes;
    };
    CAPTURE(name_of(static_cast<Collective>(c)));
    if (!combines(static_cast<Collective>(c))) continue;
    CHECK(lanes({{{128, 128}, 64}}, 64 * kKiB) >= 32);
    CHECK(lanes({{{64, 64}, 2}, {{1, 1}, 1}}, 4 * kKiB * kKiB) >= 4);
  }
}

TEST_CASE("many nodes: no power of two is needed for logarithmic numbers of steps") {
  CHECK(chosen(Collective::reduce, 1000, {1, 1}, 64 * kKiB) == "dpml-halving");
  CHECK(chosen(Collective::allreduce, 61, {1, 1}, 64 * kKiB) == "dpml-circulant");
  CHECK(chosen(Collective::allreduce, 60, {1, 1}, 64 * kKiB) == "dpml-mixed-radix");
  CHECK(chosen(Collective::scan, 1024, {1, 1}, 32 * kKiB) == "dpml-recursive-doubling");
}

TEST_CASE("neighbours exchange long blocks, where each has one") {
  CHECK(chosen(Collective::allgather, 14, {1, 1}, 14 * 64 * kKiB) == "neighbour-exchange");
  CHECK(chosen(Collective::allgather, 15, {1, 1}, 15 * 64 * kKiB) == "multi-leader-ring");
  CHECK(chosen(Collective::allgather, 14, {1, 1}, 14 * 2 * kKiB) == "circulant");
}

TEST_CASE("many members copy short blocks of many nodes themselves") {
  const std::size_t bytes = std::size_t{64} * 64 * 8;
  CHECK(chosen(Collective::allgather, 64, {64, 64}, bytes) == "shared-address-recursive-doubling");
  CHECK(chosen(Collective::allgather, 63, {64, 64}, bytes) == "shared-address-circulant");
}

TEST_CASE("of two processes that stage the root of a long reduce does all") {
  SelectionQuery query{
      .collective = Collective::reduce, .nodes = {{2, 2}}, .size_bytes = 64 * kKiB};
  CHECK(select(query).lanes == 2);
  query.visibility = Visibility::staged;
  CHECK(select(query).lanes == 1);
  query.requested_lanes = 2;
  CHECK(select(query).lanes == 2);
  query.requested_lanes = 0;
  query.nodes = {{3, 3}};
  CHECK(select(query).lanes == 3);
}

TEST_CASE("where only the root can copy in, a broadcast has one lane, in segments") {
  SelectionQuery query{
      .collective = Collective::broadcast, .nodes = {{2, 2}}, .size_bytes = 64 * kKiB};
  const auto segments = [&](std::size_t size_bytes) {
    query.size_bytes = size_bytes;
    const SelectedPlan plan = select(query);
    CHECK(plan.algorithm == "shared-address-binomial");
    CHECK(plan.lanes == 1);
    return plan.segments;
  };
  CHECK(select(query).algorithm == "multi-leader-binomial");
  query.visibility = Visibility::staged;
  CHECK(segments(kKiB) == 1);
  CHECK(segments(64 * kKiB) == 4);
  CHECK(segments(16 * kKiB * kKiB) == 8);
  query.requested_lanes = 2;
  CHECK(select(query).algorithm == "multi-leader-binomial");
  CHECK(select(query).lanes == 2);
}

TEST_CASE("processes use lines for longer reductions than threads") {
  for (const Collective collective : {Collective::allreduce, Collective::reduce}) {
    SelectionQuery query{.collective = collective, .nodes = {{2, 2}}};
    const auto uses_lines = [&](std::size_t size_bytes, Visibility visibility) {
      query.size_bytes = size_bytes;
      query.visibility = visibility;
      return select(query).algorithm.starts_with("lines-");
    };
    CHECK(uses_lines(512, Visibility::direct));
    CHECK_FALSE(uses_lines(513, Visibility::direct));
    CHECK(uses_lines(kKiB, Visibility::staged));
    CHECK_FALSE(uses_lines(kKiB + 1, Visibility::staged));
  }
}

}  // namespace selection_test
}  // namespace hycoll
