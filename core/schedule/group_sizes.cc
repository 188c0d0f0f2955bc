#include "core/schedule/group_sizes.h"

#include <utility>

namespace hycoll {

Groups groups_of_sizes(std::span<const std::vector<int>> levels) {
  std::vector<GroupLevel> runs;
  for (const std::vector<int>& sizes : levels) {
    GroupLevel& level = runs.emplace_back();
    for (const int size : sizes) level.push_back({.size = size, .count = 1});
  }
  return Groups(std::move(runs));
}

}  // namespace hycoll
