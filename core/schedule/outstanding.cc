#include "core/schedule/outstanding.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

namespace hycoll {
namespace {

/// Whether both touch some chunk, and one of them writes it.
bool conflict(const MemoryAccess& earlier, const MemoryAccess& later) noexcept {
  return earlier.memory == later.memory && (earlier.writes || later.writes) &&
         earlier.chunk_count > 0 && earlier.first_chunk < later.first_chunk + later.chunk_count &&
         later.first_chunk < earlier.first_chunk + earlier.chunk_count;
}

}  // namespace

void OutstandingSteps::add(int step, const MemoryAccess& access) {
  longest_ = std::max(longest_, access.chunk_count);
  ++count_of(access.memory);
  entries_.push_back({.access = access, .step = step, .next = kNone});
  if (is_indexed() && entries_.size() <= heads_.size()) {
    link(entries_.size() - 1);
  } else if (entries_.size() > kFew) {
    index_all();
  }
}

void OutstandingSteps::find_conflicts(const MemoryAccess& access, std::vector<int>& steps) const {
  if (!is_in_use(access.memory)) return;
  const int first = access.first_chunk - longest_ + 1;
  const int end = access.first_chunk + access.chunk_count;
  if (!is_indexed() || std::cmp_greater_equal(end - first, entries_.size())) {
    for (const Entry& entry : entries_) {
      if (conflict(entry.access, access)) steps.push_back(entry.step);
    }
    return;
  }
  for (int chunk = first; chunk < end; ++chunk) {
    for (int at = head_of(access.memory, chunk); at != kNone;) {
      const Entry& entry = entries_[static_cast<std::size_t>(at)];
      // Other chunks may have the same place.
      const bool begins_here = entry.access.first_chunk == chunk;
      if (begins_here && conflict(entry.access, access)) steps.push_back(entry.step);
      at = entry.next;
    }
  }
}

void OutstandingSteps::drop(int step, const MemoryAccess& access) {
  if (is_indexed()) {
    for (int at = head_of(access.memory, access.first_chunk); at != kNone;) {
      const auto index = static_cast<std::size_t>(at);
      if (entries_[index].step == step) return remove(index);
      at = entries_[index].next;
    }
    return;
  }
  const auto found = std::ranges::find(entries_, step, &Entry::step);
  if (found != entries_.end()) remove(static_cast<std::size_t>(found - entries_.begin()));
}

void OutstandingSteps::take_all(std::vector<int>& steps) {
  for (const Entry& entry : entries_) {
    steps.push_back(entry.step);
    --count_of(entry.access.memory);
  }
  entries_.clear();
  heads_.clear();
  longest_ = 0;
}

int& OutstandingSteps::count_of(int memory) {
  const auto index = static_cast<std::size_t>(memory);
  if (counts_.size() <= index) counts_.resize(index + 1, 0);
  return counts_[index];
}

bool OutstandingSteps::is_in_use(int memory) const noexcept {
  const auto index = static_cast<std::size_t>(memory);
  return index < counts_.size() && counts_[index] > 0;
}

std::size_t OutstandingSteps::place_of(int memory, int chunk) const noexcept {
  constexpr std::uint32_t kGoldenRatio = 0x9e3779b9;
  // Neighbouring chunks have neighbouring places.
  const auto number =
      static_cast<std::uint32_t>(memory) * kGoldenRatio + static_cast<std::uint32_t>(chunk);
  return number & (heads_.size() - 1);
}

int& OutstandingSteps::head_of(int memory, int chunk) { return heads_[place_of(memory, chunk)]; }

int OutstandingSteps::head_of(int memory, int chunk) const {
  return heads_[place_of(memory, chunk)];
}

void OutstandingSteps::index_all() {
  heads_.assign(std::bit_ceil(2 * entries_.size()), kNone);
  for (std::size_t at = 0; at < entries_.size(); ++at) link(at);
}

void OutstandingSteps::link(std::size_t at) {
  Entry& entry = entries_[at];
  int& head = head_of(entry.access.memory, entry.access.first_chunk);
  entry.next = std::exchange(head, static_cast<int>(at));
}

int& OutstandingSteps::link_to(std::size_t at) {
  const MemoryAccess& access = entries_[at].access;
  int* link = &head_of(access.memory, access.first_chunk);
  while (std::cmp_not_equal(*link, at)) link = &entries_[static_cast<std::size_t>(*link)].next;
  return *link;
}

/// The last entry takes its place.
void OutstandingSteps::remove(std::size_t at) {
  const std::size_t last = entries_.size() - 1;
  --count_of(entries_[at].access.memory);
  if (is_indexed()) {
    link_to(at) = entries_[at].next;
    if (at != last) link_to(last) = static_cast<int>(at);
  }
  entries_[at] = entries_[last];
  entries_.pop_back();
}

}  // namespace hycoll
