#include "collectives/selection/tuning_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>

#include "collectives/algorithms/registry.h"
#include "core/base/digest.h"
#include "core/base/errors.h"
#include "core/base/json_file.h"

namespace hycoll {
namespace {

using TuningJson = nlohmann::ordered_json;

constexpr JsonFileKind kTuningFile{
    .name = "tuning file", .key = kTuningKey, .version = kTuningFileVersion};

/// A cell of a file, and where it stands.
class CellReader {
 public:
  CellReader(const TuningJson& cell, std::string place) : cell_(cell), place_(std::move(place)) {
    if (!cell.is_object()) fail_in_json(place_, json_shown(cell) + "; expected an object");
  }

  const std::string& text(const char* key) const {
    const TuningJson& value = at(key, "a text");
    if (!value.is_string()) refuse(key, value, "a text");
    return value.get_ref<const std::string&>();
  }

  std::size_t number(const char* key, std::size_t least, std::size_t most) const {
    const std::string expected = fmt::format("a whole number from {} to {}", least, most);
    const TuningJson& value = at(key, expected);
    if (!value.is_number_integer() || value < least || value > most) refuse(key, value, expected);
    return value.get<std::size_t>();
  }
  int small_number(const char* key) const { return static_cast<int>(number(key, 1, kMostOfAKind)); }

  [[noreturn]] void refuse(const char* key, const TuningJson& value,
                           std::string_view expected) const {
    fail_in_json(place_, fmt::format("{} is {}; expected {}", key, json_shown(value), expected));
  }

 private:
  static constexpr std::size_t kMostOfAKind = 1'000'000;

  const TuningJson& at(const char* key, std::string_view expected) const {
    const auto found = cell_.find(key);
    if (found != cell_.end()) return *found;
    fail_in_json(place_, fmt::format("{} is missing; expected {}", key, expected));
  }

  const TuningJson& cell_;
  std::string place_;
};

TunedShape shape_of(const CellReader& cell) {
  const std::string& name = cell.text("collective");
  const auto collective = collective_named(name);
  if (!collective) cell.refuse("collective", name, "one of hycoll's, such as allreduce");
  const std::string& memory = cell.text("memory");
  const bool is_direct = memory == tuning_name_of(Visibility::direct);
  if (!is_direct && memory != tuning_name_of(Visibility::staged)) {
    cell.refuse("memory", memory, "direct or staged");
  }
  return {.collective = *collective,
          .visibility = is_direct ? Visibility::direct : Visibility::staged,
          .nodes = cell.small_number("nodes"),
          .members = cell.small_number("members"),
          .workers = cell.small_number("workers")};
}

TunedCell tuned_cell_of(const CellReader& cell, Collective collective) {
  constexpr std::size_t kMostLanes = 4096;
  const std::string& name = cell.text("algorithm");
  const Algorithm* const algorithm = algorithm_named(collective, name);
  if (algorithm == nullptr) {
    cell.refuse("algorithm", name,
                fmt::format("one of {}, as `hycoll algorithms` lists them", name_of(collective)));
  }
  return {.size_bytes = cell.number("bytes", 1, std::numeric_limits<std::int64_t>::max()),
          .algorithm = algorithm->name,
          .lanes = static_cast<int>(cell.number("lanes", 1, kMostLanes))};
}

}  // namespace

std::string_view tuning_name_of(Visibility visibility) noexcept {
  return visibility == Visibility::direct ? "direct" : "staged";
}

std::shared_ptr<const TuningTable> TuningTable::read(std::string_view text,
                                                     const std::string& file) {
  const TuningJson document = read_json_file(text, file, kTuningFile);
  for (const auto& [key, value] : document.items()) {
    if (key == kTuningKey || key == "about") continue;
    if (key != "cells") {
      fail_in_json(
          file, fmt::format("key '{}' is not known; expected {}, about, cells", key, kTuningKey));
    }
    if (!value.is_array()) {
      fail_in_json(file, fmt::format("cells is {}; expected an array", json_shown(value)));
    }
  }
  const auto cells = document.find("cells");
  if (cells == document.end()) fail_in_json(file, "cells is missing; expected an array of objects");
  auto table = std::make_shared<TuningTable>();
  Digest digest;
  std::size_t number = 0;
  for (const TuningJson& value : *cells) {
    const CellReader reader(value, fmt::format("{}: cell {}", file, ++number));
    const TunedShape shape = shape_of(reader);
    const TunedCell cell = tuned_cell_of(reader, shape.collective);
    std::vector<TunedCell>& row = table->cells_[shape];
    const auto place = std::ranges::lower_bound(row, cell.size_bytes, {}, &TunedCell::size_bytes);
    if (place != row.end() && place->size_bytes == cell.size_bytes) {
      fail_in_json(fmt::format("{}: cell {}", file, number),
                   fmt::format("another cell has the same call of {} bytes; expected one, and "
                               "`hycoll tune --merge` takes the later one of several files",
                               cell.size_bytes));
    }
    row.insert(place, cell);
  }
  for (const auto& [shape, row] : table->cells_) {
    for (const TunedCell& cell : row) {
      for (const int part : {static_cast<int>(shape.collective), static_cast<int>(shape.visibility),
                             shape.nodes, shape.members, shape.workers, cell.lanes}) {
        digest.add(static_cast<std::uint64_t>(part));
      }
      digest.add(std::uint64_t{cell.size_bytes});
      digest.add(cell.algorithm);
    }
  }
  table->digest_ = digest.value();
  return table;
}

const TunedCell* TuningTable::find(const TunedShape& shape, std::size_t size_bytes) const {
  const auto found = cells_.find(shape);
  if (found == cells_.end() || size_bytes == 0) return nullptr;
  const std::vector<TunedCell>& row = found->second;
  const auto size = static_cast<double>(size_bytes);
  const auto ratio_to = [&](const TunedCell& cell) {
    const auto measured = static_cast<double>(cell.size_bytes);
    return std::max(measured / size, size / measured);
  };
  const TunedCell& nearest = *std::ranges::min_element(row, {}, ratio_to);
  const bool is_outside = size_bytes < row.front().size_bytes || size_bytes > row.back().size_bytes;
  return is_outside && ratio_to(nearest) > 2 ? nullptr : &nearest;
}

}  // namespace hycoll
