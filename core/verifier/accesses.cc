#include "core/verifier/accesses.h"

namespace hycoll::verifier {
namespace {

/// Whether the earlier access is over when the later one, by somebody who knows `clock`, begins. A
/// step may write where it reads.
bool is_over(const Access& earlier, const Access& later, std::span<const int> clock) {
  return clock[static_cast<std::size_t>(earlier.component)] >= earlier.completion ||
         (earlier.who == later.who && earlier.run == later.run);
}

}  // namespace

const Access* AccessHistory::add_read(int cell, const Access& access, std::span<const int> clock) {
  const Access& write = cells_[static_cast<std::size_t>(cell)].write;
  if (!is_over(write, access, clock)) return &write;
  add_ordered_read(cell, access);
  return nullptr;
}

void AccessHistory::add_ordered_read(int cell, const Access& access) {
  Cell& at = cells_[static_cast<std::size_t>(cell)];
  int slot = first_free_;
  if (slot == kNone) {
    slot = static_cast<int>(reads_.size());
    reads_.push_back({access, at.first_read});
  } else {
    Read& read = reads_[static_cast<std::size_t>(slot)];
    first_free_ = read.next;
    read = {access, at.first_read};
  }
  at.first_read = slot;
}

const Access* AccessHistory::add_write(int cell, const Access& access, std::span<const int> clock) {
  Cell& at = cells_[static_cast<std::size_t>(cell)];
  if (!is_over(at.write, access, clock)) return &at.write;
  int last = kNone;
  for (int slot = at.first_read; slot != kNone;
       slot = reads_[static_cast<std::size_t>(slot)].next) {
    const Access& read = reads_[static_cast<std::size_t>(slot)].access;
    if (!is_over(read, access, clock)) return &read;
    last = slot;
  }
  if (last != kNone) {
    reads_[static_cast<std::size_t>(last)].next = first_free_;
    first_free_ = at.first_read;
    at.first_read = kNone;
  }
  at.write = access;
  return nullptr;
}

}  // namespace hycoll::verifier
