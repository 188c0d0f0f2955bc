#ifndef HYCOLL_TOOLS_COMMAND_MEASURING_BENCH_RECORDS_H_
#define HYCOLL_TOOLS_COMMAND_MEASURING_BENCH_RECORDS_H_

#include "tools/command/line/output.h"
#include "tools/command/measuring/bench_layouts.h"

namespace hycoll::command {

/// Functions of this file are pure.

/// What a report says of the type and the operator: nothing for a barrier.
Json type_json(const Problem& problem);
Json operator_json(const Problem& problem);

/// The record of a row of blocking calls. Results that were wrong enter no ratio. The state is that
/// of `states` on which the looks at the machine before and after agree; null without.
Json record_of(const BenchSettings& settings, const BenchRow& row,
               const measure::MachineStates& states);

/// The states that the rows' looks at the machine have found.
measure::MachineStates states_of(const std::vector<BenchRow>& rows);

/// The median over the calls of the fastest of that role; empty without one, or if its results were
/// wrong.
std::optional<double> right_median_us(const BenchRow& row, Role role);

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_MEASURING_BENCH_RECORDS_H_
