#ifndef HYCOLL_TOOLS_COMMAND_COMPARING_HTML_H_
#define HYCOLL_TOOLS_COMMAND_COMPARING_HTML_H_

#include <cstddef>
#include <string>
#include <vector>

namespace hycoll::command {

/// The style of charts as html_page has it, for pictures: of light colours, and without what many
/// programs that show pictures do not know.
std::string picture_style();

/// A whole document without external resources, for light and dark screens. `body` is HTML.
std::string html_page(const std::string& title, const std::string& body);

/// A table; cells are HTML. The first column is flush left, the others flush right.
std::string html_table(const std::vector<std::string>& header,
                       const std::vector<std::vector<std::string>>& rows);

/// One point of a series, with the range over which it varied.
struct ChartPoint {
  double x = 0;
  double y = 0;
  double low = 0;
  double high = 0;
  std::string tooltip;
};

/// A time that did not vary, over the bytes that it is of.
ChartPoint time_point(const std::string& series, std::size_t size_bytes, double time_us);

struct ChartSeries {
  std::string name;
  int color = 0;  ///< 0 to kSeriesColors - 1: the same number is the same colour everywhere.
  std::vector<ChartPoint> points;  ///< By ascending x.
};

inline constexpr int kSeriesColors = 7;

enum class ChartKind {
  times,   ///< Microseconds over bytes, with a line for each decade.
  ratios,  ///< Ratios over bytes, with a line for each power of two, and 1 emphasised.
};

/// A chart of both axes logarithmic, as SVG for html_page. Points that are not positive are left
/// out; without any the result is empty.
std::string chart(ChartKind kind, const std::string& title, const std::vector<ChartSeries>& series);

/// The same as a picture by itself: a whole SVG document, with title and legend.
std::string chart_picture(ChartKind kind, const std::string& title,
                          const std::vector<ChartSeries>& series);

/// The names of the series beside their colours.
std::string chart_legend(const std::vector<ChartSeries>& series);

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_COMPARING_HTML_H_
