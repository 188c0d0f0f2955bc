#include "tools/command/comparing/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "core/base/errors.h"
#include "tools/measure/statistics.h"

namespace hycoll::command {
namespace {

constexpr const char* kDescribingKeys[] = {
    "collective", "algorithm", "layout", "nodes", "members",      "workers", "lanes",
    "segments",   "type",      "op",     "root",  "reproducible", "pace"};

/// What the blocks of one cell say.
std::optional<ComparedCell> cell_of(const std::vector<const SizeSample*>& samples) {
  if (samples.empty()) return std::nullopt;
  std::vector<double> medians_us;
  std::vector<double> p95s_us;
  std::vector<double> limits_us;
  std::vector<double> shares;
  ComparedCell cell{.minimum_us = std::numeric_limits<double>::infinity(),
                    .blocks = static_cast<int>(samples.size()),
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

Json optional_json(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

std::size_t changes_of(const measure::MachineStates& states,
                       const std::vector<double>& latencies_ns) {
  std::size_t changes = 0;
  std::optional<std::size_t> last;
  for (const double latency_ns : latencies_ns) {
    const std::optional<std::size_t> state = states.state_of(latency_ns);
    if (!state) continue;
    if (last && last != state) ++changes;
    last = state;
  }
  return changes;
}

}  // namespace

SizeSample sample_from(const Json& record) {
  try {
    SizeSample sample{.minimum_us = record.at("min_us").get<double>(),
                      .median_us = record.at("median_us").get<double>(),
                      .p95_us = record.at("p95_us").get<double>(),
                      .verified = record.at("verified").get<bool>(),
                      .description = Json::object()};
    for (const char* key : kDescribingKeys) sample.description[key] = record.value(key, Json());
    const Json limit_us = record.value("limit_us", Json());
    if (limit_us.is_number()) sample.limit_us = limit_us.get<double>();
    return sample;
  } catch (const Json::exception& error) {
    throw Error(
        ErrorKind::environment,
        fmt::format("a contender did not answer with a record as hycoll bench --json writes "
                    "it: {}. Is the other binary of the same version?",
                    error.what()));
  }
}

const ComparedCell* ComparedState::right(std::size_t contender, std::size_t task) const {
  const std::optional<ComparedCell>& cell = cells[contender][task];
  return cell && cell->verified && cell->median_us > 0 ? &*cell : nullptr;
}

std::optional<std::size_t> ComparedState::reference(const std::vector<Contender>& contenders,
                                                    std::size_t task) const {
  std::optional<std::size_t> fastest;
  for (std::size_t contender = 0; contender < contenders.size(); ++contender) {
    const ComparedCell* const cell = right(contender, task);
    if (!contenders[contender].is_reference || cell == nullptr) continue;
    if (!fastest || cell->median_us < right(*fastest, task)->median_us) fastest = contender;
  }
  return fastest;
}

std::optional<double> ComparedState::ratio(const std::vector<Contender>& contenders,
                                           std::size_t contender, std::size_t task) const {
  const std::optional<std::size_t> fastest = reference(contenders, task);
  const ComparedCell* const cell = right(contender, task);
  if (!fastest || cell == nullptr) return std::nullopt;
  return right(*fastest, task)->median_us / cell->median_us;
}

std::optional<double> ComparedState::mean_ratio(const std::vector<Contender>& contenders,
                                                std::size_t contender,
                                                const std::vector<std::size_t>& tasks) const {
  std::vector<double> ratios;
  for (const std::size_t task : tasks) {
    if (const auto of_task = ratio(contenders, contender, task)) ratios.push_back(*of_task);
  }
  if (ratios.empty()) return std::nullopt;
  return measure::geometric_mean(ratios);
}

Comparison compare_blocks(std::vector<Contender> contenders, std::vector<ComparedTask> tasks,
                          const std::vector<ComparedBlock>& blocks,
                          const std::vector<double>& latencies_ns) {
  Comparison comparison{
      .contenders = std::move(contenders), .tasks = std::move(tasks), .states = {}};
  const measure::MachineStates states(latencies_ns);
  comparison.state_changes = changes_of(states, latencies_ns);
  using Samples = std::vector<const SizeSample*>;
  const std::vector<std::vector<Samples>> none(comparison.contenders.size(),
                                               std::vector<Samples>(comparison.tasks.size()));
  std::vector<std::vector<std::vector<Samples>>> samples(states.all().size(), none);
  for (const measure::NamedState& state : states.all()) {
    comparison.states.push_back({.state = state, .blocks = 0, .cells = {}});
  }
  for (const ComparedBlock& block : blocks) {
    const bool is_reference = comparison.contenders[block.contender].is_reference;
    comparison.verified = comparison.verified && (is_reference || block.sample.verified);
    const std::optional<std::size_t> state = states.state_of(block.latency);
    if (!state) {
      ++comparison.blocks_in_between;
      continue;
    }
    ++comparison.states[*state].blocks;
    samples[*state][block.contender][block.task].push_back(&block.sample);
  }
  for (std::size_t state = 0; state < samples.size(); ++state) {
    for (const std::vector<Samples>& of_contender : samples[state]) {
      std::vector<std::optional<ComparedCell>>& row = comparison.states[state].cells.emplace_back();
      for (const Samples& of_cell : of_contender) row.push_back(cell_of(of_cell));
    }
  }
  // States that only blocks in between have seen.
  std::erase_if(comparison.states, [](const ComparedState& state) { return state.blocks == 0; });
  return comparison;
}

std::vector<ComparedTable> tables_of(const Comparison& comparison) {
  std::vector<ComparedTable> tables;
  for (std::size_t task = 0; task < comparison.tasks.size(); ++task) {
    const ComparedTask& one = comparison.tasks[task];
    auto table = std::find_if(tables.begin(), tables.end(), [&](const ComparedTable& t) {
      return t.collective == one.collective && t.inputs == one.inputs;
    });
    if (table == tables.end()) {
      table = tables.insert(tables.end(),
                            {.collective = one.collective, .inputs = one.inputs, .tasks = {}});
    }
    table->tasks.push_back(task);
  }
  return tables;
}

std::vector<SlowerCell> slower_cells(const Comparison& comparison) {
  std::vector<SlowerCell> slower;
  for (std::size_t i = 0; i < comparison.states.size(); ++i) {
    const ComparedState& state = comparison.states[i];
    for (std::size_t task = 0; task < comparison.tasks.size(); ++task) {
      for (std::size_t one = 0; one < comparison.contenders.size(); ++one) {
        const std::optional<double> ratio = state.ratio(comparison.contenders, one, task);
        if (comparison.contenders[one].is_reference || !ratio || *ratio >= 1) continue;
        const std::size_t reference = *state.reference(comparison.contenders, task);
        const ComparedCell& slow = *state.right(one, task);
        const ComparedCell& fast = *state.right(reference, task);
        slower.push_back({.state = i,
                          .task = task,
                          .contender = one,
                          .reference = reference,
                          .ratio = *ratio,
                          .beyond_spread = slow.blocks > 1 && fast.blocks > 1 &&
                                           slow.lowest_median_us > fast.highest_median_us});
      }
    }
  }
  return slower;
}

std::vector<Json> records_of(const Comparison& comparison) {
  std::vector<Json> records;
  for (const ComparedState& state : comparison.states) {
    for (std::size_t contender = 0; contender < comparison.contenders.size(); ++contender) {
      for (std::size_t task = 0; task < comparison.tasks.size(); ++task) {
        const std::optional<ComparedCell>& cell = state.cells[contender][task];
        if (!cell) continue;
        const std::optional<std::size_t> reference = state.reference(comparison.contenders, task);
        Json record = cell->description;
        record["collective"] = comparison.tasks[task].collective;
        record["inputs"] = comparison.tasks[task].inputs;
        record["contender"] = comparison.contenders[contender].name;
        record["reference"] = comparison.contenders[contender].is_reference;
        record["state"] = state.state.name;
        record["latency_ns"] = state.state.latency_ns > 0 ? Json(state.state.latency_ns) : Json();
        record["bytes"] = comparison.tasks[task].size_bytes;
        record["min_us"] = cell->minimum_us;
        record["median_us"] = cell->median_us;
        record["lowest_median_us"] = cell->lowest_median_us;
        record["highest_median_us"] = cell->highest_median_us;
        record["p95_us"] = cell->p95_us;
        record["runs"] = cell->blocks;
        record["native_median_us"] =
            reference ? Json(state.right(*reference, task)->median_us) : Json();
        record["native_runs"] = reference ? Json(state.right(*reference, task)->blocks) : Json();
        record["ratio"] = optional_json(state.ratio(comparison.contenders, contender, task));
        record["limit_us"] = optional_json(cell->limit_us);
        record["of_limit"] = optional_json(cell->of_limit);
        record["verified"] = cell->verified;
        records.push_back(std::move(record));
      }
    }
  }
  return records;
}

}  // namespace hycoll::command
