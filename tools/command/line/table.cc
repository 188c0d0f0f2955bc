#include "tools/command/line/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "core/base/errors.h"

namespace hycoll::command {
namespace {

/// Code points: what a terminal shows in one column each, for the texts of this command.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) >> 6) != 2; }));
}

}  // namespace

void TextTable::add_row(std::vector<std::string> cells) {
  HYCOLL_ASSERT(cells.size() == rows_.front().size(), "a row has as many cells as the header");
  rows_.push_back(std::move(cells));
}

std::string TextTable::to_text() const {
  std::vector<std::size_t> widths(rows_.front().size(), 0);
  for (const auto& row : rows_) {
    for (std::size_t column = 0; column < row.size(); ++column) {
      widths[column] = std::max(widths[column], width_of(row[column]));
    }
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t column = 0; column < row.size(); ++column) {
      const std::string blanks(widths[column] - width_of(row[column]), ' ');
      if (column > 0) line += "  ";
      line += column == 0 ? row[column] + blanks : blanks + row[column];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

std::string time_text(double time_us) {
  if (!std::isfinite(time_us)) return "-";
  const double magnitude = time_us > 0 ? std::floor(std::log10(time_us)) : 0;
  const int decimals = std::clamp(2 - static_cast<int>(magnitude), 0, 4);
  return fmt::format("{:.{}f}", time_us, decimals);
}

std::string ratio_text(double ratio) {
  return std::isfinite(ratio) && ratio > 0 ? fmt::format("{:.2f}x", ratio) : "-";
}

}  // namespace hycoll::command
