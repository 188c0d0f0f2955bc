#include "collectives/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/errors.h"

namespace hycoll {
namespace {

bool any_direct(const Shape& shape) { return shape.visibility() == Visibility::direct; }

bool one_lane(const Shape& shape) { return any_direct(shape) && shape.lane_count() == 1; }

bool one_lane_and_member(const Shape& shape) {
  for (int node = 0; node < shape.node_count(); ++node) {
    if (shape.node(node).members != 1) return false;
  }
  return one_lane(shape);
}

bool one_lane_led_by_members(const Shape& shape) {
  for (int node = 0; node < shape.node_count(); ++node) {
    if (shape.leader(node, 0) - shape.first_worker(node) >= shape.node(node).members) return false;
  }
  return one_lane(shape);
}

constexpr std::string_view kDpmlSource = "DPML (Bayatpour et al., SC'17), section 4.1";
constexpr std::string_view kLinesSource =
    "hycoll; message counters of Blue Gene/P (Mamidala et al.)";
constexpr std::string_view kFlatSource = "Thakur, Rabenseifner, Gropp 2005; Patarasuk, Yuan 2009";
constexpr std::string_view kAnyShape = "any shape with direct visibility";
constexpr std::string_view kOneLane = "shapes with 1 lane";
constexpr std::string_view kMemberLeaders = "shapes with 1 lane whose leaders own a member";
constexpr std::string_view kFlatShape = "shapes with 1 lane and 1 member on every node";

constexpr Algorithm dpml(std::string_view name, Exchange exchange) {
  return {name,
          "L leaders per node, each reduces and exchanges its partition",
          kDpmlSource,
          exchange,
          kAnyShape,
          any_direct,
          generate_dpml_allreduce};
}

constexpr Algorithm single_leader(std::string_view name, Exchange exchange) {
  return {name,
          "one leader per node reduces and exchanges the whole vector",
          kDpmlSource,
          exchange,
          kOneLane,
          one_lane,
          generate_dpml_allreduce};
}

constexpr Algorithm flat(std::string_view name, Exchange exchange) {
  return {name,
          "every member exchanges for itself",
          kFlatSource,
          exchange,
          kFlatShape,
          one_lane_and_member,
          generate_dpml_allreduce};
}

constexpr Algorithm lines(std::string_view name, Exchange exchange) {
  return {name,
          "short vectors: data and signal in one cache-line transfer",
          kLinesSource,
          exchange,
          kMemberLeaders,
          one_lane_led_by_members,
          generate_lines_allreduce};
}

constexpr std::array kAllreduceAlgorithms = {
    lines("lines-recursive-doubling", Exchange::recursive_doubling),
    lines("lines-native", Exchange::native),
    dpml("dpml-recursive-doubling", Exchange::recursive_doubling),
    dpml("dpml-ring", Exchange::ring),
    dpml("dpml-halving-doubling", Exchange::halving_doubling),
    dpml("dpml-native", Exchange::native),
    single_leader("single-leader-recursive-doubling", Exchange::recursive_doubling),
    single_leader("single-leader-ring", Exchange::ring),
    single_leader("single-leader-halving-doubling", Exchange::halving_doubling),
    single_leader("single-leader-native", Exchange::native),
    flat("flat-recursive-doubling", Exchange::recursive_doubling),
    flat("flat-ring", Exchange::ring),
    flat("flat-halving-doubling", Exchange::halving_doubling),
};

}  // namespace

Schedule Algorithm::generate(const Shape& shape, int segments) const {
  if (!serves_shape(shape)) {
    throw Error(
        ErrorKind::unsupported,
        fmt::format("algorithm '{}' serves {}; this shape has {} nodes, {} members and {} "
                    "lanes. Choose another algorithm, or 'auto'",
                    name, serves, shape.node_count(), shape.member_count(), shape.lane_count()));
  }
  return generate_with(std::string(name), shape, {.exchange = exchange, .segments = segments});
}

std::span<const Algorithm> allreduce_algorithms() noexcept { return kAllreduceAlgorithms; }

const Algorithm& find_allreduce_algorithm(std::string_view name) {
  for (const Algorithm& algorithm : kAllreduceAlgorithms) {
    if (algorithm.name == name) return algorithm;
  }
  std::string known = "auto";
  for (const Algorithm& algorithm : kAllreduceAlgorithms) {
    known += fmt::format(", {}", algorithm.name);
  }
  throw Error(ErrorKind::invalid_argument,
              fmt::format("algorithm '{}' does not exist for allreduce; known: {}", name, known));
}

}  // namespace hycoll
