#ifndef HYCOLL_COLLECTIVES_ALGORITHMS_BUILDING_BLOCKS_ALGORITHM_H_
#define HYCOLL_COLLECTIVES_ALGORITHMS_BUILDING_BLOCKS_ALGORITHM_H_

#include <algorithm>
#include <bit>
#include <span>
#include <string>
#include <string_view>

#include "collectives/algorithms/building_blocks/exchange.h"
#include "core/schedule/schedule.h"
#include "core/schedule/step_reader.h"

namespace hycoll {

/// What a generator is told besides the shape.
struct GeneratorParameters {
  Collective collective;
  Exchange exchange = {};
  int segments = 1;  ///< Parts into which messages, or a lane's partition, are cut; at least 1.
  int root = 0;      ///< The member that a reduce delivers to, or a broadcast begins at.
  PartRequest nodes = {};  ///< Those whose steps are asked for.
};

/// One algorithm that can be called by name: which shapes it serves, and its generator.
struct Algorithm {
  Collective collective;
  std::string_view name;
  std::string_view summary;  ///< One line, for listings.
  std::string_view source;   ///< The paper, or this project.
  OperandOrder order;
  Exchange exchange;        ///< What the generator uses between nodes.
  std::string_view serves;  ///< The constraint in words, for error messages.
  /// Requires direct visibility; what is served so is served with staged visibility, too.
  bool (*serves_shape)(const Shape& shape);
  Schedule (*generate_with)(std::string name, const Shape& shape,
                            const GeneratorParameters& parameters);
  Segmentation segmentation;
  bool follows_groups = false;   ///< The schedule depends on the shape's groups.
  bool passes_in_lines = false;  ///< Inside nodes: vectors of up to kMaximumLinesBytes.

  /// The schedule on one shape, or what some of its nodes do in it; with staged visibility,
  /// staged() of the direct one (core/staging/staging.h): of a part by itself, so a node that
  /// needs no staging has none even where others have (staged_throughout()). Throws Error
  /// (unsupported) if the algorithm does not serve the shape with direct visibility.
  Schedule generate(const Shape& shape, int segments = 1, int root = 0,
                    const PartRequest& nodes = {}) const;

  /// Shows the steps of a node's part of the schedule, in the order in which the generator adds
  /// them, each time that it is called. Requires direct visibility. The algorithm outlives it.
  /// Throws as generate().
  StepReplay replay(const Shape& shape, int segments, int root, int node) const;
};

/// Shapes that many algorithms serve: direct visibility and no aggregators, and more.
bool serves_any_shape(const Shape& shape);
bool serves_one_lane(const Shape& shape);
bool serves_one_lane_led_by_members(const Shape& shape);
bool serves_one_lane_and_member(const Shape& shape);
bool serves_one_node(const Shape& shape);

inline constexpr std::string_view kServesAnyShape = "any shape with direct visibility";
inline constexpr std::string_view kServesOneLane = "shapes with 1 lane";
inline constexpr std::string_view kServesMemberLeaders =
    "shapes with 1 lane whose leaders own a member";
inline constexpr std::string_view kServesOneNode = "1 node with direct visibility";
inline constexpr std::string_view kServesFlatShape =
    "shapes with 1 lane and 1 member on every node";

/// A form that algorithms of several collectives have: who leads, and what passes inside the nodes.
/// Between the nodes it takes any exchange of its collective.
struct AlgorithmForm {
  Collective collective;
  Schedule (*generate_with)(std::string name, const Shape& shape,
                            const GeneratorParameters& parameters);

  /// Several leaders per node, each of a part of the vector.
  constexpr Algorithm with_many_leaders(std::string_view name, const Exchange& exchange,
                                        std::string_view summary, std::string_view source) const {
    return {.collective = collective,
            .name = name,
            .summary = summary,
            .source = source,
            .order = exchange.order,
            .exchange = exchange,
            .serves = kServesAnyShape,
            .serves_shape = serves_any_shape,
            .generate_with = generate_with,
            .segmentation = exchange.segmentation};
  }

  /// The same with one leader per node, of the whole vector.
  constexpr Algorithm with_one_leader(std::string_view name, const Exchange& exchange,
                                      std::string_view summary, std::string_view source) const {
    Algorithm algorithm = with_many_leaders(name, exchange, summary, source);
    algorithm.serves = kServesOneLane;
    algorithm.serves_shape = serves_one_lane;
    return algorithm;
  }

  /// Several leaders on a single node.
  constexpr Algorithm on_one_node(std::string_view name, std::string_view summary) const {
    Algorithm algorithm = with_many_leaders(name, kNoExchange, summary, "hycoll");
    algorithm.serves = kServesOneNode;
    algorithm.serves_shape = serves_one_node;
    return algorithm;
  }

  /// One leader per node, and lines inside the nodes.
  constexpr Algorithm through_lines(std::string_view name, const Exchange& exchange) const {
    Algorithm algorithm = with_many_leaders(
        name, exchange, "short vectors: data and signal in one cache-line transfer",
        "hycoll; message counters of Blue Gene/P (Mamidala et al.)");
    algorithm.serves = kServesMemberLeaders;
    algorithm.serves_shape = serves_one_lane_led_by_members;
    algorithm.passes_in_lines = true;
    return algorithm;
  }

  /// The same along a tree that follows the node's groups. Sums of groups are summed up, so there
  /// is no tree of operands that is the same whatever the groups.
  constexpr Algorithm through_lines_tree(std::string_view name, const Exchange& exchange) const {
    Algorithm algorithm = through_lines(name, exchange);
    algorithm.summary = "short vectors: cache lines along a tree that follows the node's groups";
    algorithm.source = "hycoll; n-level hierarchies of XHC (Katevenis et al. 2022)";
    if (combines(traits_of(collective))) {
      algorithm.order = std::min(exchange.order, OperandOrder::by_rank);
    }
    algorithm.follows_groups = true;
    return algorithm;
  }
};

template <bool (*also)(const Shape&)>
bool serves_powers_of_two(const Shape& shape) {
  return also(shape) && std::has_single_bit(static_cast<unsigned>(shape.node_count()));
}

/// One node exchanges nothing.
template <bool (*also)(const Shape&)>
bool serves_even_numbers(const Shape& shape) {
  return also(shape) && (shape.node_count() == 1 || shape.node_count() % 2 == 0);
}

/// The algorithm, for the numbers of nodes that its exchange serves; `words` say so if that is not
/// any number.
template <bool (*also)(const Shape&)>
constexpr Algorithm for_nodes_served(Algorithm algorithm, std::string_view words) {
  if (algorithm.exchange.nodes_served == NodesServed::any) return algorithm;
  algorithm.serves = words;
  algorithm.serves_shape = algorithm.exchange.nodes_served == NodesServed::even
                               ? serves_even_numbers<also>
                               : serves_powers_of_two<also>;
  return algorithm;
}

/// The algorithms of each collective, in the order of listings: one file each
/// (*/algorithms.cc).
std::span<const Algorithm> allreduce_algorithms() noexcept;
std::span<const Algorithm> reduce_algorithms() noexcept;
std::span<const Algorithm> reduce_scatter_algorithms() noexcept;
std::span<const Algorithm> scan_algorithms() noexcept;
std::span<const Algorithm> exscan_algorithms() noexcept;
std::span<const Algorithm> broadcast_algorithms() noexcept;
std::span<const Algorithm> allgather_algorithms() noexcept;
std::span<const Algorithm> gather_algorithms() noexcept;
std::span<const Algorithm> scatter_algorithms() noexcept;
std::span<const Algorithm> alltoall_algorithms() noexcept;

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ALGORITHMS_BUILDING_BLOCKS_ALGORITHM_H_
