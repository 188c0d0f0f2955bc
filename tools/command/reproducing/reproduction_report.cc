#include "tools/command/reproducing/reproduction_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "core/base/markup.h"
#include "core/models/broadcast_slides.h"
#include "tools/command/comparing/html.h"
#include "tools/command/line/sizes.h"
#include "tools/command/line/table.h"

namespace hycoll::command {
namespace {

std::string title_of(const PaperResult& result) {
  return fmt::format("{}: {}", result.paper, result.title);
}

std::string shape_text(const PaperResult& result) {
  const std::string paper =
      result.paper_nodes > 0 ? fmt::format(" (paper: {} nodes)", result.paper_nodes) : "";
  return fmt::format("{} on {} nodes of {}{}, platform {}", name_of(result.collective),
                     result.nodes, result.members, paper, result.platform);
}

/// By claim: what, the paper's number, that here, and here / paper.
struct ClaimLine {
  std::string what;
  std::string paper;
  std::string here;
  std::string ratio;
  bool deviates;
};

std::vector<ClaimLine> claim_lines(const Reproduction& reproduction) {
  std::vector<ClaimLine> lines;
  for (std::size_t i = 0; i < reproduction.values.size(); ++i) {
    const Claim& claim = reproduction.result.claims[i];
    const double value = reproduction.values[i];
    lines.push_back({.what = std::string(claim.what),
                     .paper = value_text(claim.measure, claim.paper),
                     .here = value_text(claim.measure, value),
                     .ratio = std::isfinite(value) ? fmt::format("{:.2f}", value / claim.paper)
                                                   : std::string("-"),
                     .deviates = deviates(value, claim.paper)});
  }
  return lines;
}

/// Header and rows of a table.
struct Cells {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;

  std::string text() const {
    TextTable table(header);
    for (const auto& row : rows) table.add_row(row);
    return table.to_text();
  }
};

Cells claim_cells(const Reproduction& reproduction) {
  Cells cells{.header = {"", "paper", "here", "here / paper"}, .rows = {}};
  for (const ClaimLine& line : claim_lines(reproduction)) {
    cells.rows.push_back({line.what, line.paper, line.here, line.ratio});
  }
  return cells;
}

Cells time_cells(const Reproduction& reproduction) {
  const PaperResult& result = reproduction.result;
  Cells cells{.header = {"bytes"}, .rows = {}};
  for (const Curve& curve : result.curves) {
    cells.header.emplace_back(curve.name);
  }
  for (std::size_t size = 0; size < result.sizes_bytes.size(); ++size) {
    std::vector<std::string> row = {short_size(result.sizes_bytes[size])};
    for (const auto& times_us : reproduction.times_us) row.push_back(time_text(times_us[size]));
    cells.rows.push_back(std::move(row));
  }
  return cells;
}

double saved_share(const BroadcastSaving& saving) {
  return static_cast<double>(saving.saved_bytes()) / static_cast<double>(saving.native.sent_bytes);
}

Cells saving_cells(const Reproduction& reproduction) {
  Cells cells{
      .header = {"processes", "bytes", "messages", "tuned", "saved", "MB", "tuned", "saved"},
      .rows = {}};
  const auto megabytes = [](std::size_t size_bytes) {
    return fmt::format("{:.2f}", static_cast<double>(size_bytes) / 1e6);
  };
  for (const BroadcastSaving& saving : reproduction.savings) {
    cells.rows.push_back(
        {std::to_string(saving.rank_count), short_size(saving.size_bytes),
         std::to_string(saving.native.message_count),
         std::to_string(saving.optimised.message_count), std::to_string(saving.saved_messages()),
         megabytes(saving.native.sent_bytes), megabytes(saving.optimised.sent_bytes),
         fmt::format("{:.1f} %", 100 * saved_share(saving))});
  }
  return cells;
}

std::vector<ChartSeries> series_of(const Reproduction& reproduction) {
  const PaperResult& result = reproduction.result;
  std::vector<ChartSeries> all;
  for (std::size_t i = 0; i < result.curves.size(); ++i) {
    ChartSeries series{.name = std::string(result.curves[i].name),
                       .color = static_cast<int>(i) % kSeriesColors,
                       .points = {}};
    for (std::size_t size = 0; size < result.sizes_bytes.size(); ++size) {
      series.points.push_back(
          time_point(series.name, result.sizes_bytes[size], reproduction.times_us[i][size]));
    }
    all.push_back(std::move(series));
  }
  return all;
}

Json number_or_null(double number) { return std::isfinite(number) ? Json(number) : Json(); }

void add_claims(const Reproduction& reproduction, std::vector<Json>& records) {
  for (std::size_t i = 0; i < reproduction.values.size(); ++i) {
    const Claim& claim = reproduction.result.claims[i];
    const double value = reproduction.values[i];
    records.push_back({{"kind", "claim"},
                       {"result", reproduction.result.name},
                       {"what", claim.what},
                       {"paper", claim.paper},
                       {"here", number_or_null(value)},
                       {"ratio", number_or_null(value / claim.paper)},
                       {"deviates", deviates(value, claim.paper)}});
  }
}

void add_times(const Reproduction& reproduction, std::vector<Json>& records) {
  const PaperResult& result = reproduction.result;
  for (std::size_t i = 0; i < result.curves.size(); ++i) {
    for (std::size_t size = 0; size < result.sizes_bytes.size(); ++size) {
      records.push_back({{"kind", "time"},
                         {"result", result.name},
                         {"curve", result.curves[i].name},
                         {"algorithm", result.curves[i].algorithm},
                         {"bytes", result.sizes_bytes[size]},
                         {"time_us", reproduction.times_us[i][size]}});
    }
  }
}

void add_savings(const Reproduction& reproduction, std::vector<Json>& records) {
  for (const BroadcastSaving& saving : reproduction.savings) {
    records.push_back({{"kind", "messages"},
                       {"result", reproduction.result.name},
                       {"ranks", saving.rank_count},
                       {"bytes", saving.size_bytes},
                       {"native_messages", saving.native.message_count},
                       {"optimised_messages", saving.optimised.message_count},
                       {"saved_messages", saving.saved_messages()},
                       {"surplus_after_scatter", models::saved_messages(saving.rank_count)},
                       {"native_bytes", saving.native.sent_bytes},
                       {"optimised_bytes", saving.optimised.sent_bytes},
                       {"saved_bytes", saving.saved_bytes()},
                       {"saved_share", saved_share(saving)}});
  }
}

std::string html_of(const Cells& cells) {
  Cells escaped_cells = cells;
  for (std::string& cell : escaped_cells.header) cell = escaped(cell);
  for (auto& row : escaped_cells.rows) {
    for (std::string& cell : row) cell = escaped(cell);
  }
  return html_table(escaped_cells.header, escaped_cells.rows);
}

std::string claims_html(const Reproduction& reproduction) {
  std::vector<std::vector<std::string>> rows;
  for (const ClaimLine& line : claim_lines(reproduction)) {
    rows.push_back({escaped(line.what), line.paper, line.here,
                    fmt::format("<span class=\"{}\">{}</span>", line.deviates ? "slower" : "faster",
                                line.ratio)});
  }
  return html_table({"", "paper", "here", "here / paper"}, rows);
}

std::string section_of(const Reproduction& reproduction) {
  const PaperResult& result = reproduction.result;
  const std::vector<ChartSeries> series = series_of(reproduction);
  std::string html = fmt::format(
      "<h2>{}</h2>\n<p>{}</p>\n<p class=\"muted\">{}. {}</p>\n<div class=\"row\">\n"
      "<div class=\"card\">{}</div>\n<div class=\"card\"><h3>Time of a call</h3>\n{}{}</div>\n"
      "</div>\n<details class=\"card\"><summary>All times in us</summary>{}</details>\n",
      escaped(result.name), escaped(title_of(result)), escaped(shape_text(result)),
      escaped(result.note), claims_html(reproduction), chart_legend(series),
      chart(ChartKind::times, "time of a call over bytes", series),
      html_of(time_cells(reproduction)));
  if (!reproduction.savings.empty()) {
    html +=
        fmt::format("<details class=\"card\"><summary>Messages and bytes</summary>{}</details>\n",
                    html_of(saving_cells(reproduction)));
  }
  return html;
}

/// "12 of 20 numbers are within 30 % of the papers'."
std::string verdict(const std::vector<Reproduction>& reproductions) {
  int near = 0;
  int all = 0;
  for (const Reproduction& reproduction : reproductions) {
    for (const ClaimLine& line : claim_lines(reproduction)) {
      ++all;
      if (!line.deviates) ++near;
    }
  }
  return fmt::format("{} of {} numbers are within 30 % of the papers'.", near, all);
}

}  // namespace

std::string results_text() {
  TextTable table({"result", "what", "paper"});
  for (const PaperResult& result : paper_results()) {
    std::string name(result.name);
    std::string title = title_of(result);
    for (const Claim& claim : result.claims) {
      table.add_row({std::exchange(name, ""), std::exchange(title, ""),
                     fmt::format("{}: {}", claim.what, value_text(claim.measure, claim.paper))});
    }
  }
  std::string text = table.to_text() + "\nnot reproduced:\n";
  for (const LeftOut& row : left_out()) text += fmt::format("  {}: {}\n", row.what, row.reason);
  return text;
}

Report results_report() {
  Report report{.context = {{"command", "reproduce"}}, .records = {}};
  for (const PaperResult& result : paper_results()) {
    for (const Claim& claim : result.claims) {
      report.records.push_back({{"result", result.name},
                                {"source", result.paper},
                                {"title", result.title},
                                {"what", claim.what},
                                {"paper", claim.paper}});
    }
  }
  return report;
}

std::string reproduction_text(const Reproduction& reproduction) {
  const PaperResult& result = reproduction.result;
  std::string text = fmt::format("{}: {}\n{}\n\n{}\nsimulated us\n{}", result.name,
                                 title_of(result), shape_text(result),
                                 claim_cells(reproduction).text(), time_cells(reproduction).text());
  if (!reproduction.savings.empty()) {
    text +=
        fmt::format("\nmessages and bytes of all processes\n{}", saving_cells(reproduction).text());
  }
  if (!result.note.empty()) text += fmt::format("\n{}\n", result.note);
  return text + fmt::format("simulated in {:.1f} s\n", reproduction.wall_s);
}

std::string reproduction_picture(const Reproduction& reproduction) {
  return chart_picture(
      ChartKind::times,
      fmt::format("{}: {}", reproduction.result.name, title_of(reproduction.result)),
      series_of(reproduction));
}

Report reproductions_report(const std::vector<Reproduction>& reproductions) {
  Json wall_s = Json::object();
  for (const Reproduction& reproduction : reproductions) {
    wall_s[std::string(reproduction.result.name)] = reproduction.wall_s;
  }
  Report report{.context = {{"command", "reproduce"}, {"wall_s", wall_s}}, .records = {}};
  for (const Reproduction& reproduction : reproductions) {
    add_claims(reproduction, report.records);
    add_times(reproduction, report.records);
    add_savings(reproduction, report.records);
  }
  return report;
}

std::string reproductions_page(const std::vector<Reproduction>& reproductions) {
  std::string body = fmt::format(
      "<h1>Results of papers, simulated</h1>\n<p>{}</p>\n<p class=\"muted\">Schedules of hycoll on "
      "described machines. No parameter is fitted to a result; docs/reproduction.md says why "
      "numbers differ.</p>\n",
      verdict(reproductions));
  for (const Reproduction& reproduction : reproductions) body += section_of(reproduction);
  return html_page("Results of papers, simulated", body);
}

}  // namespace hycoll::command
