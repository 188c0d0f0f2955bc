#ifndef HYCOLL_CORE_SCHEDULE_SHAPE_PART_H_
#define HYCOLL_CORE_SCHEDULE_SHAPE_PART_H_

#include <climits>

#include "core/schedule/number_range.h"
#include "core/schedule/shape.h"

namespace hycoll {

/// All nodes of a shape, as many as there are.
inline constexpr NumberRange kAllNodes{.first = 0, .count = INT_MAX};
constexpr NumberRange only_node(int node) noexcept { return {.first = node, .count = 1}; }

/// Neighbouring nodes of a shape, and what belongs to them: those whose steps a schedule has.
struct ShapePart {
  NumberRange nodes;
  NumberRange members;
  NumberRange workers;
  friend bool operator==(const ShapePart&, const ShapePart&) = default;
};

/// Requires a node that exists; of kAllNodes as many as there are.
ShapePart part_of(const Shape& shape, NumberRange nodes);

}  // namespace hycoll

#endif  // HYCOLL_CORE_SCHEDULE_SHAPE_PART_H_
