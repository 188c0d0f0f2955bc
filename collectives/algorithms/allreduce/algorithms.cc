// The allreduce algorithms that can be called by name.

#include <array>

#include "collectives/algorithms/allreduce/allreduce.h"
#include "collectives/algorithms/exchanges/aggregation.h"
#include "collectives/algorithms/parts/algorithm.h"

namespace hycoll {
namespace {

constexpr std::string_view kDpmlSource = "DPML (Bayatpour et al., SC'17), section 4.1";
constexpr std::string_view kLinesSource =
    "hycoll; message counters of Blue Gene/P (Mamidala et al.)";
constexpr std::string_view kFlatSource = "Thakur, Rabenseifner, Gropp 2005; Patarasuk, Yuan 2009";

constexpr OperandOrder order_of(Exchange exchange) {
  switch (exchange) {
    case Exchange::recursive_doubling:
    case Exchange::halving_doubling:
      return OperandOrder::canonical;
    case Exchange::binomial:
    case Exchange::aggregation_tree:
      return OperandOrder::by_rank;
    case Exchange::ring:
    case Exchange::native:
    case Exchange::chain:
      break;
  }
  return OperandOrder::any;
}

constexpr Segmentation segmentation_of(Exchange exchange) {
  return exchange == Exchange::ring || exchange == Exchange::recursive_doubling
             ? Segmentation::messages
             : Segmentation::none;
}

constexpr Algorithm dpml(std::string_view name, Exchange exchange) {
  return {.collective = Collective::allreduce,
          .name = name,
          .summary = "L leaders per node, each reduces and exchanges its partition",
          .source = kDpmlSource,
          .order = order_of(exchange),
          .exchange = exchange,
          .serves = kServesAnyShape,
          .serves_shape = serves_any_shape,
          .generate_with = generate_dpml_allreduce,
          .segmentation = segmentation_of(exchange)};
}

constexpr Algorithm pipelined(std::string_view name, Exchange exchange) {
  Algorithm algorithm = dpml(name, exchange);
  algorithm.summary = "L leaders per node, the exchanges of each one's parts in flight together";
  algorithm.source = "DPML, section 4.2 (DPML-Pipelined)";
  algorithm.generate_with = generate_dpml_pipelined_allreduce;
  algorithm.segmentation = Segmentation::partition;
  return algorithm;
}

constexpr Algorithm single_leader(std::string_view name, Exchange exchange) {
  Algorithm algorithm = dpml(name, exchange);
  algorithm.summary = "one leader per node reduces and exchanges the whole vector";
  algorithm.serves = kServesOneLane;
  algorithm.serves_shape = serves_one_lane;
  return algorithm;
}

constexpr Algorithm flat(std::string_view name, Exchange exchange) {
  Algorithm algorithm = dpml(name, exchange);
  algorithm.summary = "every member exchanges for itself";
  algorithm.source = kFlatSource;
  algorithm.serves = kServesFlatShape;
  algorithm.serves_shape = serves_one_lane_and_member;
  return algorithm;
}

constexpr Algorithm smp(std::string_view name, Exchange exchange) {
  Algorithm algorithm = single_leader(name, exchange);
  algorithm.summary = "binomial trees inside the nodes, one leader per node between them";
  algorithm.source = "Patarasuk, Yuan 2009, section 5";
  algorithm.order = OperandOrder::by_rank;
  algorithm.generate_with = generate_smp_allreduce;
  algorithm.segmentation = Segmentation::none;
  return algorithm;
}

constexpr Algorithm colour_rings() {
  Algorithm algorithm = pipelined("colour-rings", Exchange::chain);
  algorithm.summary =
      "one worker drives a ring per lane, disjoint on a torus; the others reduce and copy";
  algorithm.source = "Blue Gene/P (Mamidala et al. 2009), section 5.C";
  algorithm.generate_with = generate_colour_rings_allreduce;
  return algorithm;
}

constexpr std::string_view kAggregationSource = "DPML, section 4.3; SHArP (Graham et al. 2016)";

bool serves_node_leader(const Shape& shape) {
  return shape.lane_count() == 1 && has_aggregators_last(shape);
}

/// An aggregator's one worker combines what comes in on all lanes.
bool serves_socket_leader(const Shape& shape) {
  for (int node = 0; node < shape.node_count(); ++node) {
    if (shape.node(node).members == 0 && shape.node(node).workers > 1) return false;
  }
  return has_aggregators_last(shape);
}

constexpr Algorithm node_leader() {
  Algorithm algorithm = pipelined("node-leader", Exchange::aggregation_tree);
  algorithm.summary = "one leader per node; aggregators without members reduce what it sends";
  algorithm.source = kAggregationSource;
  algorithm.serves =
      "shapes with 1 lane whose last nodes are aggregators (--aggregators N, at least 1)";
  algorithm.serves_shape = serves_node_leader;
  algorithm.generate_with = generate_node_leader_allreduce;
  return algorithm;
}

constexpr Algorithm socket_leader() {
  Algorithm algorithm = node_leader();
  algorithm.name = "socket-leader";
  algorithm.summary = "a leader and a lane per socket; aggregators reduce what they send";
  algorithm.serves =
      "shapes whose last nodes are aggregators of 1 worker (--aggregators N, at least 1)";
  algorithm.serves_shape = serves_socket_leader;
  algorithm.generate_with = generate_socket_leader_allreduce;
  return algorithm;
}

constexpr Algorithm lines(std::string_view name, Exchange exchange) {
  return {.collective = Collective::allreduce,
          .name = name,
          .summary = "short vectors: data and signal in one cache-line transfer",
          .source = kLinesSource,
          .order = order_of(exchange),
          .exchange = exchange,
          .serves = kServesMemberLeaders,
          .serves_shape = serves_one_lane_led_by_members,
          .generate_with = generate_lines_allreduce,
          .segmentation = segmentation_of(exchange)};
}

constexpr std::array kAlgorithms = {
    lines("lines-recursive-doubling", Exchange::recursive_doubling),
    lines("lines-native", Exchange::native),
    dpml("dpml-recursive-doubling", Exchange::recursive_doubling),
    dpml("dpml-ring", Exchange::ring),
    dpml("dpml-halving-doubling", Exchange::halving_doubling),
    dpml("dpml-native", Exchange::native),
    pipelined("dpml-pipelined-recursive-doubling", Exchange::recursive_doubling),
    pipelined("dpml-pipelined-ring", Exchange::ring),
    pipelined("dpml-pipelined-halving-doubling", Exchange::halving_doubling),
    pipelined("dpml-pipelined-native", Exchange::native),
    single_leader("single-leader-recursive-doubling", Exchange::recursive_doubling),
    single_leader("single-leader-ring", Exchange::ring),
    single_leader("single-leader-halving-doubling", Exchange::halving_doubling),
    single_leader("single-leader-native", Exchange::native),
    smp("smp-binomial", Exchange::binomial),
    smp("smp-butterfly", Exchange::halving_doubling),
    colour_rings(),
    node_leader(),
    socket_leader(),
    flat("recursive-doubling", Exchange::recursive_doubling),
    flat("ring", Exchange::ring),
    flat("halving-doubling", Exchange::halving_doubling),
};

}  // namespace

std::span<const Algorithm> allreduce_algorithms() noexcept { return kAlgorithms; }

}  // namespace hycoll
