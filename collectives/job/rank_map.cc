#include "collectives/job/rank_map.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <queue>
#include <set>
#include <utility>

#include "core/base/errors.h"

namespace hycoll {

void append(std::vector<RankPattern>& runs, int first_rank, int width) {
  if (!runs.empty()) {
    RankPattern& last = runs.back();
    if (last.count == 1 && first_rank == last.first_rank + last.width) {
      last.width += width;
      return;
    }
    const int distance = first_rank - last.first_rank;
    if (last.width == width && (last.count == 1 || distance == last.stride * last.count)) {
      if (last.count == 1) last.stride = distance;
      ++last.count;
      return;
    }
  }
  runs.push_back({.first_rank = first_rank, .width = width, .stride = 0, .count = 1});
}

RankMap RankMap::constant(int size, int value) {
  Builder builder;
  if (size > 0) builder.add(value, size);
  return builder.build();
}

RankMap RankMap::of(std::span<const int> values) {
  Builder builder;
  for (const int value : values) builder.add(value);
  return builder.build();
}

const RankMap::Run& RankMap::run_of(int rank) const {
  const auto after =
      std::ranges::upper_bound(runs_, rank, {}, [](const Run& run) { return run.first_rank; });
  return *std::prev(after);
}

int RankMap::at(int rank) const {
  HYCOLL_ASSERT(rank >= 0 && rank < size_, "a rank of the map");
  const Run& run = run_of(rank);
  return run.value + (rank - run.first_rank) / run.width % run.values * run.step;
}

int RankMap::distinct_count() const {
  std::set<int> values;
  for (const Run& run : runs_) {
    for (int i = 0; i < run.values; ++i) values.insert(run.value + i * run.step);
  }
  return static_cast<int>(values.size());
}

void RankMap::for_each_stretch(const std::function<void(const RankStretch&)>& visit) const {
  for (const Run& run : runs_) {
    for (int i = 0; i < run.values * run.repeats; ++i) {
      visit({.first_rank = run.first_rank + i * run.width,
             .count = run.width,
             .value = run.value + i % run.values * run.step});
    }
  }
}

bool RankMap::is_constant(int begin, int end) const {
  const Run& run = run_of(begin);
  return (begin - run.first_rank) / run.width == (end - 1 - run.first_rank) / run.width &&
         &run == &run_of(end - 1);
}

std::vector<int> RankMap::packed() const {
  std::vector<int> numbers = {size_};
  for (const Run& run : runs_) {
    numbers.insert(numbers.end(),
                   {run.first_rank, run.value, run.step, run.values, run.width, run.repeats});
  }
  return numbers;
}

RankMap RankMap::unpacked(std::span<const int> packed) {
  RankMap map;
  map.size_ = packed.front();
  map.runs_.reserve(packed.size() / kPackedInts);
  for (std::size_t i = 1; i < packed.size(); i += kPackedInts) {
    map.runs_.push_back({.first_rank = packed[i],
                         .value = packed[i + 1],
                         .step = packed[i + 2],
                         .values = packed[i + 3],
                         .width = packed[i + 4],
                         .repeats = packed[i + 5]});
  }
  return map;
}

void RankMap::Builder::add(int value, int count) {
  if (stretch_.count > 0 && stretch_.value != value) end_stretch();
  if (stretch_.count == 0) stretch_ = {.first_rank = made_.size_, .count = 0, .value = value};
  stretch_.count += count;
  made_.size_ += count;
}

void RankMap::Builder::end_stretch() {
  const bool goes_on = row_.values > 0 && row_.width == stretch_.count &&
                       (row_.values == 1 || stretch_.value == row_.value + row_.step * row_.values);
  if (goes_on) {
    if (row_.values == 1) row_.step = stretch_.value - row_.value;
    ++row_.values;
  } else {
    end_row();
    row_ = {.first_rank = stretch_.first_rank,
            .value = stretch_.value,
            .step = 0,
            .values = 1,
            .width = stretch_.count,
            .repeats = 1};
  }
  stretch_.count = 0;
}

void RankMap::Builder::end_row() {
  if (row_.values == 0) return;
  if (!made_.runs_.empty() && made_.runs_.back().is_like(row_)) {
    ++made_.runs_.back().repeats;
  } else {
    made_.runs_.push_back(row_);
  }
  row_.values = 0;
}

RankMap RankMap::Builder::build() {
  if (stretch_.count > 0) end_stretch();
  end_row();
  made_.runs_.shrink_to_fit();
  return std::exchange(made_, {});
}

namespace {

constexpr std::size_t kDescriptionInts = 5;

/// The stretches of a machine's description, in the order of their ranks.
struct Cursor {
  RankPattern run;
  int value;
  int next = 0;  ///< Of the run's `count`.

  int first_rank() const noexcept { return run.first_rank + next * run.stride; }
};

bool comes_later(const Cursor& left, const Cursor& right) {
  return left.first_rank() > right.first_rank();
}

}  // namespace

std::vector<int> describe_ranks(std::span<const int> ranks, std::span<const int> values) {
  // Each number by itself: where numbers alternate, the ranks of each still are regular.
  std::map<int, std::vector<RankStretch>> stretches_of;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    std::vector<RankStretch>& stretches = stretches_of[values[i]];
    const bool goes_on =
        !stretches.empty() && ranks[i] == stretches.back().first_rank + stretches.back().count;
    if (!goes_on) stretches.push_back({.first_rank = ranks[i], .count = 0, .value = values[i]});
    ++stretches.back().count;
  }
  std::vector<int> description;
  for (const auto& [value, stretches] : stretches_of) {
    std::vector<RankPattern> runs;
    for (const RankStretch& stretch : stretches) append(runs, stretch.first_rank, stretch.count);
    for (const RankPattern& run : runs) {
      description.insert(description.end(),
                         {value, run.first_rank, run.width, run.stride, run.count});
    }
  }
  return description;
}

RankMap merge_descriptions(std::span<const std::vector<int>> descriptions) {
  std::priority_queue<Cursor, std::vector<Cursor>, decltype(&comes_later)> cursors(comes_later);
  for (const std::vector<int>& numbers : descriptions) {
    for (std::size_t i = 0; i < numbers.size(); i += kDescriptionInts) {
      const RankPattern run{.first_rank = numbers[i + 1],
                            .width = numbers[i + 2],
                            .stride = numbers[i + 3],
                            .count = numbers[i + 4]};
      cursors.push({.run = run, .value = numbers[i]});
    }
  }
  RankMap::Builder builder;
  while (!cursors.empty()) {
    Cursor cursor = cursors.top();
    cursors.pop();
    builder.add(cursor.value, cursor.run.width);
    if (++cursor.next < cursor.run.count) cursors.push(cursor);
  }
  return builder.build();
}

}  // namespace hycoll
