#include "tools/command/measuring/agenda.h"

#include <utility>

namespace hycoll::command {

SizesAgenda::SizesAgenda(const BenchSettings& settings, bool speaks,
                         std::function<void(const BenchRow&)> on_row)
    : settings_(settings), speaks_(speaks), on_row_(std::move(on_row)) {}

std::optional<BenchTask> SizesAgenda::next() {
  if (position_ == settings_.sizes_bytes.size()) return std::nullopt;
  return BenchTask{settings_.sizes_bytes[position_++], settings_.measurement};
}

void SizesAgenda::measured(const BenchRow& row) {
  if (speaks_) on_row_(row);
}

}  // namespace hycoll::command
