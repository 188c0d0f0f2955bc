#ifndef HYCOLL_CORE_SCHEDULE_NUMBER_RANGE_H_
#define HYCOLL_CORE_SCHEDULE_NUMBER_RANGE_H_

#include <ranges>

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

}  // namespace hycoll

#endif  // HYCOLL_CORE_SCHEDULE_NUMBER_RANGE_H_
