#include "core/drawing/network_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/errors.h"
#include "core/base/markup.h"
#include "core/network/link_loads.h"

namespace hycoll {
namespace {

// Sizes in pixels.
constexpr double kNetworkMargin = 16;
constexpr double kTitleHeight = 40;
constexpr double kLevelHeight = 54;
constexpr double kCharacterWidth = 6.6;
constexpr double kNarrowestSlot = 30;
constexpr double kVertexHeight = 20;
constexpr double kDeepestArrow = 70;
constexpr double kNarrowest = 420;
constexpr double kThickestLink = 9;

// Colours that people with any colour vision can tell apart (M. Okabe, K. Ito, 2008).
constexpr std::string_view kIdleLink = "#b8bec8";
constexpr std::string_view kFreeLink = "#0072b2";
constexpr std::string_view kContendedLink = "#d55e00";
constexpr std::string_view kArrow = "#009e73";

struct Point {
  double x = 0;
  double y = 0;
};

/// Where vertices are drawn, seen from a panel's upper left corner.
class NetworkLayout {
 public:
  explicit NetworkLayout(const NetworkTree& tree) : points_(tree.vertices().size()) {
    const std::vector<int> order = tree.depth_first();
    std::vector<int> depth_of(points_.size());
    int deepest = 1;
    for (const int vertex : order) {
      const NetworkVertex& here = tree.at(vertex);
      slot_width_ = std::max(slot_width_, label_width(here.name) + 8);
      int& depth = depth_of[static_cast<std::size_t>(vertex)];
      if (vertex != tree.root()) depth = depth_of[static_cast<std::size_t>(here.parent)] + 1;
      deepest = std::max(deepest, depth + (here.is_host() ? 0 : 1));
    }
    bottom_ = kTitleHeight + deepest * kLevelHeight;
    for (const int vertex : order) {
      at(vertex).y = tree.at(vertex).is_host()
                         ? bottom_
                         : kTitleHeight + kVertexHeight / 2 +
                               depth_of[static_cast<std::size_t>(vertex)] * kLevelHeight;
    }
    place_columns(tree, order);
  }

  const Point& of(int vertex) const { return points_[static_cast<std::size_t>(vertex)]; }
  double bottom() const noexcept { return bottom_; }
  double width() const noexcept { return width_; }

  static double label_width(const std::string& name) {
    return std::max(kNarrowestSlot, static_cast<double>(name.size()) * kCharacterWidth + 10);
  }

 private:
  Point& at(int vertex) { return points_[static_cast<std::size_t>(vertex)]; }

  /// Hosts and what has nothing below it stand side by side, switches above what is below them.
  void place_columns(const NetworkTree& tree, const std::vector<int>& order) {
    double next = slot_width_ / 2;
    for (const int vertex : order) {
      if (!tree.at(vertex).is_host() && !tree.at(vertex).children.empty()) continue;
      at(vertex).x = next;
      next += slot_width_;
    }
    width_ = next - slot_width_ / 2;
    for (auto vertex = order.rbegin(); vertex != order.rend(); ++vertex) {
      const NetworkVertex& here = tree.at(*vertex);
      if (here.is_host() || here.children.empty()) continue;
      at(*vertex).x = (of(here.children.front()).x + of(here.children.back()).x) / 2;
    }
  }

  std::vector<Point> points_;
  double slot_width_ = 0;
  double bottom_ = 0;
  double width_ = 0;
};

class NetworkDrawing {
 public:
  explicit NetworkDrawing(const NetworkTree& tree) : tree_(tree), layout_(tree) {}

  std::string draw(std::span<const NamedRing> rings) {
    for (const NamedRing& ring : rings) {
      draw_ring(ring);
      top_ += layout_.bottom() + kVertexHeight + kDeepestArrow;
    }
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
        "viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"sans-serif\" font-size=\"11\">\n"
        "<style>.vertex{{stroke:#52606d}}.name{{text-anchor:middle}}.number{{text-anchor:middle;"
        "font-weight:bold;font-size:13px;stroke:#fff;stroke-width:4;paint-order:stroke}}.arrow{{"
        "fill:none;"
        "stroke:{2};stroke-width:1.3;marker-end:url(#head)}}</style>\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
        "<defs><marker id=\"head\" viewBox=\"0 0 6 6\" refX=\"5\" refY=\"3\" markerWidth=\"7\" "
        "markerHeight=\"7\" orient=\"auto\"><path d=\"M0,0 L6,3 L0,6 z\" fill=\"{2}\"/></marker>"
        "</defs>\n{3}</svg>\n",
        std::max(layout_.width(), kNarrowest) + 2 * kNetworkMargin, top_ + kNetworkMargin, kArrow,
        body_);
  }

 private:
  template <class... Values>
  void add(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(body_), format, std::forward<Values>(values)...);
  }

  Point place_of(int vertex) const {
    const Point& point = layout_.of(vertex);
    return {.x = kNetworkMargin + point.x, .y = top_ + point.y};
  }

  void draw_ring(const NamedRing& ring) {
    const std::vector<LinkLoad> loads = ring_loads(tree_, ring.hosts);
    const int most = most_messages(loads);
    add("<text x=\"{:.0f}\" y=\"{:.0f}\" font-size=\"14\">{}: at most {} message{} on a link in "
        "one "
        "direction</text>\n",
        kNetworkMargin, top_ + 24, escaped(ring.name), most, most == 1 ? "" : "s");
    for (int vertex = 0; std::cmp_less(vertex, loads.size()); ++vertex) {
      if (vertex != tree_.root()) draw_link(vertex, loads[static_cast<std::size_t>(vertex)]);
    }
    for (int vertex = 0; std::cmp_less(vertex, loads.size()); ++vertex) draw_vertex(vertex);
    if (ring.hosts.size() < 2) return;
    for (std::size_t i = 0; i < ring.hosts.size(); ++i) {
      draw_arrow(ring.hosts[i], ring.hosts[(i + 1) % ring.hosts.size()]);
    }
  }

  void draw_link(int vertex, const LinkLoad& load) {
    const Point lower = place_of(vertex);
    const Point upper = place_of(tree_.at(vertex).parent);
    const int most = load.most();
    const std::string_view colour = most == 0 ? kIdleLink : most == 1 ? kFreeLink : kContendedLink;
    add("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" "
        "stroke-width=\"{:.1f}\"><title>{} to {}: {} up, {} down</title></line>\n",
        lower.x, lower.y, upper.x, upper.y, colour,
        std::min(1.5 + 1.5 * std::max(most - 1, 0), kThickestLink), escaped(tree_.at(vertex).name),
        escaped(tree_.at(tree_.at(vertex).parent).name), load.up, load.down);
    if (most < 2) return;
    add("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"number\">{}</text>\n", (lower.x + upper.x) / 2,
        (lower.y + upper.y) / 2 + 4, most);
  }

  void draw_vertex(int vertex) {
    const NetworkVertex& here = tree_.at(vertex);
    const Point centre = place_of(vertex);
    const double width = NetworkLayout::label_width(here.name);
    add("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.0f}\" rx=\"{}\" class=\""
        "vertex\" fill=\"{}\"/><text x=\"{:.1f}\" y=\"{:.1f}\" class=\"name\">{}</text>\n",
        centre.x - width / 2, centre.y - kVertexHeight / 2, width, kVertexHeight,
        here.is_host() ? 2 : 9, here.is_host() ? "#ffffff" : "#e8eef5", centre.x, centre.y + 4,
        escaped(here.name));
  }

  void draw_arrow(int from, int to) {
    const double y = top_ + layout_.bottom() + kVertexHeight / 2 + 1;
    const double begin = place_of(from).x;
    const double end = place_of(to).x;
    // Ways to and fro are not drawn over each other.
    const double depth =
        std::min(18 + std::abs(end - begin) / 5, kDeepestArrow) - (end < begin ? 0 : 8);
    const double shift = end < begin ? -4 : 4;
    add("<path d=\"M{0:.1f},{2:.1f} C{0:.1f},{3:.1f} {1:.1f},{3:.1f} {1:.1f},{2:.1f}\" "
        "class=\"arrow\"/>\n",
        begin + shift, end - shift, y, y + depth);
  }

  const NetworkTree& tree_;
  NetworkLayout layout_;
  double top_ = 0;
  std::string body_;
};

}  // namespace

std::string network_svg(const NetworkTree& tree, std::span<const NamedRing> rings) {
  if (tree.vertices().size() > kMostDrawnVertices) {
    throw Error(
        ErrorKind::invalid_argument,
        fmt::format("--svg: the network has {} switches and hosts, of which a drawing shows "
                    "{} at most; describe a part of it",
                    tree.vertices().size(), kMostDrawnVertices));
  }
  return NetworkDrawing(tree).draw(rings);
}

}  // namespace hycoll
