#ifndef HYCOLL_COLLECTIVES_ALGORITHMS_PARTS_ALGORITHM_H_
#define HYCOLL_COLLECTIVES_ALGORITHMS_PARTS_ALGORITHM_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "collectives/algorithms/exchanges/exchange.h"
#include "core/schedule/schedule.h"

namespace hycoll {

/// What a generator is told besides the shape.
struct GeneratorParameters {
  Exchange exchange = Exchange::recursive_doubling;
  int segments = 1;  ///< Parts into which messages, or a lane's partition, are cut; at least 1.
  int root = 0;      ///< The member that a reduce delivers to, or a broadcast begins at.
};

/// What is promised of the order in which operands are combined. Each kind includes those before.
enum class OperandOrder : std::uint8_t {
  any,        ///< The same bits on every member; which ones may depend on lanes and sizes.
  by_rank,    ///< Operands stand in rank order, as operators that do not commute need.
  canonical,  ///< One tree for every algorithm of the collective that has this order, any lanes,
              ///< workers, segments and sizes: left to right over the members of a node, then the
              ///< binary tree of fold.h over the nodes; for scan and exscan the one in scan.h.
};

std::string_view name_of(OperandOrder order) noexcept;

/// What GeneratorParameters::segments cuts.
enum class Segmentation : std::uint8_t {
  none,       ///< Nothing: the schedule does not depend on it.
  messages,   ///< The messages between nodes.
  partition,  ///< Each lane's partition, on a single node too.
};

/// One algorithm that can be called by name: which shapes it serves, and its generator.
struct Algorithm {
  Collective collective;
  std::string_view name;
  std::string_view summary;  ///< One line, for listings.
  std::string_view source;   ///< The paper, or this project.
  OperandOrder order;
  Exchange exchange;
  std::string_view serves;  ///< The constraint in words, for error messages.
  /// Requires direct visibility; what is served so is served with staged visibility, too.
  bool (*serves_shape)(const Shape& shape);
  Schedule (*generate_with)(std::string name, const Shape& shape,
                            const GeneratorParameters& parameters);
  Segmentation segmentation;

  /// The schedule on one shape; with staged visibility, staged() of the direct one
  /// (core/schedule/staging.h). Throws Error (unsupported) if the algorithm does not serve the
  /// shape with direct visibility.
  Schedule generate(const Shape& shape, int segments = 1, int root = 0) const;
};

/// Shapes that many algorithms serve: direct visibility and no aggregators, and more.
bool serves_any_shape(const Shape& shape);
bool serves_one_lane(const Shape& shape);
bool serves_one_lane_led_by_members(const Shape& shape);
bool serves_one_lane_and_member(const Shape& shape);

inline constexpr std::string_view kServesAnyShape = "any shape with direct visibility";
inline constexpr std::string_view kServesOneLane = "shapes with 1 lane";
inline constexpr std::string_view kServesMemberLeaders =
    "shapes with 1 lane whose leaders own a member";
inline constexpr std::string_view kServesFlatShape =
    "shapes with 1 lane and 1 member on every node";

/// The algorithms of each collective, in the order of listings: one file each
/// (*_algorithms.cc).
std::span<const Algorithm> allreduce_algorithms() noexcept;
std::span<const Algorithm> reduce_algorithms() noexcept;
std::span<const Algorithm> reduce_scatter_algorithms() noexcept;
std::span<const Algorithm> scan_algorithms() noexcept;
std::span<const Algorithm> exscan_algorithms() noexcept;
std::span<const Algorithm> broadcast_algorithms() noexcept;

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ALGORITHMS_PARTS_ALGORITHM_H_
