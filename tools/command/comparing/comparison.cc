#include "tools/command/comparing/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "core/base/errors.h"
#include "tools/command/line/sizes.h"
#include "tools/command/line/table.h"
#include "tools/command/measuring/machine_context.h"
#include "tools/measure/statistics.h"

namespace hycoll::command {
namespace {

constexpr const char* kDescribingKeys[] = {"collective", "algorithm", "layout", "nodes",
                                           "members",    "workers",   "lanes",  "segments",
                                           "type",       "op"};

SizeSample sample_from(const Json& record) {
  SizeSample sample{.size_bytes = record.at("bytes").get<std::size_t>(),
                    .minimum_us = record.at("min_us").get<double>(),
                    .median_us = record.at("median_us").get<double>(),
                    .p95_us = record.at("p95_us").get<double>(),
                    .verified = record.at("verified").get<bool>(),
                    .description = Json::object()};
  for (const char* key : kDescribingKeys) sample.description[key] = record.at(key);
  // What older versions do not write.
  if (record.contains("limit_us") && record.at("limit_us").is_number()) {
    sample.limit_us = record.at("limit_us").get<double>();
  }
  for (const char* key : {"root", "reproducible"}) {
    sample.description[key] = record.value(key, Json());
  }
  return sample;
}

/// What the runs of one cell say.
std::optional<ComparedCell> cell_of(const std::vector<const SizeSample*>& samples) {
  if (samples.empty()) return std::nullopt;
  std::vector<double> medians_us;
  std::vector<double> p95s_us;
  std::vector<double> limits_us;
  std::vector<double> shares;
  ComparedCell cell{.minimum_us = std::numeric_limits<double>::infinity(),
                    .runs = static_cast<int>(samples.size()),
                    .verified = true,
                    .description = samples.front()->description};
  for (const SizeSample* sample : samples) {
    medians_us.push_back(sample->median_us);
    p95s_us.push_back(sample->p95_us);
    cell.minimum_us = std::min(cell.minimum_us, sample->minimum_us);
    cell.verified = cell.verified && sample->verified;
    if (!sample->limit_us || !(sample->median_us > 0)) continue;
    limits_us.push_back(*sample->limit_us);
    shares.push_back(*sample->limit_us / sample->median_us);
  }
  if (!shares.empty()) {
    cell.limit_us = measure::median(limits_us);
    cell.of_limit = measure::median(shares);
  }
  const measure::Summary medians = measure::summarize(medians_us);
  cell.median_us = medians.median;
  cell.lowest_median_us = medians.minimum;
  cell.highest_median_us = medians.maximum;
  cell.p95_us = measure::median(p95s_us);
  return cell;
}

ComparedState compared_state(const measure::StateGroup& group, const Comparison& comparison,
                             const std::vector<ComparedRun>& runs) {
  ComparedState state{.group = group, .cells = {}};
  for (std::size_t contender = 0; contender < comparison.contenders.size(); ++contender) {
    std::vector<std::optional<ComparedCell>>& row = state.cells.emplace_back();
    for (const std::size_t size_bytes : comparison.sizes_bytes) {
      std::vector<const SizeSample*> samples;
      for (const std::size_t run : group.runs) {
        if (runs[run].contender != contender) continue;
        for (const SizeSample& sample : runs[run].samples) {
          if (sample.size_bytes == size_bytes) samples.push_back(&sample);
        }
      }
      row.push_back(cell_of(samples));
    }
  }
  return state;
}

Json optional_json(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

std::string spread_text(const ComparedCell& cell) {
  return fmt::format("{}..{}", time_text(cell.lowest_median_us), time_text(cell.highest_median_us));
}

/// Whether any size of that contender was measured beside the limit.
bool has_limit(const ComparedState& state, std::size_t contender) {
  const auto& cells = state.cells[contender];
  return std::any_of(cells.begin(), cells.end(),
                     [](const auto& cell) { return cell && cell->of_limit; });
}

std::vector<std::string> header_of(const ComparedState& state, const Comparison& comparison) {
  std::vector<std::string> header = {"bytes"};
  for (std::size_t i = 0; i < comparison.contenders.size(); ++i) {
    header.push_back(comparison.contenders[i].name + " us");
    header.push_back("spread");
    if (!comparison.contenders[i].is_reference) header.push_back("ratio");
    if (has_limit(state, i)) header.push_back("of limit");
  }
  return header;
}

std::string state_text(const ComparedState& state, const Comparison& comparison) {
  TextTable table(header_of(state, comparison));
  for (std::size_t size = 0; size < comparison.sizes_bytes.size(); ++size) {
    std::vector<std::string> cells = {short_size(comparison.sizes_bytes[size])};
    for (std::size_t contender = 0; contender < comparison.contenders.size(); ++contender) {
      const std::optional<ComparedCell>& cell = state.cells[contender][size];
      cells.push_back(!cell ? "-" : cell->verified ? time_text(cell->median_us) : "WRONG RESULT");
      cells.push_back(cell ? spread_text(*cell) : "-");
      if (comparison.contenders[contender].is_reference) continue;
      cells.push_back(ratio_text(state.ratio(comparison.contenders, contender, size).value_or(0)));
      if (!has_limit(state, contender)) continue;
      cells.push_back(cell && cell->of_limit ? fmt::format("{:.2f}", *cell->of_limit) : "-");
    }
    table.add_row(std::move(cells));
  }
  std::vector<std::string> means = {"mean"};
  for (std::size_t contender = 0; contender < comparison.contenders.size(); ++contender) {
    means.insert(means.end(), {"", ""});
    if (comparison.contenders[contender].is_reference) continue;
    means.push_back(ratio_text(state.mean_ratio(comparison.contenders, contender).value_or(0)));
    if (has_limit(state, contender)) means.emplace_back();
  }
  table.add_row(std::move(means));
  return table.to_text();
}

}  // namespace

ComparedRun parse_run(const std::string& bench_json, std::size_t contender, int round) {
  try {
    const Json document = Json::parse(bench_json);
    const Json& context = document.at("context");
    ComparedRun run{.contender = contender,
                    .round = round,
                    .mpi = context.at("mpi").get<std::string>(),
                    .state = {.before = state_from_json(context.at("state_before")),
                              .after = state_from_json(context.at("state_after"))},
                    .samples = {}};
    for (const Json& record : document.at("records")) run.samples.push_back(sample_from(record));
    return run;
  } catch (const Json::exception& error) {
    throw Error(ErrorKind::environment,
                fmt::format("a run did not answer with the JSON of hycoll bench: {}. Is the other "
                            "binary of the same version?",
                            error.what()));
  }
}

std::optional<double> ComparedState::reference_us(const std::vector<Contender>& contenders,
                                                  std::size_t size) const {
  std::optional<double> fastest;
  for (std::size_t contender = 0; contender < contenders.size(); ++contender) {
    const std::optional<ComparedCell>& cell = cells[contender][size];
    if (!contenders[contender].is_reference || !cell) continue;
    fastest = std::min(fastest.value_or(cell->median_us), cell->median_us);
  }
  return fastest;
}

std::optional<double> ComparedState::ratio(const std::vector<Contender>& contenders,
                                           std::size_t contender, std::size_t size) const {
  const std::optional<double> reference = reference_us(contenders, size);
  const std::optional<ComparedCell>& cell = cells[contender][size];
  if (!reference || !cell || !(cell->median_us > 0) || !(*reference > 0)) return std::nullopt;
  return *reference / cell->median_us;
}

std::optional<double> ComparedState::mean_ratio(const std::vector<Contender>& contenders,
                                                std::size_t contender) const {
  std::vector<double> ratios;
  for (std::size_t size = 0; size < cells[contender].size(); ++size) {
    if (const auto of_size = ratio(contenders, contender, size)) ratios.push_back(*of_size);
  }
  if (ratios.empty()) return std::nullopt;
  return measure::geometric_mean(ratios);
}

Comparison compare_runs(std::vector<Contender> contenders, const std::vector<ComparedRun>& runs) {
  Comparison comparison{.contenders = std::move(contenders), .sizes_bytes = {}, .states = {}};
  std::set<std::size_t> sizes_bytes;
  std::vector<measure::StateInterval> intervals;
  for (const ComparedRun& run : runs) {
    intervals.push_back(run.state);
    for (const SizeSample& sample : run.samples) {
      sizes_bytes.insert(sample.size_bytes);
      const bool is_reference = comparison.contenders[run.contender].is_reference;
      comparison.verified = comparison.verified && (is_reference || sample.verified);
    }
  }
  comparison.sizes_bytes.assign(sizes_bytes.begin(), sizes_bytes.end());
  const measure::StateGrouping grouping = measure::group_by_state(intervals);
  comparison.changing_runs = grouping.changing_runs.size();
  for (const measure::StateGroup& group : grouping.groups) {
    comparison.states.push_back(compared_state(group, comparison, runs));
  }
  return comparison;
}

std::vector<Json> records_of(const Comparison& comparison) {
  std::vector<Json> records;
  for (const ComparedState& state : comparison.states) {
    for (std::size_t contender = 0; contender < comparison.contenders.size(); ++contender) {
      for (std::size_t size = 0; size < comparison.sizes_bytes.size(); ++size) {
        const std::optional<ComparedCell>& cell = state.cells[contender][size];
        if (!cell) continue;
        Json record = cell->description;
        record["contender"] = comparison.contenders[contender].name;
        record["reference"] = comparison.contenders[contender].is_reference;
        record["state"] = state.group.name;
        record["bytes"] = comparison.sizes_bytes[size];
        record["min_us"] = cell->minimum_us;
        record["median_us"] = cell->median_us;
        record["lowest_median_us"] = cell->lowest_median_us;
        record["highest_median_us"] = cell->highest_median_us;
        record["p95_us"] = cell->p95_us;
        record["runs"] = cell->runs;
        record["native_median_us"] = optional_json(state.reference_us(comparison.contenders, size));
        record["ratio"] = optional_json(state.ratio(comparison.contenders, contender, size));
        record["limit_us"] = optional_json(cell->limit_us);
        record["of_limit"] = optional_json(cell->of_limit);
        record["verified"] = cell->verified;
        records.push_back(std::move(record));
      }
    }
  }
  return records;
}

std::string to_text(const Comparison& comparison) {
  std::string text;
  for (const ComparedState& state : comparison.states) {
    text += state.group.latency_ns > 0
                ? fmt::format("state {}: core-to-core latency {:.0f} ns, {} runs\n",
                              state.group.name, state.group.latency_ns, state.group.runs.size())
                : fmt::format("{}, {} runs\n", state.group.name, state.group.runs.size());
    text += state_text(state, comparison) + "\n";
  }
  if (comparison.changing_runs > 0) {
    text += fmt::format("left out: {} run{} during which the machine changed its state\n",
                        comparison.changing_runs, comparison.changing_runs == 1 ? "" : "s");
  }
  text += fmt::format(
      "Medians of the runs' medians and their spread. ratio: time of the {} divided by the time; "
      "above 1 hycoll is faster. of limit: time of a plain kernel with the same reads and writes "
      "(hycoll bench limit) in the same run, divided by the time. Runs of the same state only are "
      "compared: where one latency is "
      "more than {}x the next lower one, another state begins; below {:.0f} ns it is called "
      "near.\n",
      std::count_if(comparison.contenders.begin(), comparison.contenders.end(),
                    [](const Contender& c) { return c.is_reference; }) > 1
          ? "fastest MPI library"
          : "MPI library",
      measure::kStateChangeFactor, measure::kNearLatencyNs);
  return text;
}

}  // namespace hycoll::command
