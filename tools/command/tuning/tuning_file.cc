#include "tools/command/tuning/tuning_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "collectives/selection/tuning_table.h"
#include "core/base/text_file.h"

namespace hycoll::command {
namespace {

/// Files that are compared have no digits that mean nothing.
double rounded(double time_us) {
  if (time_us <= 0) return 0;
  const double unit = std::pow(10, std::floor(std::log10(time_us)) - 3);
  return std::round(time_us / unit) * unit;
}

/// By which cells are ordered, and known.
auto call_of_cell(const Json& cell) {
  return std::tuple(cell.at("collective").get<std::string>(), cell.at("memory").get<std::string>(),
                    cell.at("nodes").get<int>(), cell.at("members").get<int>(),
                    cell.at("workers").get<int>(), cell.at("bytes").get<std::size_t>());
}

Json time_json(const TunedTime& time) {
  return {{"algorithm", time.algorithm}, {"lanes", time.lanes}, {"us", rounded(time.median_us)}};
}

}  // namespace

Json cell_of(const TuningResult& result) {
  Json cell = {{"collective", name_of(result.shape.collective)},
               {"memory", tuning_name_of(result.shape.visibility)},
               {"nodes", result.shape.nodes},
               {"members", result.shape.members},
               {"workers", result.shape.workers},
               {"bytes", result.size_bytes},
               {"algorithm", result.best.algorithm},
               {"lanes", result.best.lanes},
               {"us", rounded(result.best.median_us)},
               {"p95_us", rounded(result.best.p95_us)},
               {"auto", time_json(result.by_rule)}};
  if (result.runner_up) cell["runner_up"] = time_json(*result.runner_up);
  if (result.native_us) cell["mpi_us"] = rounded(*result.native_us);
  return cell;
}

bool is_of_shape(const Json& cell, const TunedShape& shape) {
  return cell.at("collective") == name_of(shape.collective) &&
         cell.at("memory") == tuning_name_of(shape.visibility) && cell.at("nodes") == shape.nodes &&
         cell.at("members") == shape.members && cell.at("workers") == shape.workers;
}

std::vector<Json> read_cells(const std::string& argument, const std::string& path) {
  const std::string text = read_text_file(argument, path, "a tuning file of hycoll tune's");
  TuningTable::read(text, path);
  const Json document = parse_json(text);
  return {document.at("cells").begin(), document.at("cells").end()};
}

void put_cells(std::vector<Json>& cells, const std::vector<Json>& later) {
  for (const Json& cell : later) {
    std::erase_if(cells,
                  [&](const Json& other) { return call_of_cell(cell) == call_of_cell(other); });
    cells.push_back(cell);
  }
}

std::string tuning_file_text(const Json& about, std::vector<Json> cells) {
  std::ranges::sort(cells, {}, call_of_cell);
  std::string text = fmt::format("{{\"{}\": {},\n\"about\": {},\n\"cells\": [\n", kTuningKey,
                                 kTuningFileVersion, json_text(about));
  for (std::size_t c = 0; c < cells.size(); ++c) {
    text += fmt::format("{}{}\n", json_text(cells[c]), c + 1 < cells.size() ? "," : "");
  }
  return text + "]}\n";
}

}  // namespace hycoll::command
