#ifndef HYCOLL_CORE_DRAWING_NETWORK_SVG_H_
#define HYCOLL_CORE_DRAWING_NETWORK_SVG_H_

#include <cstddef>
#include <span>
#include <string>

#include "core/network/network_tree.h"

namespace hycoll {

/// Switches and hosts that a drawing shows at most.
inline constexpr std::size_t kMostDrawnVertices = 2000;

/// A ring over hosts of a network, under its name.
struct NamedRing {
  std::string name;
  std::span<const int> hosts;
};

/// Draws the tree once for each ring, as a self-contained SVG document: the root at the top, all
/// hosts in a row at the bottom, in depth-first order, and below them an arrow from each host of
/// the ring to the next one. A link is the thicker the more messages it carries in one direction at
/// once; it has another colour and the number where they are more than one. A pointer over it shows
/// both directions.
///
/// Pure. Throws Error (invalid_argument) for trees of more than kMostDrawnVertices.
std::string network_svg(const NetworkTree& tree, std::span<const NamedRing> rings);

}  // namespace hycoll

#endif  // HYCOLL_CORE_DRAWING_NETWORK_SVG_H_
