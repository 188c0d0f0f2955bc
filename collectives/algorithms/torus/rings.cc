// Rings of a torus that share no link, by arithmetic.
//
// Idea: a torus that is two nodes longer has two layers more, which every ring passes as it passes
// the two before them. So the rings of a few small tori tell those of all others: a node looks up
// where each ring goes from the node of the small torus that stands for it. Lengths are at least 3;
// of each the first 2 places (3, if it is even) and the last one stand for themselves, those
// between them in turn for two places of the small torus.
//
// Source: that three dimensions have three such rings, and two have two, is a theorem of M. F.
// Foregger, Hamiltonian decompositions of products of cycles, Discrete Mathematics 24, 1978. The
// tables are this project's: two rings, then a third dimension along the first of them, then
// squares whose sides change hands, found by a search over those that are the same in all repeated
// layers. Not every such table makes one ring of each kind in longer tori, too: that these do,
// tests/collectives/algorithms/torus_test.cc shows by walking the rings of thousands.
//
// Dimensions of two nodes have one link: two of them are a circle of four nodes. One that is left
// over is two layers, whose rings are alike. Each ring is cut open in both at the same link, and
// passes from one layer to the other there; what it passes forwards in the first layer it passes
// backwards in the second one. Its links are used by one ring at most, for the places differ.
//
// Example, 3 x 2: nodes 0 to 2 are a circle, and so are 3 to 5. The ring leaves 0 for 3, goes from
// there backwards by 5 to 4, and by 1 and 2 back to 0.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "collectives/algorithms/torus/torus.h"
#include "core/base/errors.h"

namespace hycoll {
namespace {

// Where rings go from each node of the small tori: one further in the dimension of a small letter,
// one back in that of a capital one. Their lengths are 5, or 6 for even ones, the odd ones first.

/// By how many of both lengths are even.
constexpr std::array<std::array<std::string_view, 2>, 3> kTwoRings = {{
    {{"xxYxyYXxyyyYYyxXYYyyxYYyx", "XyxyYyxYxxxxxxyyXXXXyyXXX"}},
    {{"XYyXyxYyYxyXXYXyxxxYyYXXXyxxxY", "xxYxYYxxxyYYxyxxYYyxXXYyYxYYyx"}},
    {{"xxYyYyYXXXYXxyxxxxXyYXXXYyxxxxXXYyXy", "XYyXXXyYyxyxyYXYyYxxyYyYyXXYyYyxxYxY"}},
}};

/// By how many of the three lengths are even.
constexpr std::array<std::array<std::string_view, 3>, 4> kThreeRings = {{
    {{"YzxzZZxZxZZZzZzzYZzxXZzZy"
      "ZYZYyZXXXXZXyZyxYZYZXZyZy"
      "ZYXYXYXyXYxYyYYYXyYYZYyYY"
      "XYXYXXXyXyxYyYyYXyYyZYyYZ"
      "ZzXXXYzyzyyYzYzXzyzyZYzYx",
      "xyZyyYzYzzYxxxxZzXXXYXXXX"
      "XXxzZyzZzxXZXXXyxxxxxxxxZ"
      "xZZzxyzZzxXyXXXyxxxxxxxxy"
      "yXZzyyzZzZXyXXXyxxxxxxxxy"
      "XZZzYyxZxxXyXXXyxxxzyyXXX",
      "XYXYXXXyXyxYyYyYXyYyzYyYZ"
      "yyXyXzyYyzyzYzYzyzyzyzYzY"
      "YzyXZzYXYXZzZzZzZzZzXzZzZ"
      "ZyxyZzxYxzZzZzZzZzZzyzZzx"
      "zXYyZxYYXYZXZyZxZYZYzXZyZ"}},
    {{"xxYxyYXxyyyYYyxXYYyyZYYyx"
      "YzzYxzXzXYXyyzzzzzYxXyyzz"
      "XyzZyzZzZZZZZzzzzzZZxZZzz"
      "ZzzZxxYzZYZZZzzzzzZZZXZzz"
      "XyzZyzXzZZZZZzzzzzZZxZZzz"
      "ZyXZXYyyZYZZZYYYyyZZZzZYY",
      "YYyXZXYXYXYXXXXxxxxYYxxxy"
      "xyxyzyxYxxxxxxyyXXXXxxxxy"
      "ZzxyYyxYxxxxxxyyXXXXyyXXX"
      "YYyXzXZXYXYXXXXxxxxYYxxxy"
      "ZzxyYyxYxxxxxxyyXXXXyyXXX"
      "zXyXYXZXYXYXXXXxxxxYYXXXX",
      "XZzZzzZzZZZzZzzzZzZZxzZzz"
      "ZZXZXYZyZZZYZYYYZyZZZYZYY"
      "xxYxzYXxyyyYYyxXYYyyZYYyx"
      "yXXYXzyyXZXyyYYYyyYxXZyYY"
      "xxYxzYZxyyyYYyxXYYyyZYYyx"
      "YYzYxzXzXZXzyzzzYzYxXZyzz"}},
    {{"xZzYxZzZXZYXzZzZzZzZzZzZzzzZzZ"
      "XXxZZyXxyZxZYZYZXZyZxZYZYXyZXZ"
      "XYXXXxxyxyzXyYyxYyYyYXyYyyYxYx"
      "YxxxxZXXyXzyYyYyXYyYxyYyYXyYXY"
      "XYXXXxxyxyzZyYyxYyYyYXyYyyYxYx"
      "YxzxxZzXzXxyzyzyzYzYzyzyzzzYyY",
      "yzYyYXYYzYXYXXXYxxxxXYXXXYXXZX"
      "ZyyYyYyZYxyxxxxXyXXXyxxxxzxyxy"
      "yXYyYXYYXYXzXXXYxxxxXYXXXYZXyX"
      "xyyYyYZxYzyxxxxXyXXXyxxxxxxyxy"
      "yXYyYZYYXYXzXXXYxxxxXYXXXYXXyX"
      "xyyzyYZxYxyxxxxXyXXXyxxxxxxyxy",
      "YxxxZzXXyXZyYyYyXYyYxyYyYXyYXY"
      "zzXzXzzXzXZyzyzyzYzYzyzyzyXYzY"
      "zzZzZyyZzZZZzZzZzZzZzZzZzzXZzZ"
      "zzZzZXyZzZYXzZzZzZzZzZzZzzZZzZ"
      "zzZzZyZZzxxYzZzZzZzZzZzZzzZZzZ"
      "zYZXZxyZyZYzYZYZXZyZxZYZYXZZXZ"}},
    {{"zZzZzZxYZzZzxZYZzZXzZzZzzZzZzZxxZzZz"
      "xyxZxZZzyXZXYXyZyZZXZYZYxZyZyZZXXYZY"
      "YXXXYXyzxxxxXZXyXyxyYyYxXXYyYyxzYyYy"
      "YXXXYXXzZXXXYxyyXxXXyyYYxYyyYxXzZyYY"
      "xxxYxZyzxxxxXZXxyyxyYYyxXXYYyyyzYYyx"
      "zxzYzYXXZzXzzxzxzxyzyzyxzYzYzYyXZzyz",
      "XzyyXyYyzyYyyyzXYXZyyXXXyyxxxxXyyXXX"
      "yzYxyxxyYYyYZyxYxYzxxxxxXyXXXXzzxxxx"
      "XyyxyzYXyYyzZXxYxYyYXXXXZxxxxYXYyXXX"
      "yYYyXxxYYyYyyXYXYXyYXXXXyxxxxYzYxxxz"
      "XyyxyzYXyYyzxyxYxYYxxxxyYyXXXXYyyXXX"
      "yyYyXxzzYyYyxyYXYXYxxxxzXyXXXXYyxxxx",
      "xxxYxYXzXXXXYxyxyxyXXYyYxxyYyYyZzYyY"
      "YYXzYzzxzxzxXZXzXzYyzyzyYzYzYzYZzyzy"
      "ZzZzZyzyXZzZyzZzZzzZzZzZyzZzZzzyXZzZ"
      "ZzZzZYzxzZzYZYZzZzzZzZzZZzZzZzxxzZzZ"
      "ZzZzZyzyXZzZZzZzZzzZzZzZZzZzZzzXXZzy"
      "ZXZXZXyxxZxYZYZyZyxZYZYZZXZyZyzxYZYZ"}},
}};

constexpr std::string_view kSteps = "xXyYzZ";

std::size_t as_index(int number) { return static_cast<std::size_t>(number); }

bool is_even(int number) { return number % 2 == 0; }

/// Of the small torus that stands for those of this length.
int small_length(int length) { return is_even(length) ? 6 : 5; }

/// The place in a small torus that stands for one in a circle of this length.
int small_place(int place, int length) {
  const int small = small_length(length);
  if (place == length - 1) return small - 1;
  const int repeated = small - 3;
  return place < repeated ? place : repeated + (place - repeated) % 2;
}

}  // namespace

TorusRings::TorusRings(const TorusDimensions& torus) {
  std::vector<int> strides_of_two;
  int stride = 1;
  for (const int length : torus.length) {
    if (length == 2) strides_of_two.push_back(stride);
    if (length > 2) circles_.push_back({.length = length, .strides = {stride, 0}});
    stride *= length;
  }
  if (strides_of_two.size() >= 2) {
    circles_.push_back({.length = 4, .strides = {strides_of_two[0], strides_of_two[1]}});
  }
  if (strides_of_two.size() % 2 == 1) layer_stride_ = strides_of_two.back();
  std::ranges::stable_sort(circles_, {},
                           [](const Circle& circle) { return is_even(circle.length); });
  if (layer_stride_ == 0) return;
  for (int node = 0; std::cmp_less(turns_.size(), count()); ++node) {
    const int ring = static_cast<int>(turns_.size());
    const Turn turn{.from = node, .to = next_in_layer(ring, node)};
    const bool is_free = std::ranges::none_of(turns_, [&](const Turn& other) {
      return turn.from == other.from || turn.from == other.to || turn.to == other.from ||
             turn.to == other.to;
    });
    if (is_free && !is_in_second_layer(node)) turns_.push_back(turn);
  }
}

int TorusRings::count() const noexcept { return std::max(1, static_cast<int>(circles_.size())); }

int TorusRings::next(int ring, int node) const {
  if (layer_stride_ == 0) return next_in_layer(ring, node);
  const Turn& turn = turns_[as_index(ring)];
  if (!is_in_second_layer(node)) {
    return node == turn.from ? node + layer_stride_ : next_in_layer(ring, node);
  }
  return node == turn.to + layer_stride_ ? turn.to : previous_in_layer(ring, node);
}

int TorusRings::previous(int ring, int node) const {
  if (layer_stride_ == 0) return previous_in_layer(ring, node);
  const Turn& turn = turns_[as_index(ring)];
  if (!is_in_second_layer(node)) {
    return node == turn.to ? node + layer_stride_ : previous_in_layer(ring, node);
  }
  return node == turn.from + layer_stride_ ? turn.from : next_in_layer(ring, node);
}

bool TorusRings::is_in_second_layer(int node) const {
  return layer_stride_ > 0 && node / layer_stride_ % 2 == 1;
}

/// Nodes (0, 0), (1, 0), (1, 1), (0, 1) of two dimensions of two make a circle.
int TorusRings::place(const Circle& circle, int node) const {
  const auto [first, second] = circle.strides;
  if (second == 0) return node / first % circle.length;
  const int one = node / first % 2;
  return node / second % 2 == 0 ? one : 3 - one;
}

int TorusRings::moved(const Circle& circle, int node, int step) const {
  const auto [first, second] = circle.strides;
  const int from = place(circle, node);
  const int to = (from + step + circle.length) % circle.length;
  if (second == 0) return node + (to - from) * first;
  const auto offset = [&](int at) {
    return (at == 1 || at == 2 ? first : 0) + (at >= 2 ? second : 0);
  };
  return node + offset(to) - offset(from);
}

TorusRings::Step TorusRings::step(int ring, int node) const {
  if (circles_.size() == 1) return {.circle = 0, .by = 1};
  int small = 0;
  int small_stride = 1;
  std::size_t evens = 0;
  for (const Circle& circle : circles_) {
    small += small_place(place(circle, node), circle.length) * small_stride;
    small_stride *= small_length(circle.length);
    if (is_even(circle.length)) ++evens;
  }
  const std::string_view steps =
      circles_.size() == 2 ? kTwoRings[evens][as_index(ring)] : kThreeRings[evens][as_index(ring)];
  const std::size_t letter = kSteps.find(steps[as_index(small)]);
  return {.circle = letter / 2, .by = letter % 2 == 0 ? 1 : -1};
}

int TorusRings::next_in_layer(int ring, int node) const {
  if (circles_.empty()) return node;
  const Step here = step(ring, node);
  return moved(circles_[here.circle], node, here.by);
}

int TorusRings::previous_in_layer(int ring, int node) const {
  if (circles_.empty()) return node;
  for (std::size_t circle = 0; circle < circles_.size(); ++circle) {
    for (const int by : {1, -1}) {
      const int before = moved(circles_[circle], node, -by);
      if (step(ring, before) == Step{.circle = circle, .by = by}) return before;
    }
  }
  HYCOLL_ASSERT(false, "some neighbour is the one before");
}

int LaneRings::first(int lane) const {
  return static_cast<int>(std::int64_t{node_count_} * lane / lane_count_);
}

int LaneRings::next(int lane, int node) const {
  return is_reversed(lane) ? rings_.previous(ring(lane), node) : rings_.next(ring(lane), node);
}

int LaneRings::previous(int lane, int node) const {
  return is_reversed(lane) ? rings_.next(ring(lane), node) : rings_.previous(ring(lane), node);
}

}  // namespace hycoll
