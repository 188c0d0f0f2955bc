#ifndef HYCOLL_COLLECTIVES_ELEMENTS_TYPE_MAP_H_
#define HYCOLL_COLLECTIVES_ELEMENTS_TYPE_MAP_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace hycoll {

/// The address so many bytes further on, which may belong to nothing: an element's origin need not
/// lie near its data.
template <class Byte>
Byte* displaced(Byte* address, std::ptrdiff_t bytes) noexcept {
  return reinterpret_cast<Byte*>(reinterpret_cast<std::uintptr_t>(address) +
                                 static_cast<std::uintptr_t>(bytes));
}

/// Where the data of a datatype's elements lie, in the order of the type map, which is that of
/// sending and packing and need not be that of memory.
///
/// A tree of runs, as regular as the datatype: that of a matrix's column has one node, whatever the
/// length of the column. Knows no MPI; lives on after the datatype. Immutable and thread-safe.
class TypeMap {
 public:
  /// An element without data.
  TypeMap() = default;

  /// `size_bytes` bytes side by side, from the element's origin on.
  static TypeMap of_bytes(std::size_t size_bytes);

  /// The same data, with elements so far apart.
  TypeMap with_extent(std::ptrdiff_t extent_bytes) const;

  /// Of the data of an element, without gaps.
  std::size_t size_bytes() const noexcept { return element_.unit_bytes; }

  /// From one element's origin to the next one's.
  std::ptrdiff_t extent_bytes() const noexcept { return extent_bytes_; }

  /// Whether elements lie in memory as they are packed: each byte once, in order, without gaps.
  bool is_plain() const noexcept {
    return element_.unit == nullptr && element_.first_bytes == 0 && size_bytes() > 0 &&
           extent_bytes_ == static_cast<std::ptrdiff_t>(size_bytes());
  }

  /// Copies the bytes [begin, end) of what the elements from `origin` on are when packed, to and
  /// from there. What lies between the data is not touched. Of elements without data, nothing.
  void pack(const void* origin, std::size_t begin, std::size_t end, std::byte* packed) const;
  void unpack(const std::byte* packed, std::size_t begin, std::size_t end, void* origin) const;

 private:
  friend class TypeMapBuilder;
  struct Node;

  /// A unit, or several at equal distances.
  struct Run {
    std::ptrdiff_t first_bytes = 0;  ///< Where the first one lies.
    std::ptrdiff_t stride_bytes = 0;
    std::size_t count = 1;
    std::size_t unit_bytes = 0;        ///< Of a unit's data.
    std::shared_ptr<const Node> unit;  ///< Null: bytes side by side.

    std::size_t size_bytes() const noexcept { return count * unit_bytes; }
  };

  /// What follows one another in the type map: runs, all of which have data, or, if there are none,
  /// pieces of equal size anywhere.
  struct Node {
    std::vector<Run> runs;
    std::vector<std::size_t> begins;  ///< Of each run, among the node's packed bytes.
    std::vector<std::ptrdiff_t> places;
    std::size_t piece_bytes = 0;
  };

  /// What copying is made of: `count` groups of pieces of equal size, `stride_bytes` apart. The
  /// pieces of a group lie at the places; if there are none, it has one, where the group is.
  struct Pieces {
    std::ptrdiff_t first_bytes;  ///< From the origin.
    std::ptrdiff_t stride_bytes;
    std::size_t count;
    std::size_t size_bytes;
    std::span<const std::ptrdiff_t> places;
  };

  /// Calls visit(Pieces) for the bytes [begin, end) of a run's packed data, in order.
  template <class Visit>
  static void walk(const Run& run, std::ptrdiff_t origin, std::size_t begin, std::size_t end,
                   const Visit& visit);
  /// Of a node's.
  template <class Visit>
  static void walk(const Node& node, std::ptrdiff_t origin, std::size_t begin, std::size_t end,
                   const Visit& visit);
  /// The same of a node of pieces.
  template <class Visit>
  static void walk_pieces(const Node& node, std::ptrdiff_t origin, std::size_t begin,
                          std::size_t end, const Visit& visit);
  template <class Visit>
  void walk_elements(std::size_t begin, std::size_t end, const Visit& visit) const;

  Run element_;  // one unit
  std::ptrdiff_t extent_bytes_ = 0;
};

/// Composes the map of a datatype from those of its parts. Used by one thread.
class TypeMapBuilder {
 public:
  /// Adds `count` elements of a part, the first one at `first_bytes`, `stride_bytes` apart.
  void append(const TypeMap& part, std::size_t count, std::ptrdiff_t first_bytes,
              std::ptrdiff_t stride_bytes);

  /// The same, as far apart as that datatype says.
  void append(const TypeMap& part, std::size_t count, std::ptrdiff_t first_bytes) {
    append(part, count, first_bytes, part.extent_bytes());
  }

  /// What has been added, as an element of a datatype of this extent. At most once.
  TypeMap finish(std::ptrdiff_t extent_bytes);

 private:
  /// Whether a run of bytes begins where one ends.
  static bool continues(const TypeMap::Run& last, const TypeMap::Run& run) noexcept;
  /// Whether all runs are pieces of the same size.
  bool has_pieces_only() const;

  std::vector<TypeMap::Run> runs_;
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ELEMENTS_TYPE_MAP_H_
