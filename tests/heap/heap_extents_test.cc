// Extents against a model that keeps one entry per 64 bytes: what is a block, what is free, and
// whether it reads as zeros.
#include <doctest/doctest.h>

#include <cstddef>
#include <map>
#include <random>
#include <vector>

#include "heap/extents.h"

using hycoll::Extents;

namespace {

constexpr std::size_t kUnit = 64;

class Model {
 public:
  Model(std::size_t units, std::size_t origin_units)
      : cells_(units, Cell::zero), origin_units_(origin_units) {}

  enum class Cell { zero, written, block };

  bool is_free(std::size_t first, std::size_t count) const {
    if (first + count > cells_.size()) return false;
    for (std::size_t i = first; i < first + count; ++i) {
      if (cells_[i] == Cell::block) return false;
    }
    return true;
  }
  bool is_zero(std::size_t first, std::size_t count) const {
    for (std::size_t i = first; i < first + count; ++i) {
      if (cells_[i] != Cell::zero) return false;
    }
    return true;
  }
  void fill(std::size_t first, std::size_t count, Cell cell) {
    for (std::size_t i = first; i < first + count; ++i) cells_[i] = cell;
  }
  std::size_t count(Cell cell) const {
    std::size_t total = 0;
    for (const Cell one : cells_) total += one == cell;
    return total;
  }
  // Whether a run of free cells of one kind has room: what coalescing must provide.
  bool has_room(std::size_t units, std::size_t alignment_units) const {
    for (std::size_t first = 0; first + units <= cells_.size(); ++first) {
      if ((origin_units_ + first) % alignment_units != 0) continue;
      bool fits = cells_[first] != Cell::block;
      for (std::size_t i = first; fits && i < first + units; ++i) fits = cells_[i] == cells_[first];
      if (fits) return true;
    }
    return false;
  }

 private:
  std::vector<Cell> cells_;
  std::size_t origin_units_;
};

class Trial {
 public:
  Trial(unsigned seed, std::size_t units)
      : random_(seed),
        origin_units_(seed % 3 * 5),
        extents_(units * kUnit, origin_units_ * kUnit),
        model_(units, origin_units_),
        units_(units) {}

  void step() {
    switch (pick(0, 9)) {
      case 0:
      case 1:
      case 2:
      case 3:
        place();
        break;
      case 4:
      case 5:
      case 6:
        release();
        break;
      case 7:
      case 8:
        resize();
        break;
      default:
        mark_zero();
    }
    check_totals();
  }

  void release_all() {
    while (!blocks_.empty()) release();
    CHECK(extents_.end_of_blocks() == 0);
    check_totals();
    while (extents_.largest_written()) mark_zero();
    const auto all = extents_.place(units_ * kUnit, 1);
    REQUIRE(all);
    CHECK(all->offset == 0);
    CHECK(all->content == Extents::Content::zero);
  }

 private:
  std::size_t pick(std::size_t low, std::size_t high) {
    return std::uniform_int_distribution<std::size_t>(low, high)(random_);
  }

  void place() {
    const std::size_t units = pick(1, pick(1, units_ / 4));
    const std::size_t alignment = std::size_t{1} << pick(0, 5);
    const bool expected = model_.has_room(units, alignment);
    const auto made = extents_.place(units * kUnit, alignment * kUnit);
    REQUIRE(made.has_value() == expected);
    if (!made) return;
    const std::size_t first = made->offset / kUnit;
    CHECK((origin_units_ * kUnit + made->offset) % (alignment * kUnit) == 0);
    CHECK(made->size_bytes == units * kUnit);
    REQUIRE(model_.is_free(first, units));
    CHECK((made->content == Extents::Content::zero) == model_.is_zero(first, units));
    model_.fill(first, units, Model::Cell::block);
    blocks_[first] = units;
  }

  std::map<std::size_t, std::size_t>::iterator any_block() {
    return std::next(blocks_.begin(), static_cast<std::ptrdiff_t>(pick(0, blocks_.size() - 1)));
  }

  void release() {
    if (blocks_.empty()) return;
    const auto block = any_block();
    extents_.release(block->first * kUnit);
    CHECK(extents_.size_of(block->first * kUnit) == 0);
    model_.fill(block->first, block->second, Model::Cell::written);
    blocks_.erase(block);
  }

  void resize() {
    if (blocks_.empty()) return;
    const auto block = any_block();
    const auto [first, old_units] = *block;
    const std::size_t units = pick(1, 2 * old_units);
    const std::size_t more = units > old_units ? units - old_units : 0;
    const bool expected = more == 0 || (model_.is_free(first + old_units, more) &&
                                        same_kind(first + old_units, more));
    if (more > 0) CHECK(extents_.room_behind(first * kUnit, units * kUnit).has_value() == expected);
    REQUIRE(extents_.resize(first * kUnit, units * kUnit) == expected);
    if (!expected) return;
    if (units < old_units) model_.fill(first + units, old_units - units, Model::Cell::written);
    model_.fill(first, units, Model::Cell::block);
    block->second = units;
  }

  bool same_kind(std::size_t first, std::size_t count) const {
    for (std::size_t i = first; i < first + count; ++i) {
      if (model_.is_zero(i, 1) != model_.is_zero(first, 1)) return false;
    }
    return true;
  }

  void mark_zero() {
    const auto range = extents_.largest_written();
    CHECK(range.has_value() == (model_.count(Model::Cell::written) > 0));
    if (!range) return;
    REQUIRE(model_.is_free(range->offset / kUnit, range->size_bytes / kUnit));
    extents_.mark_zero(range->offset);
    model_.fill(range->offset / kUnit, range->size_bytes / kUnit, Model::Cell::zero);
  }

  void check_totals() const {
    REQUIRE(extents_.block_count() == blocks_.size());
    REQUIRE(extents_.block_bytes() == model_.count(Model::Cell::block) * kUnit);
    REQUIRE(extents_.written_free_bytes() == model_.count(Model::Cell::written) * kUnit);
    auto expected = blocks_.begin();
    extents_.for_each_block([&](std::size_t offset, std::size_t size_bytes) {
      REQUIRE(expected != blocks_.end());
      REQUIRE(offset == expected->first * kUnit);
      REQUIRE(size_bytes == expected->second * kUnit);
      REQUIRE(extents_.size_of(offset) == size_bytes);
      ++expected;
    });
    REQUIRE(expected == blocks_.end());
    const std::size_t end =
        blocks_.empty() ? 0 : blocks_.rbegin()->first + blocks_.rbegin()->second;
    REQUIRE(extents_.end_of_blocks() == end * kUnit);
  }

  std::mt19937 random_;
  std::size_t origin_units_;
  Extents extents_;
  Model model_;
  std::size_t units_;
  std::map<std::size_t, std::size_t> blocks_;
};

}  // namespace

TEST_CASE("random operations agree with the model, and the whole range comes back") {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    Trial trial(seed, 16 + seed * 5);
    for (int i = 0; i < 400; ++i) trial.step();
    trial.release_all();
  }
}

TEST_CASE("a written range is taken before one without pages, and the best fit among them") {
  Extents extents(4096);
  const auto first = extents.place(1024, 64);
  const auto wall = extents.place(64, 64);
  const auto second = extents.place(512, 64);
  const auto end = extents.place(64, 64);
  REQUIRE(end);
  extents.release(first->offset);
  extents.release(second->offset);
  const auto best = extents.place(512, 64);
  CHECK(best->offset == second->offset);
  CHECK(best->content == Extents::Content::any);
  CHECK(wall->offset == 1024);
}

TEST_CASE("what does not fit is refused") {
  Extents extents(4096);
  CHECK_FALSE(extents.place(4097, 1));
  CHECK_FALSE(extents.place(SIZE_MAX, 1));
  CHECK(extents.place(4096, 1));
  CHECK_FALSE(extents.place(1, 1));
}
