#include "tools/command/modelling/model_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/price_text.h"
#include "tools/command/comparing/html.h"
#include "tools/command/line/sizes.h"
#include "tools/command/line/table.h"

namespace hycoll::command {
namespace {

/// A line of the picture: also what else is to be told beside the model gets one.
struct Line {
  std::string_view name;
  int color;
  double ModelPoint::*time_us;
};
constexpr Line kLines[] = {{"model", 1, &ModelPoint::model_us},
                           {"model, by the text", 3, &ModelPoint::by_the_text_us},
                           {"walk", 2, &ModelPoint::walk_us}};

std::string shape_text(const ModelQuestion& question) {
  const ModelCall& call = question.call;
  return fmt::format("{} nodes of {}, lanes: {}{}", call.nodes, call.members, call.lanes,
                     call.domains > 1 ? fmt::format(", domains: {}", call.domains) : "");
}

std::string title_of(const ModelQuestion& question) {
  const ClosedForm& form = *question.form;
  return fmt::format("{} {}: {}, {}; {}", name_of(form.collective), form.algorithm, form.paper,
                     form.equations, shape_text(question));
}

bool differ_in_segments(const std::vector<ModelPoint>& points) {
  return std::ranges::any_of(points, [](const ModelPoint& point) { return point.segments > 1; });
}

std::string term_text(const ModelTerm& term) {
  const std::string time = time_text(term.time_us);
  return term.is_overlapped ? '[' + time + ']' : time;
}

TextTable times_table(const ModelQuestion& question, const std::vector<ModelPoint>& points) {
  const bool has_segments = differ_in_segments(points);
  const bool has_text = question.form->terms_by_the_text != nullptr;
  std::vector<std::string> header = {"bytes"};
  if (has_segments) header.emplace_back("segments");
  for (const ModelTerm& term : points.front().terms) {
    header.push_back(fmt::format("{} {}", term.name, term.source));
  }
  header.emplace_back("model us");
  if (has_text) header.emplace_back("by the text");
  header.insert(header.end(), {"walk us", "walk/model"});
  if (has_text) header.emplace_back("walk/text");
  TextTable table(std::move(header));
  for (const ModelPoint& point : points) {
    std::vector<std::string> row = {short_size(point.size_bytes)};
    if (has_segments) row.push_back(std::to_string(point.segments));
    for (const ModelTerm& term : point.terms) row.push_back(term_text(term));
    row.push_back(time_text(point.model_us));
    if (has_text) row.push_back(time_text(point.by_the_text_us));
    row.insert(row.end(), {time_text(point.walk_us), ratio_text(point.walk_us / point.model_us)});
    if (has_text) row.push_back(ratio_text(point.walk_us / point.by_the_text_us));
    table.add_row(std::move(row));
  }
  return table;
}

TextTable transmissions_table(const std::vector<ModelPoint>& points) {
  TextTable table({"bytes", "messages", "counted", "MB", "counted", "walk us"});
  const auto megabytes = [](double bytes) { return fmt::format("{:.4g}", bytes / 1e6); };
  for (const ModelPoint& point : points) {
    table.add_row({short_size(point.size_bytes), fmt::format("{:.0f}", point.modelled->messages),
                   fmt::format("{:.0f}", point.counted->messages), megabytes(point.modelled->bytes),
                   megabytes(point.counted->bytes), time_text(point.walk_us)});
  }
  return table;
}

Json number_or_null(double number) { return std::isfinite(number) ? Json(number) : Json(); }

Json record_of(const ModelPoint& point) {
  Json terms = Json::object();
  Json overlapped = Json::array();
  for (const ModelTerm& term : point.terms) {
    terms[std::string(term.name)] = term.time_us;
    if (term.is_overlapped) overlapped.push_back(term.name);
  }
  Json record = {{"bytes", point.size_bytes},
                 {"segments", point.segments},
                 {"terms_us", terms},
                 {"overlapped", overlapped},
                 {"model_us", number_or_null(point.model_us)},
                 {"by_the_text_us", number_or_null(point.by_the_text_us)},
                 {"walk_us", number_or_null(point.walk_us)}};
  if (point.modelled) {
    record.update({{"model_messages", point.modelled->messages},
                   {"counted_messages", point.counted->messages},
                   {"model_bytes", point.modelled->bytes},
                   {"counted_bytes", point.counted->bytes}});
  }
  return record;
}

ChartSeries series_of(const Line& line, const std::vector<ModelPoint>& points) {
  ChartSeries series{.name = std::string(line.name), .color = line.color, .points = {}};
  for (const ModelPoint& point : points) {
    const double time_us = point.*line.time_us;
    if (!std::isfinite(time_us)) continue;
    series.points.push_back(time_point(series.name, point.size_bytes, time_us));
  }
  return series;
}

}  // namespace

std::string model_text(const ModelQuestion& question, const std::vector<ModelPoint>& points) {
  const ClosedForm& form = *question.form;
  const bool has_times = form.terms != nullptr;
  std::string text = fmt::format(
      "{}\n{}", title_of(question),
      (has_times ? times_table(question, points) : transmissions_table(points)).to_text());
  const bool has_brackets = std::ranges::any_of(points, [](const ModelPoint& point) {
    return std::ranges::any_of(point.terms, &ModelTerm::is_overlapped);
  });
  if (has_brackets) text += "[in brackets]: no part of the sum\n";
  if (!form.contradiction.empty()) text += fmt::format("by the text: {}\n", form.contradiction);
  return text;
}

Report model_report(const ModelQuestion& question, const MachinePrices& prices,
                    const std::vector<ModelPoint>& points) {
  const ClosedForm& form = *question.form;
  Json sources = Json::object();
  for (const ModelTerm& term : points.front().terms) {
    sources[std::string(term.name)] = term.source;
  }
  Report report{
      .context = {{"command", "model"},
                  {"collective", name_of(form.collective)},
                  {"algorithm", form.algorithm},
                  {"paper", form.paper},
                  {"equations", form.equations},
                  {"terms", sources},
                  {"by_the_text", form.contradiction.empty() ? Json() : Json(form.contradiction)},
                  {"nodes", question.call.nodes},
                  {"members", question.call.members},
                  {"lanes", question.call.lanes},
                  {"domains", question.call.domains},
                  {"visibility", question.visibility == Visibility::direct ? "direct" : "staged"},
                  {"prices", to_text(prices)}},
      .records = {}};
  for (const ModelPoint& point : points) report.records.push_back(record_of(point));
  return report;
}

std::string model_picture(const ModelQuestion& question, const std::vector<ModelPoint>& points) {
  std::vector<ChartSeries> all;
  for (const Line& line : kLines) {
    ChartSeries series = series_of(line, points);
    if (!series.points.empty()) all.push_back(std::move(series));
  }
  return chart_picture(ChartKind::times, title_of(question), all);
}

std::string forms_text() {
  TextTable table({fmt::format("{:<10} algorithm", "collective"), "paper", "equations"});
  for (const ClosedForm& form : closed_forms()) {
    table.add_row({fmt::format("{:<10} {}", name_of(form.collective), form.algorithm),
                   std::string(form.paper), std::string(form.equations)});
  }
  return table.to_text();
}

Report forms_report() {
  Report report{.context = {{"command", "model --list"}}, .records = {}};
  for (const ClosedForm& form : closed_forms()) {
    report.records.push_back({{"collective", name_of(form.collective)},
                              {"algorithm", form.algorithm},
                              {"paper", form.paper},
                              {"equations", form.equations}});
  }
  return report;
}

}  // namespace hycoll::command
