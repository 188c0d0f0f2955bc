#include "collectives/elements/type_map.h"

#include <cstring>
#include <type_traits>
#include <utility>

namespace hycoll {
namespace {

const std::byte* bytes_of(const void* address) noexcept {
  return static_cast<const std::byte*>(address);
}
std::byte* bytes_of(void* address) noexcept { return static_cast<std::byte*>(address); }

/// Calls copy(size_bytes), for the usual sizes with one that the compiler knows: a load and a store
/// for each piece instead of a call.
template <class Copy>
void with_known_size(std::size_t size_bytes, const Copy& copy) {
  switch (size_bytes) {
    case 1:
      return copy(std::integral_constant<std::size_t, 1>());
    case 2:
      return copy(std::integral_constant<std::size_t, 2>());
    case 4:
      return copy(std::integral_constant<std::size_t, 4>());
    case 8:
      return copy(std::integral_constant<std::size_t, 8>());
    case 16:
      return copy(std::integral_constant<std::size_t, 16>());
    default:
      return copy(size_bytes);
  }
}

/// Calls copy(place, number of bytes before it, size_bytes) for each piece, in order; returns the
/// number of bytes of all. Both by value: what is copied might otherwise change them, as far as the
/// compiler can tell.
template <bool kHasPlaces, class Pieces, class Copy>
std::size_t for_each_piece_of(Pieces pieces, Copy copy) {
  std::size_t before = 0;
  with_known_size(pieces.size_bytes, [&before, pieces, copy](auto size_bytes) {
    std::size_t done = 0;
    std::ptrdiff_t group = pieces.first_bytes;
    for (std::size_t left = pieces.count; left > 0; --left, group += pieces.stride_bytes) {
      if constexpr (kHasPlaces) {
        for (const std::ptrdiff_t place : pieces.places) {
          copy(group + place, done, size_bytes);
          done += size_bytes;
        }
      } else {
        copy(group, done, size_bytes);
        done += size_bytes;
      }
    }
    before = done;
  });
  return before;
}

template <class Pieces, class Copy>
std::size_t for_each_piece(const Pieces& pieces, const Copy& copy) {
  return pieces.places.empty() ? for_each_piece_of<false>(pieces, copy)
                               : for_each_piece_of<true>(pieces, copy);
}

}  // namespace

TypeMap TypeMap::of_bytes(std::size_t size_bytes) {
  TypeMap map;
  map.element_.unit_bytes = size_bytes;
  map.extent_bytes_ = static_cast<std::ptrdiff_t>(size_bytes);
  return map;
}

TypeMap TypeMap::with_extent(std::ptrdiff_t extent_bytes) const {
  TypeMap map = *this;
  map.extent_bytes_ = extent_bytes;
  return map;
}

template <class Visit>
void TypeMap::walk(const Run& run, std::ptrdiff_t origin, std::size_t begin, std::size_t end,
                   const Visit& visit) {
  const auto index = static_cast<std::ptrdiff_t>(begin / run.unit_bytes);
  std::size_t offset = begin % run.unit_bytes;
  std::ptrdiff_t at = origin + run.first_bytes + index * run.stride_bytes;
  const bool has_places = run.unit != nullptr && run.unit->runs.empty();
  for (std::size_t left = end - begin; left > 0;) {
    if ((run.unit == nullptr || has_places) && offset == 0 && left >= run.unit_bytes) {
      const std::size_t whole = left / run.unit_bytes;
      visit(Pieces{at, run.stride_bytes, whole, has_places ? run.unit->piece_bytes : run.unit_bytes,
                   has_places ? std::span(run.unit->places) : std::span<const std::ptrdiff_t>()});
      at += static_cast<std::ptrdiff_t>(whole) * run.stride_bytes;
      left -= whole * run.unit_bytes;
      continue;
    }
    const std::size_t size_bytes = std::min(run.unit_bytes - offset, left);
    if (run.unit == nullptr) {
      visit(Pieces{at + static_cast<std::ptrdiff_t>(offset), 0, 1, size_bytes, {}});
    } else if (has_places) {
      walk_pieces(*run.unit, at, offset, offset + size_bytes, visit);
    } else {
      walk(*run.unit, at, offset, offset + size_bytes, visit);
    }
    at += run.stride_bytes;
    left -= size_bytes;
    offset = 0;
  }
}

template <class Visit>
void TypeMap::walk(const Node& node, std::ptrdiff_t origin, std::size_t begin, std::size_t end,
                   const Visit& visit) {
  std::size_t index = 0;
  if (begin > 0) {
    const auto next = std::upper_bound(node.begins.begin(), node.begins.end(), begin);
    index = static_cast<std::size_t>(next - node.begins.begin()) - 1;
  }
  for (; index < node.runs.size() && node.begins[index] < end; ++index) {
    const Run& run = node.runs[index];
    const std::size_t run_begin = node.begins[index];
    walk(run, origin, std::max(begin, run_begin) - run_begin,
         std::min(end - run_begin, run.size_bytes()), visit);
  }
}

template <class Visit>
void TypeMap::walk_pieces(const Node& node, std::ptrdiff_t origin, std::size_t begin,
                          std::size_t end, const Visit& visit) {
  while (begin < end) {
    const std::size_t offset = begin % node.piece_bytes;
    const std::size_t size_bytes = std::min(node.piece_bytes - offset, end - begin);
    const std::ptrdiff_t place = node.places[begin / node.piece_bytes];
    visit(Pieces{origin + place + static_cast<std::ptrdiff_t>(offset), 0, 1, size_bytes, {}});
    begin += size_bytes;
  }
}

template <class Visit>
void TypeMap::walk_elements(std::size_t begin, std::size_t end, const Visit& visit) const {
  if (begin == end || size_bytes() == 0) return;
  Run elements = element_;
  elements.stride_bytes = extent_bytes_;
  walk(elements, 0, begin, end, visit);
}

void TypeMap::pack(const void* origin, std::size_t begin, std::size_t end,
                   std::byte* packed) const {
  walk_elements(begin, end, [&](const Pieces& pieces) {
    packed +=
        for_each_piece(pieces, [=](std::ptrdiff_t place, std::size_t before, auto size_bytes) {
          std::memcpy(packed + before, displaced(bytes_of(origin), place), size_bytes);
        });
  });
}

void TypeMap::unpack(const std::byte* packed, std::size_t begin, std::size_t end,
                     void* origin) const {
  walk_elements(begin, end, [&](const Pieces& pieces) {
    packed +=
        for_each_piece(pieces, [=](std::ptrdiff_t place, std::size_t before, auto size_bytes) {
          std::memcpy(displaced(bytes_of(origin), place), packed + before, size_bytes);
        });
  });
}

bool TypeMapBuilder::continues(const TypeMap::Run& last, const TypeMap::Run& run) noexcept {
  return last.unit == nullptr && last.count == 1 && run.unit == nullptr && run.count == 1 &&
         run.first_bytes == last.first_bytes + static_cast<std::ptrdiff_t>(last.unit_bytes);
}

bool TypeMapBuilder::has_pieces_only() const {
  return std::ranges::all_of(runs_, [&](const TypeMap::Run& run) {
    return run.unit == nullptr && run.count == 1 && run.unit_bytes == runs_.front().unit_bytes;
  });
}

void TypeMapBuilder::append(const TypeMap& part, std::size_t count, std::ptrdiff_t first_bytes,
                            std::ptrdiff_t stride_bytes) {
  if (count == 0 || part.size_bytes() == 0) return;
  TypeMap::Run run = part.element_;
  run.first_bytes += first_bytes;
  run.stride_bytes = stride_bytes;
  run.count = count;
  const bool is_side_by_side =
      run.unit == nullptr && stride_bytes == static_cast<std::ptrdiff_t>(run.unit_bytes);
  if (is_side_by_side) run.unit_bytes *= std::exchange(run.count, 1);
  if (!runs_.empty() && continues(runs_.back(), run)) {
    runs_.back().unit_bytes += run.unit_bytes;
  } else {
    runs_.push_back(std::move(run));
  }
}

TypeMap TypeMapBuilder::finish(std::ptrdiff_t extent_bytes) {
  TypeMap map;
  map.extent_bytes_ = extent_bytes;
  if (runs_.empty()) return map;
  if (runs_.size() == 1 && runs_.front().count == 1) {
    map.element_ = std::move(runs_.front());
    return map;
  }
  auto node = std::make_shared<TypeMap::Node>();
  if (has_pieces_only()) {
    node->piece_bytes = runs_.front().unit_bytes;
    for (const TypeMap::Run& run : runs_) node->places.push_back(run.first_bytes);
    map.element_.unit_bytes = runs_.size() * node->piece_bytes;
  } else {
    for (const TypeMap::Run& run : runs_) {
      node->begins.push_back(map.element_.unit_bytes);
      map.element_.unit_bytes += run.size_bytes();
    }
    node->runs = std::move(runs_);
  }
  map.element_.unit = std::move(node);
  return map;
}

}  // namespace hycoll
