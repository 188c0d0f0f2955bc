#include "tools/command/pricing/price_reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <string_view>
#include <vector>

#include "core/base/errors.h"
#include "core/base/price_text.h"
#include "tools/command/line/progress.h"
#include "tools/command/line/sizes.h"
#include "tools/command/line/table.h"

namespace hycoll::command {
namespace {

/// What is listed, and what is aimed at.
constexpr double kListedRatio = 1.3;
constexpr double kMostRatio = 1.5;
constexpr double kGoodRatio = 1.2;
/// For people; data have all.
constexpr std::size_t kMostListed = 20;

std::string text_of(const PricedPlan& plan) {
  return fmt::format("{}:{}{}", plan.algorithm->name, plan.lanes,
                     plan.segments == 1 ? "" : fmt::format(", {} segments", plan.segments));
}

Json record_of(const PricedPlan& plan) {
  return {{"algorithm", plan.algorithm->name},
          {"lanes", plan.lanes},
          {"segments", plan.segments},
          {"time_us", std::isfinite(plan.time_us) ? Json(plan.time_us) : Json()}};
}

std::string place_of(const PricedCell& cell) {
  return fmt::format("{} {} x {}{} {}", name_of(cell.collective), cell.nodes, cell.members,
                     cell.has_smaller_node ? ", one of 1" : "", short_size(cell.size_bytes));
}

Json record_of(const PricedCell& cell) {
  return {{"collective", name_of(cell.collective)},
          {"nodes", cell.nodes},
          {"members", cell.members},
          {"smaller_node", cell.has_smaller_node},
          {"bytes", cell.size_bytes},
          {"ratio", cell.ratio()},
          {"time_us", cell.chosen.time_us},
          {"algorithm", cell.chosen.algorithm->name},
          {"lanes", cell.chosen.lanes},
          {"segments", cell.chosen.segments},
          {"best_time_us", cell.best.time_us},
          {"best_algorithm", cell.best.algorithm->name},
          {"best_lanes", cell.best.lanes},
          {"best_segments", cell.best.segments}};
}

/// How far the choices of some cells are from the best.
struct RatioCounts {
  std::size_t cells = 0;
  std::size_t good = 0;    ///< Within kGoodRatio.
  std::size_t listed = 0;  ///< Above kListedRatio.
  std::size_t bad = 0;     ///< Above kMostRatio.
  double worst = 1;

  void add(double ratio) {
    ++cells;
    good += ratio <= kGoodRatio ? 1 : 0;
    listed += ratio > kListedRatio ? 1 : 0;
    bad += ratio > kMostRatio ? 1 : 0;
    worst = std::max(worst, ratio);
  }
  double good_percent() const {
    return cells == 0 ? 100 : 100 * static_cast<double>(good) / static_cast<double>(cells);
  }
};

void print_counts(std::FILE* human, const PriceGrid& grid, const std::vector<PricedCell>& cells) {
  TextTable table({"collective", "cells", "within 1.2", "above 1.3", "above 1.5", "worst"});
  const auto add_row = [&](std::string_view name, const RatioCounts& counts) {
    table.add_row({std::string(name), std::to_string(counts.cells),
                   fmt::format("{:.1f} %", counts.good_percent()), std::to_string(counts.listed),
                   std::to_string(counts.bad), ratio_text(counts.worst)});
  };
  RatioCounts all;
  for (const Collective collective : grid.collectives) {
    RatioCounts counts;
    for (const PricedCell& cell : cells) {
      if (cell.collective == collective) counts.add(cell.ratio());
    }
    add_row(name_of(collective), counts);
  }
  for (const PricedCell& cell : cells) all.add(cell.ratio());
  add_row("all", all);
  fmt::print(human, "{}", table.to_text());
}

void print_worst(std::FILE* human, const std::vector<PricedCell>& cells) {
  std::vector<const PricedCell*> worst;
  for (const PricedCell& cell : cells) {
    if (cell.ratio() > kListedRatio) worst.push_back(&cell);
  }
  std::ranges::stable_sort(worst, std::greater<>(),
                           [](const PricedCell* cell) { return cell->ratio(); });
  if (worst.empty()) return;
  TextTable table({"above 1.3 times the best", "ratio", "us", "auto", "best us", "best"});
  for (std::size_t i = 0; i < std::min(worst.size(), kMostListed); ++i) {
    const PricedCell& cell = *worst[i];
    table.add_row({place_of(cell), ratio_text(cell.ratio()), time_text(cell.chosen.time_us),
                   text_of(cell.chosen), time_text(cell.best.time_us), text_of(cell.best)});
  }
  fmt::print(human, "\n{}", table.to_text());
}

void print_steps(std::FILE* human, const std::vector<PriceStep>& steps) {
  if (steps.empty()) return;
  TextTable table({"steps of more than 1.3", "to", "factor", "of the best", "from", "to"});
  for (std::size_t i = 0; i < std::min(steps.size(), kMostListed); ++i) {
    const PriceStep& step = steps[i];
    table.add_row({place_of(*step.from),
                   fmt::format("{} x {}", step.to->nodes, short_size(step.to->size_bytes)),
                   ratio_text(step.factor), ratio_text(step.best_factor),
                   text_of(step.from->chosen), text_of(step.to->chosen)});
  }
  fmt::print(human, "\n{}", table.to_text());
}

}  // namespace

ExitStatus report_plan_prices(const PriceQuestion& question, const std::string& chosen,
                              const MachinePrices& prices, const OutputOptions& output) {
  PlanPricer pricer(prices);
  const PricedPlan plan = pricer.price_chosen(question, chosen);
  std::vector<PricedPlan> plans = pricer.price_all(question);
  TextTable table({"algorithm", "lanes", "segments", "us", "of the chosen"});
  Report report{.context = {{"command", "plan --price"}, {"prices", to_text(prices)}},
                .records = {}};
  const auto add = [&](const PricedPlan& priced, bool is_chosen) {
    const bool has_time = std::isfinite(priced.time_us);
    table.add_row({fmt::format("{}{}", priced.algorithm->name, is_chosen ? " (chosen)" : ""),
                   std::to_string(priced.lanes), std::to_string(priced.segments),
                   has_time ? time_text(priced.time_us) : "-",
                   ratio_text(has_time ? priced.time_us / plan.time_us : 0)});
    Json record = {{"collective", name_of(question.collective)},
                   {"bytes", question.size_bytes},
                   {"chosen", is_chosen}};
    record.update(record_of(priced));
    report.records.push_back(record);
  };
  add(plan, true);
  for (const PricedPlan& priced : plans) add(priced, false);
  fmt::print(output.human(), "{}", table.to_text());
  output.write(report);
  return kSuccess;
}

ExitStatus report_price_sweep(const PriceGrid& grid, const MachinePrices& prices,
                              const OutputOptions& output) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<PricedCell> grid_cells;
  {
    ProgressBar progress(cell_count(grid));
    grid_cells = price_grid(grid, prices, [&](std::size_t count) { progress.advance(count); });
  }
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  const std::vector<PriceStep> steps = steps_above(kListedRatio, grid, grid_cells);
  std::vector<PricedCell> cells;
  std::ranges::copy_if(grid_cells, std::back_inserter(cells), &PricedCell::is_priced);
  std::FILE* const human = output.human();
  print_counts(human, grid, cells);
  fmt::print(human, "priced {} calls in {:.1f} s; {} steps of more than {} between neighbours\n",
             cells.size(), time.count(), steps.size(), kListedRatio);
  const std::size_t left_out = grid_cells.size() - cells.size();
  if (left_out > 0) {
    fmt::print(human,
               "left out {} calls that no algorithm serves, whose blocks would be empty, or whose "
               "schedules are too long\n",
               left_out);
  }
  print_worst(human, cells);
  print_steps(human, steps);
  Report report{.context = {{"command", "verify --prices"},
                            {"prices", to_text(prices)},
                            {"seconds", time.count()},
                            {"calls_left_out", left_out},
                            {"steps_above", steps.size()}},
                .records = {}};
  for (const PricedCell& cell : cells) report.records.push_back(record_of(cell));
  output.write(report);
  return kSuccess;
}

}  // namespace hycoll::command
