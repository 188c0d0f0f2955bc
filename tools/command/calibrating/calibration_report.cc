#include "tools/command/calibrating/calibration_report.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/machine_file.h"
#include "core/base/price_text.h"
#include "tools/command/calibrating/throughput_zones.h"
#include "tools/command/comparing/html.h"
#include "tools/command/line/sizes.h"
#include "tools/command/line/table.h"

namespace hycoll::command {
namespace {

using measure::Reach;

std::string_view name_of(Reach reach) {
  return reach == Reach::inside ? "inside a node" : "between nodes";
}

/// Of a machine file's "measured".
constexpr const char* kZonesKey = "zones";

/// In a table, what could not be told.
const std::string kBusy = "busy";

/// What there is to say of the zones, also that it could not be told.
std::string zones_text(const MessageCosts& costs) {
  if (costs.most_pairs() < 2) return "zones need two pairs, and cores for them";
  const std::optional<ThroughputZones> zones = find_zones(costs);
  return zones ? to_text(*zones) : "zones could not be told: the machine is busy";
}

std::string prices_text(const Calibration& calibration) {
  const CalibratedPrices calibrated = prices_of(calibration);
  const std::vector<PriceText> texts = price_texts(calibrated.prices);
  std::string text;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const CalibratedPrice& price = calibrated.all[i];
    text += fmt::format("{:<10}{:>14}  {}{}\n", texts[i].key, texts[i].value,
                        price.is_measured ? "" : "default; ", price.origin);
  }
  return text;
}

std::string memory_text(const Calibration& calibration) {
  TextTable table({"workers", "copy GB/s", "reduce GB/s"});
  for (const MemoryPoint& point : calibration.memory) {
    table.add_row({std::to_string(point.workers), to_text(point.copy_gb_per_s),
                   to_text(point.reduce_gb_per_s)});
  }
  return table.to_text();
}

std::string lines_text(const Calibration& calibration) {
  if (calibration.latencies.empty()) return "";
  TextTable table({"a line between cores", "ns"});
  for (const LineLatency& line : calibration.latencies) {
    table.add_row({std::string(hycoll::name_of(line.proximity)), to_text(line.ns)});
  }
  table.add_row({"each of many lines", to_text(calibration.gap_ns)});
  return '\n' + table.to_text();
}

/// A row for each size: the throughput of one pair, and how many times that several have.
std::string messages_text(const MessageCosts& costs) {
  const std::optional<ThroughputZones> zones = find_zones(costs);
  std::vector<std::string> header = {"bytes", "zone", "messages/s", "GB/s"};
  for (const StreamPoint& point : costs.points) {
    if (point.size_bytes != costs.points.front().size_bytes) break;
    if (point.pairs > 1) header.push_back(fmt::format("{} pairs", point.pairs));
  }
  TextTable table(header);
  std::vector<std::string> row;
  const auto end_row = [&] {
    if (!row.empty()) table.add_row(std::exchange(row, {}));
  };
  for (const StreamPoint& point : costs.points) {
    const bool is_told = point.messages_per_s.is_told();
    if (point.pairs > 1) {
      row.push_back(is_told ? ratio_text(costs.relative(point)) : kBusy);
      continue;
    }
    end_row();
    row = {short_size(point.size_bytes),
           zones ? std::string(1, zones->zone_of(point.size_bytes)) : "-",
           is_told ? fmt::format("{:.4g}", point.messages_per_s.median) : kBusy,
           is_told ? fmt::format("{:.3g}", point.gb_per_s()) : kBusy};
  }
  end_row();
  return fmt::format(
      "\nmessages {}: {}\n8 bytes, one way, us: {}; each further message, us: {}\n{}",
      name_of(costs.reach), zones_text(costs), to_text(costs.latency_us), to_text(costs.message_us),
      table.to_text());
}

Json to_json(const Spread& spread) {
  if (!spread.is_told()) return {{"told", false}, {"running", spread.running}};
  return {{"median", spread.median},
          {"low", spread.low},
          {"high", spread.high},
          {"samples", spread.samples}};
}

/// A record for each thing; units are in the keys.
std::vector<Json> records_of(const Calibration& calibration) {
  std::vector<Json> records;
  const auto add = [&](std::string_view what, Json of, std::string_view unit,
                       const Spread& spread) {
    Json record = {{"measured", what}, {"unit", unit}};
    record.update(of);
    record.update(to_json(spread));
    records.push_back(std::move(record));
  };
  for (const MemoryPoint& point : calibration.memory) {
    add("copy", {{"workers", point.workers}}, "GB/s", point.copy_gb_per_s);
    add("reduce", {{"workers", point.workers}}, "GB/s", point.reduce_gb_per_s);
  }
  for (const LineLatency& line : calibration.latencies) {
    add("line", {{"distance", hycoll::name_of(line.proximity)}}, "ns", line.ns);
  }
  if (!calibration.latencies.empty()) add("gap", Json::object(), "ns", calibration.gap_ns);
  for (const MessageCosts& costs : calibration.messages) {
    const std::optional<ThroughputZones> zones = find_zones(costs);
    const Json reach = {{"reach", name_of(costs.reach)}};
    add("latency", reach, "us", costs.latency_us);
    add("message", reach, "us", costs.message_us);
    for (const StreamPoint& point : costs.points) {
      Json of = reach;
      of.update(
          {{"bytes", point.size_bytes},
           {"pairs", point.pairs},
           {"relative", costs.relative(point)},
           {"zone", zones ? Json(std::string(1, zones->zone_of(point.size_bytes))) : Json()}});
      add("throughput", std::move(of), "messages/s", point.messages_per_s);
    }
  }
  return records;
}

ChartSeries series_of(const MessageCosts& costs, int pairs, int color) {
  ChartSeries series{.name = fmt::format("{} pairs {}", pairs, name_of(costs.reach)),
                     .color = color,
                     .points = {}};
  for (const StreamPoint& point : costs.points) {
    if (point.pairs != pairs || !point.messages_per_s.is_told()) continue;
    const double relative = costs.relative(point);
    const double scale = relative / point.messages_per_s.median;
    series.points.push_back(
        {.x = static_cast<double>(point.size_bytes),
         .y = relative,
         .low = point.messages_per_s.low * scale,
         .high = point.messages_per_s.high * scale,
         .tooltip = fmt::format("{}: {} bytes, {}", series.name, short_size(point.size_bytes),
                                ratio_text(relative))});
  }
  return series;
}

}  // namespace

std::string calibration_text(const Calibration& calibration) {
  std::string text = fmt::format("{}\n{}{}", prices_text(calibration), memory_text(calibration),
                                 lines_text(calibration));
  for (const MessageCosts& costs : calibration.messages) text += messages_text(costs);
  return text;
}

Report calibration_report(const Calibration& calibration, const Json& about) {
  Report report{.context = {{"command", "calibrate"}}, .records = records_of(calibration)};
  report.context.update(about);
  const CalibratedPrices calibrated = prices_of(calibration);
  report.context["prices"] = to_text(calibrated.prices);
  for (const CalibratedPrice& price : calibrated.all) {
    report.context["origins"][price.key] = price.origin;
  }
  return report;
}

std::string machine_file_text(const Calibration& calibration, const Json& about) {
  const CalibratedPrices calibrated = prices_of(calibration);
  const std::vector<PriceText> texts = price_texts(calibrated.prices);
  Json prices = Json::object();
  Json origins = Json::object();
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (calibrated.all[i].is_measured) prices[texts[i].key] = texts[i].value;
    origins[texts[i].key] = calibrated.all[i].origin;
  }
  Json zones = Json::object();
  for (const MessageCosts& costs : calibration.messages) {
    zones[std::string(name_of(costs.reach))] = zones_text(costs);
  }
  const Json file = {
      {kMachineKey, kMachineFileVersion},
      {kAboutKey, about},
      {kPricesKey, prices},
      {kMeasuredKey,
       {{"origins", origins}, {kZonesKey, zones}, {"records", records_of(calibration)}}}};
  return file.dump(2) + '\n';
}

std::string kept_zones(const Json& machine_file) {
  const Json measured = machine_file.value(kMeasuredKey, Json::object());
  const Json zones = measured.value(kZonesKey, Json::object());
  std::string text;
  for (const auto& [reach, said] : zones.items()) {
    if (!said.is_string()) continue;
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", reach, said.get<std::string>());
  }
  return text;
}

std::string throughput_picture(const Calibration& calibration) {
  std::vector<ChartSeries> all;
  std::string title = "Throughput of several pairs, of that of one";
  for (const MessageCosts& costs : calibration.messages) {
    title += fmt::format("; {}: {}", name_of(costs.reach), zones_text(costs));
    int last = 1;
    for (const StreamPoint& point : costs.points) {
      if (point.pairs <= last) continue;
      last = point.pairs;
      ChartSeries series =
          series_of(costs, point.pairs, static_cast<int>(all.size()) % kSeriesColors);
      if (!series.points.empty()) all.push_back(std::move(series));
    }
  }
  return chart_picture(ChartKind::ratios, title, all);
}

}  // namespace hycoll::command
