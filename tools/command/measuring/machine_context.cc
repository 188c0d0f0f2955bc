#include "tools/command/measuring/machine_context.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/version.h"
#include "numa/topology/affinity_mask.h"
#include "tools/command/measuring/mpi_session.h"

namespace hycoll::command {
namespace {

/// The variables that change what is measured begin with one of these.
constexpr std::string_view kTellingPrefixes[] = {"HYCOLL_", "MPICH_", "MPIR_", "OMPI_MCA_", "UCX_"};

std::vector<std::string> telling_environment() {
  std::vector<std::string> telling;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const bool tells =
        std::any_of(std::begin(kTellingPrefixes), std::end(kTellingPrefixes),
                    [&](std::string_view prefix) { return text.starts_with(prefix); });
    if (tells) telling.emplace_back(text);
  }
  std::sort(telling.begin(), telling.end());
  return telling;
}

std::string scheduling_class() {
  sched_param parameter = {};
  sched_getparam(0, &parameter);
  switch (sched_getscheduler(0)) {
    case SCHED_OTHER:
      return "SCHED_OTHER";
    case SCHED_FIFO:
      return fmt::format("SCHED_FIFO {}", parameter.sched_priority);
    case SCHED_RR:
      return fmt::format("SCHED_RR {}", parameter.sched_priority);
    default:
      return "neither SCHED_OTHER, SCHED_FIFO nor SCHED_RR";
  }
}

}  // namespace

std::string host_name() {
  std::array<char, kHostNameBytes> name = {};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown host";
}

std::string today() { return fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr))); }

std::string processor_name(const Topology& machine) {
  const std::string& model = machine.packages().front().model;
  return model.empty() ? "unknown processor" : model;
}

Json about_measurement(const Topology& machine) {
  return {{"host", host_name()},
          {"processor", processor_name(machine)},
          {"machine", machine.summary()},
          {"date", today()},
          {"hycoll", fmt::format("{}.{}.{}", HYCOLL_VERSION_MAJOR, HYCOLL_VERSION_MINOR,
                                 HYCOLL_VERSION_PATCH)},
          {"mpi", mpi_library_name()}};
}

Topology unbound_machine() {
  AffinityMask all;
  for (long unit = 0; unit < sysconf(_SC_NPROCESSORS_CONF); ++unit) {
    all.add(static_cast<int>(unit));
  }
  return Topology::this_machine(all);
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
      measure::state_changed(interval.latency())
          ? fmt::format("\nTHE MACHINE CHANGED ITS STATE in between: its latency by more than {}x",
                        measure::kStateChangeFactor)
          : std::string());
}

std::string conditions_text() {
  std::string text = fmt::format("scheduling class {}", scheduling_class());
  for (const std::string& variable : telling_environment()) text += "; " + variable;
  return text + "\n";
}

void add_machine(Json& context, const Topology& machine, const measure::StateInterval& interval) {
  context["host"] = host_name();
  context["date"] = today();
  context["processor"] = processor_name(machine);
  context["machine"] = machine.summary();
  context["state_before"] = to_json(interval.before);
  context["state_after"] = to_json(interval.after);
  context["scheduling"] = scheduling_class();
  context["environment"] = telling_environment();
  context["state_changed"] = measure::state_changed(interval.latency());
}

}  // namespace hycoll::command
