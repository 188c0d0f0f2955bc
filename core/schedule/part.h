#ifndef HYCOLL_CORE_SCHEDULE_PART_H_
#define HYCOLL_CORE_SCHEDULE_PART_H_

#include <climits>
#include <ranges>

#include "core/schedule/shape.h"

namespace hycoll {

/// Neighbouring numbers, of nodes, members or workers: `for (int node : nodes)`.
struct NumberRange {
  int first = 0;
  int count = 0;

  constexpr bool holds(int number) const noexcept {
    return number >= first && number - first < count;
  }
  constexpr auto begin() const noexcept { return std::views::iota(first, first + count).begin(); }
  constexpr auto end() const noexcept { return std::views::iota(first, first + count).end(); }
  friend constexpr bool operator==(const NumberRange&, const NumberRange&) = default;
};

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

#endif  // HYCOLL_CORE_SCHEDULE_PART_H_
