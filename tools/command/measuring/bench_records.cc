#include "tools/command/measuring/bench_records.h"

#include <optional>

namespace hycoll::command {
namespace {

Json json_of(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

/// The mean of the looks before and after; null without.
Json latency_json(const measure::LatencyInterval& latency) {
  if (!latency.before_ns || !latency.after_ns) return {};
  return (*latency.before_ns + *latency.after_ns) / 2;
}

Json state_json(const BenchSettings& settings, const BenchRow& row,
                const measure::MachineStates& states) {
  if (settings.probing == Probing::no) return {};
  const std::optional<std::size_t> state = states.state_of(row.latency);
  return state ? Json(states.all()[*state].name) : Json();
}

/// The times that calls are compared with.
void add_others(Json& record, const BenchSettings& settings, const BenchRow& row) {
  const std::optional<double> call_us = right_median_us(row, Role::call);
  const std::optional<double> native_us =
      right_median_us(row, settings.layout == Layout::native ? Role::call : Role::native);
  const std::optional<double> limit_us = right_median_us(row, Role::limit);
  const RoleTiming* const native = row.fastest(Role::native);
  const RoleTiming* const limit = row.fastest(Role::limit);
  record["native_median_us"] = json_of(native_us);
  record["ratio"] = call_us && native_us ? Json(*native_us / *call_us) : Json();
  record["native_verified"] = native ? Json(native->timing.verified) : Json();
  record["limit_us"] = json_of(limit_us);
  record["limit_kernel"] = limit ? Json(limit->name) : Json();
  record["of_limit"] = call_us && limit_us ? Json(*limit_us / *call_us) : Json();
}

}  // namespace

Json type_json(const Problem& problem) {
  return problem.routine == Routine::barrier ? Json() : Json(name_of(problem.type));
}

Json operator_json(const Problem& problem) {
  return combines(problem.routine) ? Json(name_of(problem.op)) : Json();
}

std::optional<double> right_median_us(const BenchRow& row, Role role) {
  const RoleTiming* const fastest = row.fastest(role);
  if (fastest == nullptr || !row.verified(role)) return std::nullopt;
  return fastest->timing.call_us.median;
}

measure::MachineStates states_of(const std::vector<BenchRow>& rows) {
  std::vector<double> latencies_ns;
  for (const BenchRow& row : rows) {
    for (const std::optional<double>& latency_ns : {row.latency.before_ns, row.latency.after_ns}) {
      if (latency_ns) latencies_ns.push_back(*latency_ns);
    }
  }
  return measure::MachineStates(latencies_ns);
}

Json record_of(const BenchSettings& settings, const BenchRow& row,
               const measure::MachineStates& states) {
  const Timing& timing = row.fastest(Role::call)->timing;
  const MeasurementOptions& measurement = row.task.measurement;
  const Problem& problem = measurement.problem;
  Json record = {{"collective", name_of(problem.routine)},
                 {"algorithm", row.algorithm},
                 {"layout", name_of(settings.layout)},
                 {"nodes", row.nodes},
                 {"members", row.members},
                 {"aggregators", settings.aggregators},
                 {"workers", row.workers},
                 {"lanes", row.lanes},
                 {"segments", row.segments},
                 {"type", type_json(problem)},
                 {"op", operator_json(problem)},
                 {"root", has_root(collective_of(problem.routine)) ? Json(problem.root) : Json()},
                 {"reproducible", settings.bits == Bits::reproducible},
                 {"inputs", name_of(measurement.inputs)},
                 {"pace", name_of(measurement.pace)},
                 {"bytes", row.task.size_bytes},
                 {"min_us", timing.call_us.minimum},
                 {"median_us", timing.call_us.median},
                 {"p95_us", timing.call_us.p95},
                 {"max_us", timing.call_us.maximum},
                 {"rounds", timing.rounds},
                 {"calls_per_round", timing.calls_per_round},
                 {"verified", timing.verified},
                 {"state", state_json(settings, row, states)},
                 {"latency_ns", latency_json(row.latency)},
                 {"repeats", row.repeats}};
  add_others(record, settings, row);
  return record;
}

}  // namespace hycoll::command
