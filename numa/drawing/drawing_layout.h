#ifndef HYCOLL_NUMA_DRAWING_DRAWING_LAYOUT_H_
#define HYCOLL_NUMA_DRAWING_DRAWING_LAYOUT_H_

#include <string>
#include <vector>

#include "numa/topology/topology.h"

/// Where the boxes of a drawn topology go. Private to this folder. Lengths are SVG user units
/// (pixels).
namespace hycoll::internal {

enum class BoxKind { machine, package, numa_domain, cache, core };

/// A labelled box with its children inside. x and y are those of the picture.
struct Box {
  BoxKind kind;
  std::string label;
  int core = -1;  ///< Of a core's box: its index.
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;
  std::vector<Box> children = {};
};

inline constexpr double kLabelHeight = 19;
inline constexpr double kPadding = 8;

/// The width that a label of this font size takes at most.
double text_width(const std::string& text, double font_size);

/// The boxes of the whole topology, laid out with the machine's corner at (x, y): packages, in each
/// the NUMA domains, in each the last-level caches (if they divide it), in each the cores. Boxes do
/// not overlap, and lie within their parents.
Box lay_out(const Topology& topology, double x, double y);

}  // namespace hycoll::internal

#endif  // HYCOLL_NUMA_DRAWING_DRAWING_LAYOUT_H_
