#ifndef HYCOLL_TOOLS_COMMAND_MEASURING_MACHINE_CONTEXT_H_
#define HYCOLL_TOOLS_COMMAND_MEASURING_MACHINE_CONTEXT_H_

#include <cstddef>
#include <string>

#include "numa/topology/topology.h"
#include "tools/command/line/output.h"
#include "tools/measure/machine_state.h"

namespace hycoll::command {

/// The most that a host's name takes, with the zero at its end.
inline constexpr std::size_t kHostNameBytes = 256;

/// The name of this process's host, or "unknown host".
std::string host_name();

/// "2026-01-31": the day in UTC.
std::string today();

/// The processor's model, or "unknown processor".
std::string processor_name(const Topology& machine);

/// Where and when something was measured, and with what: "host", "processor", "machine", "date",
/// "hycoll", "mpi".
Json about_measurement(const Topology& machine);

/// All cores that the process may have, wherever its launcher has bound it. Throws Error as
/// Topology::this_machine does.
Topology unbound_machine();

/// {"latency_ns": ..., "copy_gb_per_s": ...}; null where there is no latency.
Json to_json(const measure::MachineState& state);

/// The inverse. Throws nlohmann's exceptions for other documents.
measure::MachineState state_from_json(const Json& json);

/// "core-to-core latency 28 ns, copy 11.2 GB/s".
std::string to_text(const measure::MachineState& state);

/// One line about both, and one that says so when the state has changed.
std::string to_text(const measure::StateInterval& interval);

/// "scheduling class SCHED_FIFO 50; HYCOLL_STAGING_KIB=512\n": the class under which this process
/// and those that it starts run, and what the environment tells hycoll and the MPI libraries.
std::string conditions_text();

/// The keys "processor", "machine", "state_before", "state_after", "state_changed", "scheduling"
/// and "environment" of a report's context.
void add_machine(Json& context, const Topology& machine, const measure::StateInterval& interval);

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_MEASURING_MACHINE_CONTEXT_H_
