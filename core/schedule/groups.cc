#include "core/schedule/groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "core/base/errors.h"

namespace hycoll {
namespace {

Error invalid(const std::string& what) {
  return Error(ErrorKind::invalid_argument, "groups: " + what);
}

/// Throws Error unless an int counts the workers of the level.
int workers_of(const GroupLevel& level) {
  std::int64_t workers = 0;
  for (const EqualGroups& run : level) {
    if (run.size < 1 || run.count < 1) {
      throw invalid(
          fmt::format("{} groups of {} workers; both have to be at least 1", run.count, run.size));
    }
    workers += std::int64_t{run.size} * run.count;
    if (workers > std::numeric_limits<int>::max()) throw invalid("more workers than an int counts");
  }
  return static_cast<int>(workers);
}

GroupLevel joined(const GroupLevel& level) {
  GroupLevel runs;
  for (const EqualGroups& run : level) {
    if (!runs.empty() && runs.back().size == run.size) {
      runs.back().count += run.count;
    } else {
      runs.push_back(run);
    }
  }
  return runs;
}

bool tells_something(const GroupLevel& level) {
  const bool is_one_group = level.size() == 1 && level.front().count == 1;
  const bool has_single_workers = level.size() == 1 && level.front().size == 1;
  return !level.empty() && !is_one_group && !has_single_workers;
}

/// Where each group of a level ends.
std::vector<int> ends_of(const GroupLevel& level) {
  std::vector<int> ends;
  int end = 0;
  for (const EqualGroups& run : level) {
    for (int group = 0; group < run.count; ++group) ends.push_back(end += run.size);
  }
  return ends;
}

void check_whole(const GroupLevel& inner, const GroupLevel& outer) {
  const std::vector<int> inner_ends = ends_of(inner);
  for (const int end : ends_of(outer)) {
    if (std::ranges::binary_search(inner_ends, end)) continue;
    throw invalid(
        fmt::format("a group ends behind worker {}, where no group inside it ends; "
                    "groups consist of whole inner ones",
                    end - 1));
  }
}

}  // namespace

Groups::Groups(std::vector<GroupLevel> levels) {
  const int expected = levels.empty() ? 0 : workers_of(levels.front());
  const GroupLevel* inner = nullptr;
  for (GroupLevel& level : levels) {
    const int workers = workers_of(level);
    if (workers != expected) {
      throw invalid(
          fmt::format("a level has {} workers, the one inside {}; give all levels the "
                      "same workers",
                      workers, expected));
    }
    level = joined(level);
    if (inner != nullptr) check_whole(*inner, level);
    inner = &level;
  }
  for (GroupLevel& level : levels) {
    if (!tells_something(level) || (!levels_.empty() && levels_.back() == level)) continue;
    levels_.push_back(std::move(level));
  }
}

Groups Groups::of_sizes(int worker_count, std::span<const int> sizes) {
  if (worker_count < 1) throw invalid(fmt::format("of {} workers; give at least 1", worker_count));
  std::vector<GroupLevel> levels;
  int inner = 1;
  for (const int size : sizes) {
    if (size < 1 || size % inner != 0) {
      throw invalid(
          fmt::format("groups of {} workers cannot consist of groups of {}; give each "
                      "level a multiple of the size inside it",
                      size, inner));
    }
    GroupLevel level;
    if (worker_count >= size) level.push_back({size, worker_count / size});
    if (worker_count % size > 0) level.push_back({worker_count % size, 1});
    levels.push_back(std::move(level));
    inner = size;
  }
  return Groups(std::move(levels));
}

int Groups::worker_count() const noexcept {
  int workers = 0;
  if (is_flat()) return workers;
  for (const EqualGroups& run : levels_.front()) workers += run.size * run.count;
  return workers;
}

std::vector<NumberRange> Groups::within(int level, NumberRange workers) const {
  std::vector<NumberRange> groups;
  const int end = workers.first + workers.count;
  int run_first = 0;
  for (const EqualGroups& run : levels_[static_cast<std::size_t>(level)]) {
    const int run_end = run_first + run.size * run.count;
    int first = std::max(workers.first, run_first);
    while (first < std::min(end, run_end)) {
      const int group_end = first - (first - run_first) % run.size + run.size;
      groups.push_back({first, std::min(group_end, end) - first});
      first = group_end;
    }
    run_first = run_end;
  }
  return groups;
}

Groups Groups::of_first(int worker_count) const {
  std::vector<GroupLevel> levels;
  for (int level = 0; level < level_count(); ++level) {
    GroupLevel kept;
    for (const NumberRange& group : within(level, {0, worker_count})) {
      kept.push_back({.size = group.count, .count = 1});
    }
    levels.push_back(std::move(kept));
  }
  return Groups(std::move(levels));
}

std::string to_text(const Groups& groups) {
  if (groups.is_flat()) return "flat";
  std::string text;
  for (const GroupLevel& level : groups.levels()) {
    std::string runs;
    for (const EqualGroups& run : level) {
      runs += fmt::format("{}{}x{}", runs.empty() ? "" : "+", run.size, run.count);
    }
    text += fmt::format("{}{}", text.empty() ? "" : ", ", runs);
  }
  return text;
}

}  // namespace hycoll
