#include "numa/placement/pages.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>

#include "core/base/errors.h"
#include "core/base/pages.h"

namespace hycoll {
namespace {

/// Of one question: bounds the memory that questions take.
constexpr std::size_t kPagesAtOnce = 4096;

std::uintptr_t address_of(const std::byte* byte) { return reinterpret_cast<std::uintptr_t>(byte); }

/// Neighbouring pages.
struct PageRange {
  std::uintptr_t begin = 0;  ///< An address.
  std::size_t count = 0;
};

/// Those that the range has a byte of.
PageRange pages_touching(std::span<const std::byte> bytes) {
  if (bytes.empty()) return {};
  const std::uintptr_t begin = rounded_down_to_pages(address_of(bytes.data()));
  const std::uintptr_t end = address_of(bytes.data()) + bytes.size();
  return {.begin = begin, .count = rounded_up_to_pages(end - begin) / page_bytes()};
}

/// Those whose first byte is in the range.
PageRange pages_beginning_in(std::span<const std::byte> bytes) {
  PageRange pages = pages_touching(bytes);
  if (pages.count == 0 || pages.begin == address_of(bytes.data())) return pages;
  return {.begin = pages.begin + page_bytes(), .count = pages.count - 1};
}

/// What numa_move_pages says of each page: its domain, or a negative error. With `targets`, moves
/// those pages first. Empty if the system refuses to say.
std::vector<int> ask(const NumaLibrary& numa, std::span<void* const> pages, const int* targets) {
  std::vector<int> places(pages.size(), -EIO);
  std::vector<void*> addresses(pages.begin(), pages.end());
  const int flags = targets == nullptr ? 0 : MPOL_MF_MOVE;
  // A positive result is the number of pages that could not be moved.
  if (numa.move_pages(0, addresses.size(), addresses.data(), targets, places.data(), flags) < 0) {
    return {};
  }
  return places;
}

std::vector<void*> addresses_of(const PageRange& pages, std::size_t first, std::size_t count) {
  std::vector<void*> addresses;
  for (std::size_t i = first; i < first + count; ++i) {
    addresses.push_back(reinterpret_cast<void*>(pages.begin + i * page_bytes()));
  }
  return addresses;
}

/// The place of every page; of all of them negative if the system refuses to say.
std::vector<int> places_of(const NumaLibrary& numa, const PageRange& pages) {
  std::vector<int> places;
  while (places.size() < pages.count) {
    const std::size_t count = std::min(kPagesAtOnce, pages.count - places.size());
    const std::vector<int> some = ask(numa, addresses_of(pages, places.size(), count), nullptr);
    if (some.empty()) return std::vector<int>(pages.count, -EPERM);
    places.insert(places.end(), some.begin(), some.end());
  }
  return places;
}

/// Of pages that have been read and never written some kernels say -EFAULT, too, others where their
/// page of zeros lies.
bool is_absent(int place) { return place == -ENOENT || place == -EFAULT; }

/// Whether all have moved.
bool move(const NumaLibrary& numa, const PageRange& pages, std::span<const int> moves) {
  bool all_moved = true;
  std::vector<void*> addresses;
  std::vector<int> targets;
  const auto flush = [&] {
    if (addresses.empty()) return;
    all_moved = ask(numa, addresses, targets.data()) == targets && all_moved;
    addresses.clear();
    targets.clear();
  };
  for (std::size_t i = 0; i < moves.size(); ++i) {
    if (moves[i] < 0) continue;
    addresses.push_back(reinterpret_cast<void*>(pages.begin + i * page_bytes()));
    targets.push_back(moves[i]);
    if (addresses.size() == kPagesAtOnce) flush();
  }
  flush();
  return all_moved;
}

/// Tells the kernel where the pages that are not there yet are to come from.
bool set_policy(const NumaLibrary& numa, const PageRange& pages, std::span<const int> domains) {
  constexpr int kDomains = 1024;  // the most that Linux is built for
  constexpr int kWordBits = sizeof(unsigned long) * CHAR_BIT;
  std::array<unsigned long, kDomains / kWordBits> mask{};
  for (const int domain : domains) {
    if (domain < 0 || domain >= kDomains) return false;
    mask[static_cast<std::size_t>(domain / kWordBits)] |= 1ul << (domain % kWordBits);
  }
  const int policy = domains.size() == 1 ? MPOL_PREFERRED : MPOL_INTERLEAVE;
  return numa.bind(reinterpret_cast<void*>(pages.begin), pages.count * page_bytes(), policy,
                   mask.data(), kDomains + 1, 0) == 0;
}

}  // namespace

std::size_t PageCounts::present() const noexcept {
  std::size_t count = 0;
  for (const auto& [domain, pages] : in_domain) count += pages;
  return count;
}

PageCounts& PageCounts::operator+=(const PageCounts& other) {
  for (const auto& [domain, pages] : other.in_domain) in_domain[domain] += pages;
  absent += other.absent;
  untold += other.untold;
  return *this;
}

PageCounts count_pages(std::span<const std::byte> bytes, const FoundNuma& numa) {
  const PageRange pages = pages_touching(bytes);
  PageCounts counts;
  if (numa.library == nullptr) {
    counts.untold = pages.count;
    return counts;
  }
  for (const int place : places_of(*numa.library, pages)) {
    if (place >= 0) {
      ++counts.in_domain[place];
    } else {
      ++(is_absent(place) ? counts.absent : counts.untold);
    }
  }
  return counts;
}

std::vector<int> page_moves(std::span<const int> places, std::span<const int> domains) {
  const auto slot_of = [&](int place) {
    return static_cast<std::size_t>(std::ranges::find(domains, place) - domains.begin());
  };
  const auto present =
      static_cast<std::size_t>(std::ranges::count_if(places, [](int place) { return place >= 0; }));
  std::vector<std::size_t> held(domains.size(), 0);
  for (const int place : places) {
    if (const std::size_t slot = slot_of(place); slot < held.size()) ++held[slot];
  }
  // Those that have the most already have the larger shares.
  std::vector<std::size_t> by_held(domains.size());
  for (std::size_t slot = 0; slot < by_held.size(); ++slot) by_held[slot] = slot;
  std::ranges::stable_sort(by_held, std::greater<>(), [&](std::size_t slot) { return held[slot]; });
  std::vector<std::size_t> room(domains.size(), present / domains.size());
  for (std::size_t i = 0; i < present % domains.size(); ++i) ++room[by_held[i]];
  std::vector<int> moves(places.size(), -1);
  std::vector<std::size_t> homeless;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i] < 0) continue;
    const std::size_t slot = slot_of(places[i]);
    if (slot < room.size() && room[slot] > 0) {
      --room[slot];
    } else {
      homeless.push_back(i);
    }
  }
  std::size_t slot = 0;
  for (const std::size_t page : homeless) {
    while (room[slot % room.size()] == 0) ++slot;
    const std::size_t taken = slot++ % room.size();
    --room[taken];
    moves[page] = domains[taken];
  }
  return moves;
}

bool settle_pages(std::span<std::byte> bytes, std::span<const int> domains, const FoundNuma& numa) {
  HYCOLL_ASSERT(!domains.empty(), "pages have somewhere to lie");
  const PageRange pages = pages_beginning_in(bytes);
  if (pages.count == 0) return true;
  if (numa.library == nullptr || !set_policy(*numa.library, pages, domains)) return false;
  const std::vector<int> places = places_of(*numa.library, pages);
  const bool all_told =
      std::ranges::all_of(places, [](int place) { return place >= 0 || is_absent(place); });
  return move(*numa.library, pages, page_moves(places, domains)) && all_told;
}

}  // namespace hycoll
