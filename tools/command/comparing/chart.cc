// The charts of html.h.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "core/base/markup.h"
#include "tools/command/comparing/html.h"
#include "tools/command/line/sizes.h"
#include "tools/command/line/table.h"

namespace hycoll::command {
namespace {

constexpr double kWidth = 560;
constexpr double kHeight = 330;
constexpr double kLeft = 62;
constexpr double kRight = 14;
constexpr double kTop = 12;
constexpr double kBottom = 42;
constexpr double kMaximumLabels = 8;
// Above a picture by itself: its title, and the key of each line.
constexpr double kHeading = 52;
constexpr double kKeyWidth = 18;
constexpr double kKeyGap = 6;
constexpr double kCharacterWidth = 6.5;

/// A logarithmic axis from `low` to `high`, drawn from `begin` to `end`.
struct Axis {
  double base;
  double low;  // as exponents of the base
  double high;
  double begin;
  double end;

  double at(double value) const {
    const double exponent = std::log(value) / std::log(base);
    return begin + (end - begin) * (exponent - low) / (high - low);
  }

  /// The exponents that get a line and a label: every so many from the first one, or, with an
  /// origin, such that it is among them.
  enum class Anchor { first, origin };
  std::vector<int> ticks(Anchor anchor) const {
    const int first = static_cast<int>(std::ceil(low - 1e-9));
    const int last = static_cast<int>(std::floor(high + 1e-9));
    const int step = std::max(1, static_cast<int>(std::ceil((last - first) / kMaximumLabels)));
    std::vector<int> exponents;
    for (int exponent = first; exponent <= last; ++exponent) {
      const int distance = anchor == Anchor::first ? exponent - first : exponent;
      if (distance % step == 0) exponents.push_back(exponent);
    }
    return exponents;
  }
};

struct Extent {
  double low = std::numeric_limits<double>::infinity();
  double high = 0;

  void include(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

bool is_drawable(const ChartPoint& point) {
  return point.x > 0 && point.y > 0 && point.low > 0 && point.high > 0;
}

std::string time_label(int decade) {
  static constexpr const char* kUnits[] = {"ns", "µs", "ms", "s"};
  const int nanoseconds_decade = decade + 3;
  const int unit = std::clamp(nanoseconds_decade / 3, 0, 3);
  return fmt::format("{:g} {}", std::pow(10, nanoseconds_decade - 3 * unit), kUnits[unit]);
}

std::string ratio_label(int exponent) { return fmt::format("{:g}x", std::pow(2, exponent)); }

std::string axes_svg(ChartKind kind, const Axis& x, const Axis& y) {
  std::string svg;
  for (const int exponent : y.ticks(Axis::Anchor::origin)) {
    const double at = y.at(std::pow(y.base, exponent));
    const bool unit = kind == ChartKind::ratios && exponent == 0;
    svg += fmt::format(
        "<line class=\"grid{}\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>"
        "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n",
        unit ? " unit" : "", x.begin, x.end, at, at, kLeft - 9, at + 4,
        kind == ChartKind::times ? time_label(exponent) : ratio_label(exponent));
  }
  for (const int exponent : x.ticks(Axis::Anchor::first)) {
    const double at = x.at(std::pow(2, exponent));
    svg += fmt::format(
        "<line class=\"grid\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>"
        "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n",
        at, at, y.begin, y.end, at, kHeight - kBottom + 20,
        short_size(std::size_t{1} << std::max(exponent, 0)));
  }
  return svg + fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">bytes</text>\n",
                           (x.begin + x.end) / 2, kHeight - 4);
}

std::string series_svg(const ChartSeries& series, const Axis& x, const Axis& y) {
  std::string line;
  std::string upper;
  std::string lower;
  std::string dots;
  for (const ChartPoint& point : series.points) {
    if (!is_drawable(point)) continue;
    const double at = x.at(point.x);
    line += fmt::format("{:.1f},{:.1f} ", at, y.at(point.y));
    upper += fmt::format("{:.1f},{:.1f} ", at, y.at(point.high));
    lower = fmt::format("{:.1f},{:.1f} ", at, y.at(point.low)) + lower;
    dots += fmt::format(
        "<circle class=\"dot f{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\"><title>{}</title>"
        "</circle>\n",
        series.color, at, y.at(point.y), escaped(point.tooltip));
  }
  return fmt::format(
      "<polygon class=\"spread f{0}\" points=\"{1}{2}\"/>\n"
      "<polyline class=\"line c{0}\" points=\"{3}\"/>\n{4}",
      series.color, upper, lower, line, dots);
}

/// Axes and lines, without the picture around them; empty if there is nothing to draw.
std::string content_svg(ChartKind kind, const std::vector<ChartSeries>& series) {
  Extent x_extent;
  Extent y_extent;
  for (const ChartSeries& one : series) {
    for (const ChartPoint& point : one.points) {
      if (!is_drawable(point)) continue;
      x_extent.include(point.x);
      y_extent.include(point.low);
      y_extent.include(point.high);
    }
  }
  if (x_extent.high == 0) return "";
  if (kind == ChartKind::ratios) y_extent.include(1);

  const double base = kind == ChartKind::times ? 10 : 2;
  const auto exponent = [](double value, double of) { return std::log(value) / std::log(of); };
  const Axis x{2, exponent(x_extent.low, 2) - 0.25, exponent(x_extent.high, 2) + 0.25, kLeft,
               kWidth - kRight};
  // Whole decades, or whole powers of two, so that the outermost lines are labelled.
  const double low = std::floor(exponent(y_extent.low, base) + 1e-9);
  const double high = std::max(std::ceil(exponent(y_extent.high, base) - 1e-9), low + 1);
  const Axis y{base, low, high, kHeight - kBottom, kTop};

  std::string svg = axes_svg(kind, x, y);
  for (const ChartSeries& one : series) svg += series_svg(one, x, y);
  return svg;
}

/// A short line in the colour of each series, and its name.
std::string legend_svg(const std::vector<ChartSeries>& series, double y) {
  std::string svg;
  double x = kLeft;
  for (const ChartSeries& one : series) {
    svg += fmt::format(
        "<line class=\"line c{}\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>"
        "<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
        one.color, x, x + kKeyWidth, y, y, x + kKeyWidth + kKeyGap, y + 4, escaped(one.name));
    x += kKeyWidth + 3 * kKeyGap + kCharacterWidth * static_cast<double>(one.name.size());
  }
  return svg;
}

}  // namespace

ChartPoint time_point(const std::string& series, std::size_t size_bytes, double time_us) {
  return {.x = static_cast<double>(size_bytes),
          .y = time_us,
          .low = time_us,
          .high = time_us,
          .tooltip = fmt::format("{}: {} bytes, {} us", series, short_size(size_bytes),
                                 time_text(time_us))};
}

std::string chart(ChartKind kind, const std::string& title,
                  const std::vector<ChartSeries>& series) {
  const std::string content = content_svg(kind, series);
  if (content.empty()) return "";
  return fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n{}</svg>\n",
                     kWidth, kHeight, escaped(title), content);
}

std::string chart_picture(ChartKind kind, const std::string& title,
                          const std::vector<ChartSeries>& series) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 {top} {width} {height}\" "
      "width=\"{width}\" height=\"{height}\" font-family=\"system-ui, sans-serif\">\n"
      "<title>{title}</title>\n<style>{style}</style>\n"
      "<rect fill=\"#ffffff\" y=\"{top}\" width=\"{width}\" height=\"{height}\"/>\n"
      "<text x=\"{left}\" y=\"{title_y}\">{title}</text>\n{legend}{content}</svg>\n",
      fmt::arg("top", -kHeading), fmt::arg("width", kWidth), fmt::arg("height", kHeight + kHeading),
      fmt::arg("title", escaped(title)), fmt::arg("style", picture_style()),
      fmt::arg("left", kLeft), fmt::arg("title_y", -kHeading + 22),
      fmt::arg("legend", legend_svg(series, -10)), fmt::arg("content", content_svg(kind, series)));
}

std::string chart_legend(const std::vector<ChartSeries>& series) {
  std::string text;
  for (const ChartSeries& one : series) {
    text += fmt::format("<span><i class=\"f{}\"></i>{}</span>", one.color, escaped(one.name));
  }
  return fmt::format("<div class=\"legend\">{}</div>\n", text);
}

}  // namespace hycoll::command
