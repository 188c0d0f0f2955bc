#include "heap/extents.h"

#include <iterator>

namespace hycoll {

Extents::Extents(std::size_t capacity_bytes, std::uintptr_t origin)
    : capacity_bytes_(capacity_bytes), origin_(origin) {
  add_free(0, capacity_bytes, State::free_zero);
}

Extents::Content Extents::content_of(State state) {
  return state == State::free_zero ? Content::zero : Content::any;
}

std::optional<Extents::Range> Extents::place(std::size_t size_bytes, std::size_t alignment_bytes) {
  if (size_bytes > capacity_bytes_) return std::nullopt;
  auto placed = place_in(State::free_written, size_bytes, alignment_bytes);
  if (!placed) placed = place_in(State::free_zero, size_bytes, alignment_bytes);
  return placed;
}

std::optional<Extents::Range> Extents::place_in(State state, std::size_t size_bytes,
                                                std::size_t alignment_bytes) {
  FreeSet& free = set_of(state);
  for (auto key = free.lower_bound({size_bytes, 0}); key != free.end(); ++key) {
    const FreeKey found = *key;
    const std::size_t gap = -(origin_ + found.offset) & (alignment_bytes - 1);
    if (gap > found.size_bytes - size_bytes) continue;
    const std::size_t offset = found.offset + gap;
    remove_free(ranges_.find(found.offset));
    if (gap > 0) add_free(found.offset, gap, state);
    const std::size_t rest = found.size_bytes - gap - size_bytes;
    ranges_.emplace(offset, Entry{size_bytes, State::block});
    if (rest > 0) add_free(offset + size_bytes, rest, state);
    block_bytes_ += size_bytes;
    return Range{offset, size_bytes, content_of(state)};
  }
  return std::nullopt;
}

std::optional<Extents::Range> Extents::room_behind(std::size_t offset,
                                                   std::size_t size_bytes) const {
  const auto block = ranges_.find(offset);
  const auto behind = std::next(block);
  const std::size_t wanted = size_bytes - block->second.size_bytes;
  if (behind == ranges_.end() || behind->second.state == State::block ||
      behind->second.size_bytes < wanted) {
    return std::nullopt;
  }
  return Range{behind->first, wanted, content_of(behind->second.state)};
}

bool Extents::resize(std::size_t offset, std::size_t size_bytes) {
  const auto block = ranges_.find(offset);
  const std::size_t old_size = block->second.size_bytes;
  if (size_bytes > old_size) {
    if (!room_behind(offset, size_bytes)) return false;
    const auto behind = std::next(block);
    const Entry room = behind->second;
    const std::size_t taken = size_bytes - old_size;
    remove_free(behind);
    if (room.size_bytes > taken) {
      add_free(offset + size_bytes, room.size_bytes - taken, room.state);
    }
  } else if (size_bytes < old_size) {
    add_free(offset + size_bytes, old_size - size_bytes, State::free_written);
  }
  block->second.size_bytes = size_bytes;
  block_bytes_ = block_bytes_ - old_size + size_bytes;
  return true;
}

void Extents::release(std::size_t offset) {
  const auto block = ranges_.find(offset);
  const std::size_t size_bytes = block->second.size_bytes;
  ranges_.erase(block);
  block_bytes_ -= size_bytes;
  add_free(offset, size_bytes, State::free_written);
}

std::size_t Extents::size_of(std::size_t offset) const {
  const auto found = ranges_.find(offset);
  return found != ranges_.end() && found->second.state == State::block ? found->second.size_bytes
                                                                       : 0;
}

std::optional<Extents::Range> Extents::largest_written() const {
  if (written_.empty()) return std::nullopt;
  return Range{written_.rbegin()->offset, written_.rbegin()->size_bytes, Content::any};
}

void Extents::mark_zero(std::size_t offset) {
  const auto range = ranges_.find(offset);
  const std::size_t size_bytes = range->second.size_bytes;
  remove_free(range);
  add_free(offset, size_bytes, State::free_zero);
}

void Extents::for_each_block(const std::function<void(std::size_t, std::size_t)>& visit) const {
  for (const auto& [offset, entry] : ranges_) {
    if (entry.state == State::block) visit(offset, entry.size_bytes);
  }
}

std::size_t Extents::end_of_blocks() const {
  // At most two free ranges lie behind the last block, for equal neighbours are merged.
  for (auto range = ranges_.rbegin(); range != ranges_.rend(); ++range) {
    if (range->second.state == State::block) return range->first + range->second.size_bytes;
  }
  return 0;
}

void Extents::add_free(std::size_t offset, std::size_t size_bytes, State state) {
  auto behind = ranges_.lower_bound(offset);
  if (behind != ranges_.end() && behind->second.state == state &&
      behind->first == offset + size_bytes) {
    size_bytes += behind->second.size_bytes;
    behind = remove_free(behind);
  }
  if (behind != ranges_.begin()) {
    const auto before = std::prev(behind);
    if (before->second.state == state && before->first + before->second.size_bytes == offset) {
      offset = before->first;
      size_bytes += before->second.size_bytes;
      remove_free(before);
    }
  }
  ranges_.emplace(offset, Entry{size_bytes, state});
  set_of(state).insert({size_bytes, offset});
  if (state == State::free_written) written_free_bytes_ += size_bytes;
}

Extents::Ranges::iterator Extents::remove_free(Ranges::iterator range) {
  const State state = range->second.state;
  set_of(state).erase({range->second.size_bytes, range->first});
  if (state == State::free_written) written_free_bytes_ -= range->second.size_bytes;
  return ranges_.erase(range);
}

}  // namespace hycoll
