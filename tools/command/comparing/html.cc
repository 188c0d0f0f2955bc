#include "tools/command/comparing/html.h"

#include <fmt/format.h>

#include "core/base/markup.h"

namespace hycoll::command {
namespace {

/// A colour by the name that rules give it, for light and dark screens.
struct Colour {
  const char* name;
  const char* light;
  const char* dark;
};

// Of charts, and of what else a page shows in the same colours.
constexpr Colour kColours[] = {
    {"card", "#ffffff", "#181c23"}, {"text", "#1b1f24", "#e7eaf0"}, {"muted", "#667085", "#98a2b3"},
    {"grid", "#e7e9ee", "#2a303a"}, {"c0", "#8a93a3", "#98a2b3"},   {"c1", "#2563eb", "#60a5fa"},
    {"c2", "#0d9488", "#2dd4bf"},   {"c3", "#c2410c", "#fb923c"},   {"c4", "#9333ea", "#c084fc"},
    {"c5", "#a16207", "#facc15"},   {"c6", "#be185d", "#f472b6"}};

constexpr const char* kChartRules = R"css(
svg text { fill: var(--muted); font-size: 12px; font-family: inherit; }
.grid { stroke: var(--grid); stroke-width: 1; } .unit { stroke: var(--muted); stroke-dasharray: 4 4; }
.line { fill: none; stroke-width: 2.25; stroke-linejoin: round; stroke-linecap: round; }
.spread { stroke: none; opacity: 0.16; } .dot { stroke: var(--card); stroke-width: 1.5; }
.c0 { stroke: var(--c0); } .c1 { stroke: var(--c1); } .c2 { stroke: var(--c2); }
.c3 { stroke: var(--c3); } .c4 { stroke: var(--c4); } .c5 { stroke: var(--c5); }
.c6 { stroke: var(--c6); }
.f0 { fill: var(--c0); background: var(--c0); } .f1 { fill: var(--c1); background: var(--c1); }
.f2 { fill: var(--c2); background: var(--c2); } .f3 { fill: var(--c3); background: var(--c3); }
.f4 { fill: var(--c4); background: var(--c4); } .f5 { fill: var(--c5); background: var(--c5); }
.f6 { fill: var(--c6); background: var(--c6); }
)css";

constexpr const char* kPageStyle = R"css(
:root { color-scheme: light dark; --page: #f6f7f9; --edge: #dfe2e8; --good: #14804a; --bad: #c0362c; }
@media (prefers-color-scheme: dark) {
  :root { --page: #101318; --edge: #2c323d; --good: #4ade80; --bad: #f87171; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 1180px; margin: 0 auto; padding: 32px 20px 56px; }
h1 { font-size: 27px; line-height: 1.2; margin: 0 0 4px; letter-spacing: -0.01em; }
h2 { font-size: 20px; margin: 40px 0 4px; }
h3 { font-size: 15px; margin: 0 0 2px; }
p { margin: 4px 0 12px; } .muted { color: var(--muted); } .small { font-size: 13px; }
.card { background: var(--card); border: 1px solid var(--edge); border-radius: 12px;
  padding: 16px 18px; margin: 14px 0; }
.row { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 430px), 1fr));
  gap: 14px; } .row > .card { margin: 0; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: 14px; }
th, td { padding: 5px 10px; text-align: right; white-space: nowrap; }
th { color: var(--muted); font-weight: 600; border-bottom: 1px solid var(--edge); }
tbody tr:nth-child(even) { background: color-mix(in srgb, var(--grid) 35%, transparent); }
th:first-child, td:first-child { text-align: left; }
.faster { color: var(--good); font-weight: 600; } .slower { color: var(--bad); font-weight: 600; }
.warning { border-left: 4px solid var(--bad); }
.legend { display: flex; flex-wrap: wrap; gap: 4px 18px; font-size: 13px; margin: 2px 0 6px; }
.legend i { display: inline-block; width: 14px; height: 4px; border-radius: 2px;
  margin-right: 7px; vertical-align: middle; }
svg { display: block; width: 100%; height: auto; }
.bar { height: 10px; border-radius: 5px; min-width: 2px; }
dt { font-weight: 600; } dd { margin: 0 0 8px; color: var(--muted); }
details summary { cursor: pointer; color: var(--muted); }
)css";

/// The colours as variables of a page.
std::string colour_variables() {
  std::string light;
  std::string dark;
  for (const Colour& colour : kColours) {
    light += fmt::format(" --{}: {};", colour.name, colour.light);
    dark += fmt::format(" --{}: {};", colour.name, colour.dark);
  }
  return fmt::format(":root {{{} }}\n@media (prefers-color-scheme: dark) {{\n  :root {{{} }} }}\n",
                     light, dark);
}

std::string cells(const char* tag, const std::vector<std::string>& contents) {
  std::string text;
  for (const std::string& content : contents) text += fmt::format("<{0}>{1}</{0}>", tag, content);
  return text;
}

}  // namespace

std::string picture_style() {
  std::string style = kChartRules;
  for (const Colour& colour : kColours) {
    const std::string variable = fmt::format("var(--{})", colour.name);
    for (std::size_t at = style.find(variable); at != std::string::npos;
         at = style.find(variable)) {
      style.replace(at, variable.size(), colour.light);
    }
  }
  return style;
}

std::string html_page(const std::string& title, const std::string& body) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{}</title>\n<style>\n{}{}{}</style>\n</head>\n<body>\n<main>\n{}</main>\n</body>\n</"
      "html>\n",
      escaped(title), colour_variables(), kChartRules, kPageStyle, body);
}

std::string html_table(const std::vector<std::string>& header,
                       const std::vector<std::vector<std::string>>& rows) {
  std::string text = fmt::format("<div class=\"scroll\"><table><thead><tr>{}</tr></thead><tbody>\n",
                                 cells("th", header));
  for (const auto& row : rows) text += fmt::format("<tr>{}</tr>\n", cells("td", row));
  return text + "</tbody></table></div>\n";
}

}  // namespace hycoll::command
