#include "tests/threading/orders/memory_model.h"

#include <algorithm>
#include <cstring>
#include <ranges>
#include <stdexcept>

namespace hycoll::orders {
namespace {

const char* name_of(Memory::Access access) {
  switch (access) {
    case Memory::Access::plain_read:
      return "plain read";
    case Memory::Access::plain_write:
      return "plain write";
    case Memory::Access::atomic_read:
      return "atomic read";
    case Memory::Access::atomic_write:
      return "atomic write";
  }
  return "";
}

bool is_write(Memory::Access access) {
  return access == Memory::Access::plain_write || access == Memory::Access::atomic_write;
}
bool is_plain(Memory::Access access) {
  return access == Memory::Access::plain_read || access == Memory::Access::plain_write;
}

}  // namespace

Memory::Memory(std::size_t thread_count) : threads_(thread_count) {
  if (thread_count > kMaximumThreads) throw std::invalid_argument("too many threads");
  for (std::size_t t = 0; t < thread_count; ++t) threads_[t].view.clock[t] = 1;
}

Location& Memory::location(std::uintptr_t address, std::size_t size_bytes) {
  Location*& known = by_address_[address];
  if (known == nullptr) {
    std::uint64_t initial = 0;
    std::memcpy(&initial, reinterpret_cast<const void*>(address), size_bytes);
    locations_.push_back(std::make_unique<Location>(
        Location{.index = locations_.size(),
                 .address = address,
                 .size_bytes = size_bytes,
                 .messages = {{.value = initial, .view = {}, .is_rmw = false, .thread = -1}},
                 .modification_order = {0},
                 .positions = {0}}));
    known = locations_.back().get();
  }
  if (known->size_bytes != size_bytes) throw std::logic_error("an atomic object of two sizes");
  return *known;
}

void Memory::raise(View& view, std::size_t location, int message) const {
  if (view.newest.size() <= location) view.newest.resize(location + 1);
  int& known = view.newest[location];
  if (is_newer(*locations_[location], message, known)) known = message;
}

void Memory::join_newest(View& view, const View& other) const {
  for (std::size_t l = 0; l < other.newest.size(); ++l) {
    if (other.newest[l] != 0) raise(view, l, other.newest[l]);
  }
}

void Memory::join(View& view, const View& other) const {
  join_newest(view, other);
  for (std::size_t t = 0; t < kMaximumThreads; ++t)
    view.clock[t] = std::max(view.clock[t], other.clock[t]);
}

int Memory::newer(const Location& location, int message, const View& view) const {
  const int other = view.newest_of(location.index);
  return is_newer(location, other, message) ? other : message;
}

int Memory::lower_bound(std::size_t thread, const Location& location, Order order) const {
  const int known = threads_[thread].view.newest_of(location.index);
  if (order != Order::seq_cst) return known;
  return newer(location, newer(location, known, fences_), consistent_);
}

std::vector<int> Memory::messages_from(const Location& location, int message) const {
  const std::size_t position = location.positions[static_cast<std::size_t>(message)];
  return {location.modification_order.begin() + static_cast<std::ptrdiff_t>(position),
          location.modification_order.end()};
}

std::vector<int> Memory::readable(std::size_t thread, const Location& location, Order order) const {
  return messages_from(location, lower_bound(thread, location, order));
}

std::vector<int> Memory::readable_by_kernel(std::size_t thread, const Location& location) const {
  return messages_from(location,
                       newer(location, lower_bound(thread, location, Order::seq_cst), kernel_));
}

bool Memory::may_follow(const Location& location, int message) const noexcept {
  const std::size_t next = location.positions[static_cast<std::size_t>(message)] + 1;
  return next == location.modification_order.size() ||
         !location.messages[static_cast<std::size_t>(location.modification_order[next])].is_rmw;
}

std::vector<std::size_t> Memory::writable(std::size_t thread, const Location& location,
                                          Order order) const {
  std::vector<std::size_t> positions;
  for (const int message : readable(thread, location, order)) {
    if (may_follow(location, message))
      positions.push_back(location.positions[static_cast<std::size_t>(message)] + 1);
  }
  return positions;
}

std::uint64_t Memory::read(std::size_t thread, Location& location, int message, Order order) {
  const Message& read = location.messages[static_cast<std::size_t>(message)];
  Thread& reader = threads_[thread];
  raise(reader.view, location.index, message);
  join(acquires(order) ? reader.view : reader.acquired_by_fence, read.view);
  if (order == Order::seq_cst) raise(consistent_, location.index, message);
  return read.value;
}

void Memory::write(std::size_t thread, Location& location, std::size_t position,
                   std::uint64_t value, Order order) {
  insert(thread, location, position, value, order, nullptr);
}

void Memory::read_and_write(std::size_t thread, Location& location, int message,
                            std::uint64_t value, Order order) {
  read(thread, location, message, order);
  // A release sequence goes on: who acquires what is written here acquires what this has read, too.
  const View passed_on = location.messages[static_cast<std::size_t>(message)].view;
  insert(thread, location, location.positions[static_cast<std::size_t>(message)] + 1, value, order,
         &passed_on);
}

void Memory::insert(std::size_t thread, Location& location, std::size_t position,
                    std::uint64_t value, Order order, const View* read) {
  Thread& writer = threads_[thread];
  const auto message = static_cast<int>(location.messages.size());
  location.messages.push_back(
      {.value = value, .view = {}, .is_rmw = read != nullptr, .thread = static_cast<int>(thread)});
  location.modification_order.insert(
      location.modification_order.begin() + static_cast<std::ptrdiff_t>(position), message);
  location.positions.resize(location.messages.size());
  for (std::size_t p = position; p < location.modification_order.size(); ++p)
    location.positions[static_cast<std::size_t>(location.modification_order[p])] = p;

  raise(writer.view, location.index, message);
  View& view = location.messages.back().view;
  view = releases(order) ? writer.view : writer.released_by_fence;
  raise(view, location.index, message);
  if (read != nullptr) join(view, *read);
  if (order == Order::seq_cst) raise(consistent_, location.index, message);
  // What this thread does from now on has not been released.
  ++writer.view.clock[thread];
  if (location.last() == message) {
    std::memcpy(reinterpret_cast<void*>(location.address), &value, location.size_bytes);
  }
}

void Memory::fence(std::size_t thread, Order order) {
  Thread& own = threads_[thread];
  if (acquires(order)) join(own.view, own.acquired_by_fence);
  if (order == Order::seq_cst) {
    join_newest(own.view, fences_);
    join_newest(own.view, consistent_);
    join_newest(fences_, own.view);
  }
  if (releases(order)) {
    own.released_by_fence = own.view;
    ++own.view.clock[thread];
  }
}

void Memory::synchronise_with_kernel(std::size_t thread) {
  Thread& own = threads_[thread];
  join(own.view, kernel_);
  kernel_ = own.view;
  ++own.view.clock[thread];
}

void Memory::forget_accesses(std::uintptr_t address, std::size_t size_bytes) {
  const std::uintptr_t end = address + size_bytes;
  for (std::uintptr_t block = address / kBlockBytes; block * kBlockBytes < end; ++block) {
    const auto known = accesses_.find(block);
    if (known == accesses_.end()) continue;
    std::erase_if(known->second,
                  [&](const Done& done) { return done.begin < end && address < done.end; });
  }
}

void Memory::forget_objects(std::uintptr_t address, std::size_t size_bytes) {
  const auto begin = by_address_.lower_bound(address);
  by_address_.erase(begin, by_address_.lower_bound(address + size_bytes));
}

void Memory::restore_objects(std::uintptr_t begin, std::uintptr_t end) const {
  // Of objects that have lain at one address the first one counts.
  for (const auto& location : std::views::reverse(locations_)) {
    if (location->address < begin || location->address >= end) continue;
    std::memcpy(reinterpret_cast<void*>(location->address), &location->messages.front().value,
                location->size_bytes);
  }
}

std::string Memory::access(std::size_t thread, std::uintptr_t address, std::size_t size_bytes,
                           Access access, const std::string& where) {
  const std::uintptr_t end = address + size_bytes;
  for (std::uintptr_t begin = address; begin < end;) {
    const std::uintptr_t block = begin / kBlockBytes;
    const std::uintptr_t part_end = std::min(end, (block + 1) * kBlockBytes);
    const Done now{.begin = begin,
                   .end = part_end,
                   .thread = thread,
                   .time = threads_[thread].view.clock[thread],
                   .access = access,
                   .where = &where};
    if (std::string race = access_in_block(accesses_[block], now); !race.empty()) return race;
    begin = part_end;
  }
  return {};
}

std::string Memory::access_in_block(std::vector<Done>& block, const Done& now) const {
  const View& view = threads_[now.thread].view;
  bool is_known = false;
  for (Done& done : block) {
    if (done.end <= now.begin || now.end <= done.begin) continue;
    if (done.thread == now.thread) {
      if (done.begin != now.begin || done.end != now.end || done.access != now.access) continue;
      done = now;
      is_known = true;
    } else if ((is_write(now.access) || is_write(done.access)) &&
               (is_plain(now.access) || is_plain(done.access)) &&
               done.time > view.clock[done.thread]) {
      return std::string("data race: ") + name_of(now.access) + " in " + *now.where +
             " by thread " + std::to_string(now.thread) + ", and " + name_of(done.access) + " in " +
             *done.where + " by thread " + std::to_string(done.thread);
    }
  }
  if (!is_known) block.push_back(now);
  return {};
}

}  // namespace hycoll::orders
