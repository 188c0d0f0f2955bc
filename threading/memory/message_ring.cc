#include "threading/memory/message_ring.h"

#include <atomic>
#include <cstring>

namespace hycoll {
namespace {

constexpr std::size_t kBytesInSlot = kCacheLineBytes - 3 * sizeof(std::uint32_t);

constexpr std::size_t lines_of(std::size_t size_bytes) {
  return size_bytes <= kBytesInSlot ? 0 : (size_bytes + kCacheLineBytes - 1) / kCacheLineBytes;
}

}  // namespace

struct alignas(kCacheLineBytes) MessageRing::Slot {
  std::uint32_t number;  // of the message, from 1 on; the last one written
  std::int32_t tag;
  std::uint32_t size_bytes;
  std::byte bytes[kBytesInSlot];
};

std::uint32_t& MessageRing::read_count() noexcept {
  return *reinterpret_cast<std::uint32_t*>(memory_);
}

MessageRing::Slot& MessageRing::slot() noexcept {
  return reinterpret_cast<Slot*>(memory_ + kSeparationBytes)[count_ % kSlots];
}

std::byte* MessageRing::line(std::size_t index) noexcept {
  return memory_ + kSeparationBytes + (kSlots + index % kLines) * kCacheLineBytes;
}

std::size_t MessageRing::skipped(std::size_t line_count) const noexcept {
  // Messages do not go around the end.
  const std::size_t place = line_count_ % kLines;
  return place + line_count > kLines ? kLines - place : 0;
}

bool MessageRing::try_write(int tag, std::span<const std::byte> bytes) noexcept {
  const std::size_t own_lines = lines_of(bytes.size());
  const std::size_t skipped_lines = skipped(own_lines);
  const auto has_room = [&] {
    if (count_ == told_) return true;
    const std::size_t oldest = lines_before_[told_ % kSlots];
    return count_ - told_ < kSlots && line_count_ + skipped_lines + own_lines - oldest <= kLines;
  };
  if (!has_room()) {
    told_ = std::atomic_ref(read_count()).load(std::memory_order_acquire);
    if (!has_room()) return false;
  }
  Slot& slot = this->slot();
  std::byte* const place = own_lines == 0 ? slot.bytes : line(line_count_ + skipped_lines);
  if (!bytes.empty()) std::memcpy(place, bytes.data(), bytes.size());
  slot.tag = tag;
  slot.size_bytes = static_cast<std::uint32_t>(bytes.size());
  lines_before_[count_ % kSlots] = line_count_;
  std::atomic_ref(slot.number).store(count_ + 1, std::memory_order_release);
  ++count_;
  line_count_ += skipped_lines + own_lines;
  return true;
}

std::optional<MessageRing::Message> MessageRing::front() noexcept {
  Slot& slot = this->slot();
  if (std::atomic_ref(slot.number).load(std::memory_order_acquire) != count_ + 1) {
    return std::nullopt;
  }
  const std::size_t own_lines = lines_of(slot.size_bytes);
  const std::byte* const place =
      own_lines == 0 ? slot.bytes : line(line_count_ + skipped(own_lines));
  return Message{.tag = slot.tag, .bytes = {place, slot.size_bytes}};
}

void MessageRing::pop() noexcept {
  const std::size_t own_lines = lines_of(slot().size_bytes);
  line_count_ += skipped(own_lines) + own_lines;
  ++count_;
  // Seldom, for the writer's sake, but before long messages fill the lines.
  untold_lines_ += own_lines;
  if (count_ - told_ < kSlots / 4 && untold_lines_ < kLines / 4) return;
  told_ = count_;
  untold_lines_ = 0;
  std::atomic_ref(read_count()).store(count_, std::memory_order_release);
}

}  // namespace hycoll
