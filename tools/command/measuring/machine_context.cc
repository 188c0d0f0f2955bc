#include "tools/command/measuring/machine_context.h"

#include <fmt/format.h>

namespace hycoll::command {

std::string processor_name(const Topology& machine) {
  const std::string& model = machine.packages().front().model;
  return model.empty() ? "unknown processor" : model;
}

Json to_json(const measure::MachineState& state) {
  return {{"latency_ns", state.latency_ns ? Json(*state.latency_ns) : Json()},
          {"copy_gb_per_s", state.copy_gb_per_s}};
}

measure::MachineState state_from_json(const Json& json) {
  measure::MachineState state;
  if (!json.at("latency_ns").is_null()) state.latency_ns = json.at("latency_ns").get<double>();
  state.copy_gb_per_s = json.at("copy_gb_per_s").get<double>();
  return state;
}

std::string to_text(const measure::MachineState& state) {
  const std::string latency = state.latency_ns ? fmt::format("{:.0f} ns", *state.latency_ns)
                                               : std::string("not measurable on a single core");
  return fmt::format("core-to-core latency {}, copy {:.1f} GB/s", latency, state.copy_gb_per_s);
}

std::string to_text(const measure::StateInterval& interval) {
  return fmt::format(
      "before: {}; after: {}{}", to_text(interval.before), to_text(interval.after),
      measure::state_changed(interval.before, interval.after)
          ? fmt::format("\nTHE MACHINE CHANGED ITS STATE in between: its latency by more than {}x",
                        measure::kStateChangeFactor)
          : std::string());
}

void add_machine(Json& context, const Topology& machine, const measure::StateInterval& interval) {
  context["processor"] = processor_name(machine);
  context["machine"] = machine.summary();
  context["state_before"] = to_json(interval.before);
  context["state_after"] = to_json(interval.after);
  context["state_changed"] = measure::state_changed(interval.before, interval.after);
}

}  // namespace hycoll::command
